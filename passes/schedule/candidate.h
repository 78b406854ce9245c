// One way to decide what a movement program leaves open, and which of several is the best.
#pragma once

#include "ir/program.h"
#include "passes/schedule/excess.h"

#include <compare>
#include <cstdint>
#include <span>

namespace mscclc::passes::schedule {

/// What is open in a program of statements.
struct Open {
  ir::Protocol protocol = ir::Protocol::Simple;
  std::uint32_t instances = 1;
  bool pull = false;          ///< reductions read other ranks' operands; else these are put into scratch
  bool throughSwitch = false; ///< what the switch of a node can do goes through it
  std::uint32_t blocks = 1;   ///< thread blocks that share a rank's peers, or those of each stage of a pipeline
  std::uint64_t step = 0;     ///< bytes of a pipeline's unit, or 0
  bool relayBlocks = false;   ///< blocks without data have the channels that others have too many of
  friend auto operator<=>(const Open &, const Open &) = default;
};

/// One way to decide what is open, and what came of it.
struct Candidate {
  Open open = {};
  bool refused = false;           ///< the target does not take it
  double nanoseconds = 0;         ///< of a launch, by the time model
  double linkBytes = 0;           ///< of a launch, on the busiest link
  std::uint64_t syncs = 0;        ///< signals, waits, semaphores' and barriers' blocks
  std::uint64_t threadBlocks = 0; ///< of all ranks
  Excess excess = {};             ///< of a refused one
  bool lacksChannels = false;     ///< it is refused because blocks have too many channels
};

/// Returns the best of those that are not refused; null if all are. Of those within 2 % of the fastest, those count
/// whose bytes on the busiest link are within 2 % of the fewest. Of these the one with the fewest syncs is the best,
/// then the one with the fewest blocks.
const Candidate *bestOf(std::span<const Candidate> among);

/// Why a candidate was not taken.
enum class TakenFor : std::uint8_t {
  Time,         ///< it takes more than 2 % longer than the fastest
  LinkBytes,    ///< what was taken moves fewer bytes over the busiest link
  Syncs,        ///< as many bytes, but what was taken has fewer syncs
  ThreadBlocks, ///< as many syncs, but what was taken has fewer thread blocks
  Order         ///< as good, and tried later
};
/// Compares `other`, which is not refused, with `taken`, the best. Both are of `among`.
TakenFor takenFor(std::span<const Candidate> among, const Candidate &taken, const Candidate &other);

/// True if a search goes on from `other` instead of `mine`: it is more than 2 % faster, or not slower and simpler. A
/// refused one is better than another refused one if it is nearer to the limits.
bool isBetter(const Candidate &other, const Candidate &mine);

} // namespace mscclc::passes::schedule
