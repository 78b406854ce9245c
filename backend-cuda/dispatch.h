// How a block of a rank finds its program.
#pragma once

#include "backend-cuda/model.h"
#include "ir/program.h"

namespace mscclc::cuda {

/// Sets model.cases, or model.programOf where conditions do not tell the programs of `model` apart.
void chooseDispatch(const ir::Program &program, KernelModel &model);

} // namespace mscclc::cuda
