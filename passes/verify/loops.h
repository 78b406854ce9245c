// Finds pipelines that wait for each other, and the number of iterations by which one may be ahead of another (see
// Pipelines in verify.h).
#pragma once

#include "ir/program_index.h"

#include <optional>
#include <string>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// A pipeline for which no number of iterations represents all larger numbers.
struct UnpairedLoop {
  ir::OpRef place, header; ///< an operation that signals, waits or meets; the header of its pipeline
  std::string words;       ///< the reason: "semaphore 0 of rank 0 is ..."
};

/// The result of pairing the queues and barriers of pipelines. A displacement is a number of iterations. The largest
/// displacement of each queue is summed over all queues that can be part of one chain of waits.
struct LoopPairs {
  std::uint64_t forward = 0;  ///< sum over queues whose waiting pipeline may be ahead of its partner
  std::uint64_t backward = 0; ///< sum over queues whose waiting pipeline must be behind its partner
  std::optional<UnpairedLoop> unpaired;
  /// Returns the number of iterations after which one more iteration shows nothing new.
  std::uint64_t iterations() const { return 3 + forward + 2 * backward; }
};

LoopPairs pairLoops(const ProgramIndex &index);

} // namespace mscclc::passes::proof
