// Which statements correspond to each other, seen from the ranks of a symmetric program (see rank_distances.h). What is
// found out for those of rank 0 then holds for all.
#pragma once

#include "passes/analyses.h"
#include "passes/schedule/rank_distances.h"
#include "passes/schedule/statement_graph.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// An analysis (passes/analyses.h) of placed and ordered statements: whether all ranks do the same.
///
/// They do if their buffers are as large, and the statements that they execute, in their order, are of the same kind
/// and size, touch the same of ranks that are as far away, and depend on such statements of such ranks, in whatever
/// order; and if packets lie at the same places in scratch. The *position* of a statement is its number among those of
/// its rank. What it depends on of other ranks stands at earlier positions there. Blocks do not count.
///
/// Statements are *planned* if they stand for others: where ranks do the same, those of rank 0, else all.
class StatementOrbits {
public:
  StatementOrbits(const ir::Program &program, Analyses &analyses);

  /// True if rank 0 stands for all ranks.
  bool areRanksAlike() const { return alike_; }
  /// In their order.
  std::span<const std::uint32_t> planned() const { return planned_; }
  /// The planned statement that stands for any, and its number in planned().
  std::uint32_t standsFor(std::uint32_t statement) const { return planned_[positionOf(statement)]; }
  std::uint32_t positionOf(std::uint32_t statement) const { return alike_ ? positions_[statement] : statement; }
  /// The rank that has the place of `rank` where `from` has that of the rank that stands for it.
  std::uint32_t seenRank(std::uint32_t from, std::uint32_t rank) const {
    return alike_ ? distances_.between(from, rank) : rank;
  }

  /// True if statements that stand for each other have the same blocks, or none.
  bool haveAlikeBlocks(const ir::Movement &movement) const;
  /// These, if they have; else, of statements that all stand for themselves.
  StatementOrbits withBlocks(const ir::Movement &movement) const;

  friend bool operator==(const StatementOrbits &, const StatementOrbits &) = default;

private:
  void standApart(std::size_t statements);
  bool findPositions(const ir::Movement &movement);
  bool isSymmetric(const ir::Movement &movement, const StatementGraph &graph, const StatementDistances &distances);
  static bool areBuffersAlike(const ir::Program &program);
  bool isLikeFirst(const ir::Movement &movement, const StatementGraph &graph, const StatementDistances &distances,
                   std::uint32_t statement, std::uint32_t first) const;
  void findNeeds(const ir::Movement &movement, const StatementGraph &graph, std::uint32_t statement,
                 std::vector<std::uint64_t> &needs) const;

  RankDistances distances_;
  std::uint32_t ranks_;
  bool alike_ = false;
  std::vector<std::uint32_t> planned_;
  std::vector<std::uint32_t> positions_; ///< [statement]; empty unless ranks are alike
};

} // namespace mscclc::passes::schedule
