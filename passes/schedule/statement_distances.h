// How far statements reach, in a numbering that is the same seen from every rank of a symmetric program.
#pragma once

#include "passes/analysis/rank_distances.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Distances from the rank that executes a placed statement to those that it deals with: an analysis
/// (passes/analyses.h). Where slots lie in scratch does not matter to it.
class StatementDistances {
public:
  explicit StatementDistances(const ir::Program &program);

  /// Those of the program once its statements are in this order. `order` [statement]: its number here.
  StatementDistances inOrder(std::span<const std::uint32_t> order) const;

  const RankDistances &ranks() const { return ranks_; }
  std::uint32_t between(std::uint32_t from, std::uint32_t to) const { return ranks_.between(from, to); }
  /// To the first rank that the statement reaches; 0 if it is local.
  std::uint32_t ofReach(std::uint32_t statement) const { return reaches_[statement]; }
  /// To the rank whose share of input or output the statement deals with, in chunks of that buffer; where the buffer is
  /// not dealt out evenly to ranks, the chunk's number. 0 where only scratch is dealt with, but packets that are passed
  /// on are of the share that they were made of.
  std::uint32_t ofShare(std::uint32_t statement) const { return shares_[statement]; }

  friend bool operator==(const StatementDistances &, const StatementDistances &) = default;

private:
  RankDistances ranks_;
  std::vector<std::uint32_t> reaches_, shares_; ///< [statement]
};

} // namespace mscclc::passes::schedule
