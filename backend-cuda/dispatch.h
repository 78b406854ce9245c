// Chooses how a block of a rank finds its program.
#pragma once

#include "backend-cuda/model.h"
#include "ir/program.h"

namespace mscclc::cuda {

/// Sets model.cases. If conditions do not distinguish the programs of `model`, sets model.programOf.
void chooseDispatch(const ir::Program &program, KernelModel &model);

} // namespace mscclc::cuda
