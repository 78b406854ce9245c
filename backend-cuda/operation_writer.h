// Writes one operation as statements: which function of the device headers does it, and on what.
#pragma once

#include "backend-cuda/kernel_facts.h"
#include "backend-cuda/operand_writer.h"

#include <vector>

namespace mscclc::cuda {

/// Appends the statements of the operation at `at` to `out`. `acquires`: a relaxed wait makes visible to the block what
/// other ranks wrote before the launch.
void writeOperation(const KernelFacts &facts, OperandWriter &operands, const At &at, bool acquires,
                    std::vector<Statement> &out);

/// Operation and place in the source, for a comment.
std::string describe(const ir::Program &program, const ir::Op &op);

} // namespace mscclc::cuda
