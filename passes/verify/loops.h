// Which pipelines wait for which, and by how many iterations one may be ahead of the other: see verify.h, Pipelines.
#pragma once

#include "ir/program_index.h"

#include <optional>
#include <string>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// A pipeline of which no number of iterations speaks for more.
struct UnpairedLoop {
  ir::OpRef place, header; ///< an operation that signals, waits or meets, and its pipeline
  std::string words;       ///< why: "semaphore 0 of rank 0 is ..."
};

/// The queues and barriers that pipelines use, loop by loop. Displacements are in iterations: the largest of each
/// queue, summed over those that can take part in one story.
struct LoopPairs {
  std::uint64_t forward = 0;  ///< of queues from which a pipeline may take before its partner gives
  std::uint64_t backward = 0; ///< of those where it takes what its partner gives in a later iteration
  std::optional<UnpairedLoop> unpaired;
  /// From this number of iterations on, one more shows nothing new.
  std::uint64_t iterations() const { return 3 + forward + 2 * backward; }
};

LoopPairs pairLoops(const ProgramIndex &index);

} // namespace mscclc::passes::proof
