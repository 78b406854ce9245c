// The operations of a kernel that wait, each with its place in the source and the ranks that it waits for.
//
// A launch that hangs reports the position of an operation in its block. The host reads the rest from the descriptor's
// function waitInfo, whose parts are made here: it costs a kernel nothing.
#pragma once

#include "backend-cuda/numbers.h"

#include "ir/program.h"

namespace mscclc::cuda {

/// The operations at positions first, first + step, …, `times` of them, in the blocks of one WaitList.
struct WaitPlace {
  std::uint32_t first = 0, step = 1, times = 1;
  std::string operation; ///< its name in plans
  std::string place;     ///< "a.cpp:7"; empty if it is not known
  Expr sender;           ///< the rank whose packets operand `i` reads; null if it reads none
};

/// The waits of all blocks whose operations have the same places.
struct WaitList {
  std::vector<RankBlock> instances;
  std::vector<WaitPlace> waits;
};

struct WaitPlaces {
  std::vector<WaitList> lists;
  Expr listOf; ///< index of a block's list, in `r` and `b`
};

/// Returns the waits of all blocks. Formulas are in the variables r, b, j (repetition) and i (operand of packets), as
/// kernel.cu.in names them.
WaitPlaces findWaits(const ir::Program &program, Tables &tables);

} // namespace mscclc::cuda
