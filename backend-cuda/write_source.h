// Prints a kernel model into templates/kernel.cu.in. It makes no decisions.
#pragma once

#include "backend-cuda/emit_kernel.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Appends the text of the kernel `model`, which belongs to `program`, to `out`.
void writeSource(const ir::Program &program, const EmitOptions &options, const KernelModel &model, std::string &out);

} // namespace mscclc::cuda
