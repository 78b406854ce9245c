// Folds the blocks of a program into distinct block programs.
#pragma once

#include "backend-cuda/emit_kernel.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Blocks of equal shape, on any ranks, become one program whose numbers are formulas of rank and block. If that takes
/// tables larger than the code that it saves, they become one program for each block id instead.
/// Requires: a program that passes checkKernel.
KernelModel specialise(const ir::Program &program, const EmitOptions &options);

/// Returns the formulas of the descriptor, which describe each rank.
DescriptorFormulas describeRanks(const ir::Program &program, Tables &tables);

} // namespace mscclc::cuda
