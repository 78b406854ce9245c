// A launch whose ranks all do the same, as one of them.
#pragma once

#include "ir/program.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace mscclc::passes {

/// Memory channels, then port channels, [id on rank 0]: the channel of rank 0 that is in the place of the other end, as
/// there is one on each rank; `none` of program_index.h if nothing is done with that.
using OtherEnds = std::array<std::vector<std::uint32_t>, 2>;

/// The thread blocks of rank 0 of a launch whose ranks all do the same, each seen from itself
/// (analysis/rank_symmetry.h). What is found out about rank 0, such as how long it takes, holds for all ranks. No other
/// rank has thread blocks or channels, so this is no ir::Program, and nothing writes, proves or runs it.
class RepresentativeRank {
public:
  /// `launch`: rank 0 alone has thread blocks and channels. `otherEnds`: of these channels.
  RepresentativeRank(ir::Program launch, OtherEnds otherEnds)
      : launch_(std::move(launch)), otherEnds_(std::move(otherEnds)) {}

  const ir::Rank &rank() const { return launch_.ranks[0]; }
  std::uint32_t numRanks() const { return static_cast<std::uint32_t>(launch_.ranks.size()); }
  /// What the launch is, besides rank(): its collective, its options, the buffers of all ranks. Whoever asks has to
  /// know that the ranks without thread blocks do what rank 0 does.
  const ir::Program &launch() const { return launch_; }
  /// As ir::Program::instances.
  void setInstances(std::uint32_t instances) { launch_.instances = instances; }
  /// The channels of instances, which stand side by side, lead to channels of the same instance.
  OtherEnds otherEnds() const;

private:
  friend class PassManager; // passes change the launch

  ir::Program launch_;
  OtherEnds otherEnds_; ///< of the first instance, where there are several by now
};

} // namespace mscclc::passes
