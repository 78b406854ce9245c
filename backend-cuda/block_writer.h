// Turns a block program, which many blocks share, into statements.
#pragma once

#include "backend-cuda/kernel_facts.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Returns the program that `instances` run. All have one shape. Adds tables to `tables` if needed.
BlockProgram writeBlock(const KernelFacts &facts, const std::vector<RankBlock> &instances, Tables &tables);

} // namespace mscclc::cuda
