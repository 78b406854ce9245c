// Folds a program into the distinct block programs behind it.
#pragma once

#include "backend-cuda/emit_kernel.h"
#include "backend-cuda/model.h"

namespace mscclc::cuda {

/// Blocks of equal shape, on whichever rank, become one program whose numbers are formulas of rank and block. Where
/// that takes tables larger than the code it saves, they become one program for each block id instead.
/// Requires: the program passes checkKernel.
KernelModel specialise(const ir::Program &program, const EmitOptions &options);

/// Formulas of the descriptor: what each rank consists of.
DescriptorFormulas describeRanks(const ir::Program &program, Tables &tables);

} // namespace mscclc::cuda
