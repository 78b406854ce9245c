// Folds the blocks of a program into distinct block programs.
#pragma once

#include "backend-cuda/emit_kernel.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Returns the model of the kernel. Blocks of equal shape, on any ranks, become one program, in which formulas of rank
/// and block give the numbers. If this takes tables larger than the saved code, the blocks become one program for each
/// block id instead. Requires a program that emitKernel's checks accept.
KernelModel specialise(const ir::Program &program, const EmitOptions &options);

/// Returns the formulas of the descriptor, which describe each rank.
DescriptorFormulas describeRanks(const ir::Program &program, Tables &tables);

} // namespace mscclc::cuda
