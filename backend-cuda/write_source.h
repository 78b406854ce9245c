// Serialises a kernel model: fills templates/kernel.cu.in. Decides nothing.
#pragma once

#include "backend-cuda/emit_kernel.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Writes the text of the kernel `model`, which is of `program`, to `out`.
void writeSource(const ir::Program &program, const EmitOptions &options, const KernelModel &model, std::string &out);

} // namespace mscclc::cuda
