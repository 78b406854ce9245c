// Turns a block program, shared by many blocks, into statements.
#pragma once

#include "backend-cuda/kernel_facts.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Statements of the program that `instances` run; they have one shape. Tables it needs are added to `tables`.
std::vector<Statement> writeBlock(const KernelFacts &facts, const std::vector<RankBlock> &instances, Tables &tables);

} // namespace mscclc::cuda
