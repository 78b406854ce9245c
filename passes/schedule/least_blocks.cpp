#include "passes/schedule/least_blocks.h"

#include "ir/program_index.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_symmetry.h"

#include <algorithm>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// False if no rule of fusion_rules.h can merge the operations of two adjacent statements. Local copies, unpacked
/// packets and applications of hooks are never merged. A reduction merges only into the reduction before it, and only
/// if both have the same destination.
bool mayMerge(const ir::Movement &movement, const ir::Move &left, const ir::Move &right) {
  const auto staysApart = [](const ir::Move &statement) {
    return statement.kind != ir::MoveKind::Reduce && !statement.via;
  };
  if (staysApart(left) || staysApart(right))
    return false;
  if (right.kind != ir::MoveKind::Reduce)
    return true;
  return left.kind == ir::MoveKind::Reduce && right.via != ir::Via::Switch && left.via == right.via &&
         left.packets == right.packets && movement.dsts(left)[0] == movement.dsts(right)[0];
}

/// Counts the operations of blocks, in the order of their statements.
class BlockCount {
public:
  BlockCount(const ir::Movement &movement, const StatementGraph &graph, const StatementSymmetry &symmetry)
      : movement_(movement), graph_(graph), symmetry_(symmetry.withBlocks(movement)),
        countsSync_(std::ranges::none_of(movement.statements, isPortPut)) {
    groupOf_.reserve(symmetry_.representatives().size());
  }

  LeastBlocks run() {
    for (const std::uint32_t s : symmetry_.representatives())
      add(s);
    if (countsSync_)
      countSignals();
    for (const Rank &rank : ranks_) {
      std::uint64_t busy = 0;
      for (const Block &block : rank.blocks) {
        busy += block.operations != 0;
        least_.operations = std::max(least_.operations, block.operations);
      }
      least_.blocks = std::max(least_.blocks, busy);
    }
    return least_;
  }

private:
  /// A run of statements of one block without a wait in between, as in sync_plan.h. Its depth is one more than the
  /// depth of the deepest group that it needs from another block. A block only knows of groups that are less deep than
  /// its own group. So if a need makes a group deeper than the previous group of the block, the block has to wait.
  struct Group {
    std::uint32_t rank = 0, block = 0;
    std::uint32_t depth = 0;
    bool signals = false;
  };
  struct Block {
    const ir::Move *last = nullptr; ///< the statement that the next one may merge into
    std::uint64_t operations = 0;
    std::uint32_t group = ir::none; ///< the last group
  };
  struct Rank {
    std::vector<Block> blocks;
  };

  Block &blockOf(const ir::Move &statement) {
    if (ranks_.size() <= *statement.by)
      ranks_.resize(*statement.by + 1);
    std::vector<Block> &blocks = ranks_[*statement.by].blocks;
    if (blocks.size() <= *statement.block)
      blocks.resize(*statement.block + 1);
    return blocks[*statement.block];
  }

  void add(std::uint32_t s) {
    const ir::Move &statement = movement_.statements[s];
    Block &block = blockOf(statement);
    enter(s, block);
    if (!block.last || !mayMerge(movement_, *block.last, statement))
      ++block.operations;
    block.last = &statement;
    groupOf_.push_back(block.group);
  }

  /// Begins a group of `block` if statement `s` has to be in a group that is deeper than the last one.
  void enter(std::uint32_t s, Block &block) {
    const ir::Move &statement = movement_.statements[s];
    const std::uint32_t before = block.group != ir::none ? groups_[block.group].depth : 0;
    std::uint32_t depth = std::max(before, 1u);
    const auto isElsewhere = [&](const Dependence &d) {
      const ir::Move &earlier = movement_.statements[d.on];
      return *earlier.by != *statement.by || *earlier.block != *statement.block;
    };
    for (const Dependence &d : graph_.dependences(s))
      if (isElsewhere(d))
        depth = std::max(depth, groupBefore(d).depth + 1);
    if (depth == before)
      return;
    bool waits = false;
    for (const Dependence &d : graph_.dependences(s))
      if (isElsewhere(d) && d.hazard != Hazard::Packets && groupBefore(d).depth + 1 == depth)
        waits = groupBefore(d).signals = true;
    block.group = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back({*statement.by, *statement.block, depth, false});
    if (waits && countsSync_) {
      block.operations += 2; // the wait, and the sync of all threads after it
      block.last = nullptr;
    }
  }

  /// Returns the group of the earlier statement of a dependence.
  Group &groupBefore(const Dependence &d) { return groups_[groupOf_[symmetry_.positionOf(d.on)]]; }

  void countSignals() {
    for (const Group &group : groups_)
      if (group.signals)
        ranks_[group.rank].blocks[group.block].operations += 2; // the sync of all threads, and the signal
  }

  const ir::Movement &movement_;
  const StatementGraph &graph_;
  const StatementSymmetry symmetry_;
  const bool countsSync_; ///< false: blocks also wait for puts of ports, in groups that are not known here
  std::vector<Rank> ranks_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> groupOf_; ///< [planned statement]
  LeastBlocks least_;
};

} // namespace

LeastBlocks leastBlocks(const ir::Program &program, Analyses &analyses) {
  return BlockCount(program.movement, analyses.of<StatementGraph>(program), analyses.of<StatementSymmetry>(program))
      .run();
}

} // namespace mscclc::passes::schedule
