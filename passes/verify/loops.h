// Finds the pipelines that wait for each other, and by how many iterations one may be ahead of another: see verify.h,
// Pipelines.
#pragma once

#include "ir/program_index.h"

#include <optional>
#include <string>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// A pipeline for which no number of iterations represents larger numbers.
struct UnpairedLoop {
  ir::OpRef place, header; ///< an operation that signals, waits or meets, and its pipeline
  std::string words;       ///< the reason: "semaphore 0 of rank 0 is ..."
};

/// The result of pairing the queues and barriers of pipelines. Displacements are in iterations: the largest
/// displacement of each queue, summed over all queues that can be part of one chain of waits.
struct LoopPairs {
  std::uint64_t forward = 0;  ///< for queues from which a pipeline may take before its partner gives
  std::uint64_t backward = 0; ///< for queues from which it takes what its partner gives in a later iteration
  std::optional<UnpairedLoop> unpaired;
  /// Returns the number of iterations after which one more iteration shows nothing new.
  std::uint64_t iterations() const { return 3 + forward + 2 * backward; }
};

LoopPairs pairLoops(const ProgramIndex &index);

} // namespace mscclc::passes::proof
