// Writes one operation as statements: calls of functions of the device headers with its operands.
#pragma once

#include "backend-cuda/kernel_facts.h"
#include "backend-cuda/operand_writer.h"

#include <vector>

namespace mscclc::cuda {

/// Appends the statements of the operation at `at` to `out`. `releases`: a relaxed signal orders reads of this launch
/// before it. `hook`: the distance in operations to the apply that this operation also does (fusedHooks()); 0: none.
void writeOperation(const KernelFacts &facts, OperandWriter &operands, const At &at, bool releases, std::uint32_t hook,
                    std::vector<Statement> &out);

/// Returns the places of the operation in the source: "a.cpp:7, a.cpp:9". Leaves out elements of a plan.
std::string placesOf(const ir::Program &program, const ir::Op &op);

/// Returns the operation's name and its places in the source, for a comment in the emitted file.
std::string describe(const ir::Program &program, const ir::Op &op);

} // namespace mscclc::cuda
