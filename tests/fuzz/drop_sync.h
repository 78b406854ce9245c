// Programs with one piece of synchronisation less.
#pragma once

#include "ir/program.h"

#include <functional>
#include <string>

namespace fuzz {

struct Dropped {
  enum Kind : std::uint8_t { Nop, Alone, Pair, Barrier, Flush } kind;
  mscclc::ir::OpRef place;
  std::string what; ///< "signal+wait of channel 2 at rank 0, block 1, operation 4"
};

/// Calls `visit` with `program` less each nop, each flush, each barrier (on all its blocks), each signal, wait, acquire
/// and release alone, and each of them with its partner, one at a time, of the ranks below `numRanks`. Copies only what
/// changes.
void dropEach(const mscclc::ir::Program &program, std::uint32_t numRanks,
              const std::function<void(const mscclc::ir::Program &, const Dropped &)> &visit);

} // namespace fuzz
