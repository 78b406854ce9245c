// Serialises a kernel model: fills templates/kernel.cu.in. Decides nothing.
#pragma once

#include "backend-cuda/emit_kernel.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

void writeSource(const ir::Program &program, const EmitOptions &options, const KernelModel &model, std::string &out);

} // namespace mscclc::cuda
