// Removes one piece of synchronisation of a program at a time.
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

/// Calls `visit` with copies of `program`. In each of them, one thing is removed on the ranks below `numRanks`: a nop;
/// a flush; a barrier on all its blocks; a signal, wait, acquire or release alone; or one of these four with its
/// partner. Copies only what changes.
void dropEach(const mscclc::ir::Program &program, std::uint32_t numRanks,
              const std::function<void(const mscclc::ir::Program &, const Dropped &)> &visit);

} // namespace fuzz
