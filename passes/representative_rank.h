// One rank of a launch whose ranks are all equivalent.
#pragma once

#include "ir/program.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace mscclc::passes {

/// The other ends of the channels of rank 0. Indices: [0: memory channels, 1: port channels][id on rank 0]. The value
/// is the channel of rank 0 that represents the other end. It is `none` (program_index.h) if no operation uses that
/// end.
using OtherEnds = std::array<std::vector<std::uint32_t>, 2>;

/// The thread blocks of rank 0, for a launch in which all ranks are equivalent (analysis/rank_symmetry.h). A result for
/// rank 0, such as its time, holds for all ranks. The other ranks have no thread blocks and channels here. So the
/// launch is not a complete ir::Program, and is not written, proven or run.
class RepresentativeRank {
public:
  /// `launch`: only rank 0 has thread blocks and channels. `otherEnds`: the other ends of these channels.
  RepresentativeRank(ir::Program launch, OtherEnds otherEnds)
      : launch_(std::move(launch)), otherEnds_(std::move(otherEnds)) {}

  const ir::Rank &rank() const { return launch_.ranks[0]; }
  std::uint32_t numRanks() const { return static_cast<std::uint32_t>(launch_.ranks.size()); }
  /// Returns the whole launch: its collective, its options, and the buffers of all ranks. Callers must consider that
  /// the ranks without thread blocks do the same as rank 0.
  const ir::Program &launch() const { return launch_; }
  /// Sets ir::Program::instances.
  void setInstances(std::uint32_t instances) { launch_.instances = instances; }
  /// Returns the other ends of the channels of all instances. Channels of the instances are adjacent, and each leads to
  /// a channel of the same instance.
  OtherEnds otherEnds() const;

private:
  friend class PassManager; // passes change the launch

  ir::Program launch_;
  OtherEnds otherEnds_; ///< the other ends of the first instance's channels
};

} // namespace mscclc::passes
