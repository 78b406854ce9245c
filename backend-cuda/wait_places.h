// Finds the operations of a kernel that wait, their places in the source, and the ranks for which they wait.
//
// A launch that hangs reports the position of an operation in its block. The host gets the rest from the descriptor's
// function waitInfo, so that it costs the kernel nothing. The parts of this function are made here.
#pragma once

#include "backend-cuda/numbers.h"

#include "ir/program.h"

namespace mscclc::cuda {

/// A sequence of `times` operations at the positions `first`, `first + step`, …, in the blocks of one WaitList.
struct WaitPlace {
  std::uint32_t first = 0, step = 1, times = 1;
  std::string operation; ///< name of the operation in plans
  std::string place;     ///< place in the source: "a.cpp:7"; empty if it is not known
  Expr sender;           ///< the rank that sends packet operand `i`; null: no packets are read
};

/// Blocks that have the same waits, and these waits.
struct WaitList {
  std::vector<RankBlock> instances;
  std::vector<WaitPlace> waits;
};

struct WaitPlaces {
  std::vector<WaitList> lists;
  Expr listOf; ///< index of a block's list, as a formula of `r` and `b`
};

/// Returns the waits of all blocks. The variables of formulas are those of the emitted function waitInfo: `r`, `b`, `j`
/// (the repetition) and `i` (the packet operand).
WaitPlaces findWaits(const ir::Program &program, Tables &tables);

} // namespace mscclc::cuda
