// The distances that statements reach, in a numbering that looks the same from every rank of a symmetric program.
#pragma once

#include "passes/analysis/rank_distances.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Distances from the rank that executes a placed statement to the ranks that it reaches. It is an analysis
/// (passes/analyses.h). It does not depend on the places of slots in scratch.
class StatementDistances {
public:
  explicit StatementDistances(const ir::Program &program);

  /// Returns the distances of the program after its statements are put into another order. `order`[i]: the present
  /// number of the statement that becomes number i.
  StatementDistances inOrder(std::span<const std::uint32_t> order) const;

  const RankDistances &ranks() const { return ranks_; }
  std::uint32_t between(std::uint32_t from, std::uint32_t to) const { return ranks_.between(from, to); }
  /// Returns the distance to the first rank that the statement reaches; 0 if it is local.
  std::uint32_t ofReach(std::uint32_t statement) const { return reaches_[statement]; }
  /// Returns the distance to the rank whose share of input or output the statement handles, in chunks of that buffer.
  /// If the buffer is not divided evenly, returns the chunk's number. Returns 0 if the statement handles only scratch.
  /// Packets that are passed on count as the share from which they were made.
  std::uint32_t ofShare(std::uint32_t statement) const { return shares_[statement]; }

  friend bool operator==(const StatementDistances &, const StatementDistances &) = default;

private:
  RankDistances ranks_;
  std::vector<std::uint32_t> reaches_, shares_; ///< [statement]
};

} // namespace mscclc::passes::schedule
