#include "passes/schedule/cut.h"

#include "ir/containers.h"
#include "ir/program_index.h"
#include "passes/schedule/block_splitter.h"
#include "passes/schedule/placement.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_symmetry.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

namespace mscclc::passes {
namespace {

using schedule::StatementGraph;
using schedule::Touch;

class Dealer {
public:
  explicit Dealer(PassContext &context)
      : movement_(context.program.movement), graph_(context.analyses.of<StatementGraph>(context.program)),
        distances_(context.analyses.of<schedule::StatementDistances>(context.program)),
        symmetry_(context.analyses.of<schedule::StatementSymmetry>(context.program).withBlocks(movement_)),
        planned_(symmetry_.representatives()), clusters_(movement_.statements.size()),
        ranks_(context.program.ranks.size()), levels_(std::bit_width(ranks_) - 1), limits_(context.target.executor) {}

  void run() {
    findStages();
    joinConflicts();
    joinShares();
    isNamed_.resize(graph_.size(), false);
    for (const std::uint32_t s : planned_)
      isNamed_[s] = movement_.statements[s].block.has_value();
    dealOut();
    if (limits_)
      keepLimits();
    number();
    if (symmetry_.holds())
      for (std::uint32_t s = 0; s < graph_.size(); ++s)
        movement_.statements[s].block = movement_.statements[symmetry_.representativeItem(s)].block;
  }

private:
  std::uint32_t by(std::uint32_t s) const { return *movement_.statements[s].by; }

  void findStages() {
    stages_.assign(graph_.size(), 0);
    if (!movement_.stages)
      return;
    for (const std::uint32_t s : planned_)
      for (const schedule::Dependence &d : graph_.dependences(s))
        if (d.hazard != schedule::Hazard::Reuse)
          stages_[s] = std::max(stages_[s], stages_[symmetry_.representativeItem(d.on)] + (by(d.on) != by(s)));
  }

  /// True if `a` and `b` conflict in the memory of the rank that executes both.
  bool conflictsAtHome(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t home = by(a);
    if (home != by(b) || stages_[a] != stages_[b])
      return false;
    // The search begins at the end, because a statement's write follows its operands, and there may be many operands.
    for (const Touch &x : std::views::reverse(graph_.touches(a)))
      if (x.rank == home)
        for (const Touch &y : std::views::reverse(graph_.touches(b)))
          if ((x.access == ir::Access::Write || y.access == ir::Access::Write) && x.meets(y))
            return true;
    return false;
  }
  void joinConflicts() {
    for (const std::uint32_t s : planned_)
      for (const schedule::Dependence &d : graph_.dependences(s))
        if (by(d.on) == by(s) && clusters_.find(d.on) != clusters_.find(s) && conflictsAtHome(d.on, s))
          clusters_.join(d.on, s);
  }

  /// Puts all statements of a rank for one message share into one block. Does nothing if there are fewer shares than
  /// blocks, or if a rank passes a share to more ranks than in a tree. In a block for such a share, these ranks would
  /// wait for each other.
  void joinShares() {
    std::vector<std::uint32_t> open; // statements without a given block
    for (const std::uint32_t s : planned_)
      if (!movement_.statements[s].block)
        open.push_back(s);
    const std::vector<std::uint32_t> entries = ir::sortedBy(
        std::move(open), [&](std::uint32_t s) { return std::tuple(by(s), stages_[s], distances_.ofShare(s)); });
    const auto isInPlaceOf = [&](std::uint32_t a, std::uint32_t b) {
      return by(a) == by(b) && stages_[a] == stages_[b];
    };
    const auto isOfShareOf = [&](std::uint32_t a, std::uint32_t b) {
      return isInPlaceOf(a, b) && distances_.ofShare(a) == distances_.ofShare(b);
    };
    const auto reaches = [&](std::uint32_t s) { return distances_.ofReach(s) != 0; };
    std::uint32_t shares = 0; // number of shares of this rank and stage so far
    for (auto first = entries.begin(); first != entries.end();) {
      const auto last = std::find_if(first, entries.end(), [&](std::uint32_t s) { return !isOfShareOf(s, *first); });
      ++shares;
      if (std::cmp_greater(std::count_if(first, last, reaches), levels_))
        return;
      if (last == entries.end() || !isInPlaceOf(*last, *first)) {
        if (shares < movement_.blocks)
          return;
        shares = 0;
      }
      first = last;
    }
    for (std::size_t i = 1; i < entries.size(); ++i)
      if (isOfShareOf(entries[i], entries[i - 1]))
        clusters_.join(entries[i - 1], entries[i]);
  }

  /// Distributes the clusters of each rank and stage to blocks in turn, in the order of their distance. In a pipeline,
  /// one more block has all port puts that wait for no data. A rank's proxy serves requests in their order. If these
  /// puts were in several blocks, a block with few puts would run ahead, and network cards of other nodes would be
  /// idle.
  void dealOut() {
    using Key = std::pair<std::uint32_t, std::uint32_t>; // distances to the rank of the share, and to the reached rank
    std::vector<Key> keys(graph_.size(), {~std::uint32_t{0}, 0});
    std::vector<std::uint32_t> blockOf(graph_.size(), ir::none);
    for (const std::uint32_t s : planned_)
      if (const auto given = movement_.statements[s].block)
        blockOf[clusters_.find(s)] = *given;
    std::vector<std::uint32_t> dealt;                         // the clusters that are distributed to blocks
    std::vector<bool> isPut(graph_.size(), movement_.stages); // [cluster]: these puts alone
    for (const std::uint32_t s : planned_) {
      const std::uint32_t cluster = clusters_.find(s);
      keys[cluster] = std::min(keys[cluster], {distances_.ofShare(s), distances_.ofReach(s)});
      if (stages_[s] != 0 || !schedule::isPortPut(movement_.statements[s]))
        isPut[cluster] = false;
      if (cluster == s && blockOf[cluster] == ir::none)
        dealt.push_back(s);
    }
    const auto placeOf = [&](std::uint32_t cluster) {
      return std::tuple(by(cluster), stages_[cluster], bool(isPut[cluster]));
    };
    dealt = ir::sortedBy(std::move(dealt), [&](std::uint32_t c) { return std::pair(placeOf(c), keys[c]); });
    const std::uint32_t blocks = std::max(movement_.blocks, 1u);
    for (std::uint32_t i = 0, inPlace = 0; i < dealt.size(); ++i) {
      inPlace = i != 0 && placeOf(dealt[i]) == placeOf(dealt[i - 1]) ? inPlace + 1 : 0;
      blockOf[dealt[i]] = stages_[dealt[i]] * (blocks + 1) + (isPut[dealt[i]] ? blocks : inPlace % blocks);
    }
    for (const std::uint32_t s : planned_)
      if (ir::Move &statement = movement_.statements[s]; !statement.block)
        statement.block = blockOf[clusters_.find(s)];
  }

  void keepLimits() {
    std::vector<std::uint32_t> clusters(graph_.size(), ir::none);
    for (const std::uint32_t s : planned_)
      if (!isNamed_[s])
        clusters[s] = clusters_.find(s);
    schedule::BlockSplitter(movement_, ranks_, graph_, distances_, symmetry_, *limits_).run(clusters);
  }

  /// Numbers blocks densely: a number that no rank uses is skipped on all ranks.
  void number() {
    const std::vector<std::uint32_t> byBlock = ir::sortedBy(
        std::vector(planned_.begin(), planned_.end()), [&](std::uint32_t s) { return *movement_.statements[s].block; });
    std::uint32_t given = ir::none, number = ir::none; // given and new block of the previous statement
    for (const std::uint32_t s : byBlock) {
      std::optional<std::uint32_t> &block = movement_.statements[s].block;
      if (number == ir::none || *block != given)
        ++number;
      given = *block;
      block = number;
    }
  }

  ir::Movement &movement_;
  const StatementGraph &graph_;
  const schedule::StatementDistances &distances_;
  const schedule::StatementSymmetry symmetry_;   ///< with the given blocks of statements
  const std::span<const std::uint32_t> planned_; ///< representative statements; the others get the same blocks
  std::vector<std::uint32_t> stages_;            ///< [statement]
  ir::DisjointSets<> clusters_;                  ///< statements that must be in the same block
  std::vector<bool> isNamed_;                    ///< [statement]: its block was given
  const std::size_t ranks_;
  const int levels_;             ///< levels of a binary tree of all ranks
  const ExecutorLimits *limits_; ///< null: no limits
};

void cut(PassContext &context) {
  if (!context.program.movement.statements.empty())
    Dealer(context).run();
  context.analyses.preserveAll();
}

} // namespace

Pass createCutPass() {
  return {.needs = Placed, .provides = Cut, .isProvided = schedule::isCut, .run = cut};
}

} // namespace mscclc::passes
