#include "passes/schedule/through_switch.h"

#include "ir/chunk_cells.h"
#include "passes/schedule/placement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;

class SwitchFinder {
public:
  explicit SwitchFinder(const ir::Program &program) : cells_(program), given_(program.movement) {
    for (const Move &statement : given_.statements)
      for (const RankChunk &dst : given_.dsts(statement))
        ++writes_[cells_.firstOf(dst)];
  }

  ir::Movement run() {
    for (std::size_t at = 0; at < given_.statements.size();) {
      const Move &statement = given_.statements[at];
      if (isOpen(statement) && statement.kind == MoveKind::Copy)
        at = takeCopies(at);
      else
        takeAlone(given_.statements[at++]);
    }
    return std::move(found_);
  }

private:
  /// With fewer ranks, the switch saves nothing.
  static constexpr std::size_t fewestRanks = 3;

  static bool isOpen(const Move &s) { return !s.via && !s.by && !s.packets.value_or(false); }
  bool near(const RankChunk &a, const RankChunk &b) const { return given_.sameNode(a.rank, b.rank); }

  /// Appends `statement`. If it is a reduction that a switch can do, it uses the switch.
  void takeAlone(const Move &statement) {
    Move made = statement;
    const auto srcs = given_.srcs(statement), dsts = given_.dsts(statement);
    const bool pays =
        ir::isDoneInSwitch(statement.reduceOp) && ir::mayReduceInSwitch(statement.reduceOp, srcs.size(), given_.order);
    if (isOpen(statement) && statement.kind == MoveKind::Reduce && pays && dsts.size() == 1 &&
        srcs.size() >= fewestRanks && isOnePlaceOfAll(srcs, dsts[0]) &&
        std::ranges::all_of(srcs, [&](const RankChunk &src) { return near(src, dsts[0]); }))
      made.via = ir::Via::Switch;
    found_.append(made, srcs, dsts);
  }

  /// A destination of a statement.
  struct Target {
    const Move *of;
    RankChunk place;
  };

  /// The destinations of copies of one place. All are disjoint, so their order does not matter.
  class Targets {
  public:
    explicit Targets(const ir::ChunkCells &cells) : cells_(cells) {}

    /// Adds the destinations of `statement`. Returns false if one of them overlaps another destination without being
    /// equal.
    bool take(const ir::Movement &movement, const Move &statement) {
      const auto dsts = movement.dsts(statement);
      if (std::ranges::any_of(dsts, [&](const RankChunk &dst) { return overlaps(dst); }))
        return false;
      for (const RankChunk &dst : dsts)
        if (seen_.insert(cells_.firstOf(dst)).second)
          targets_.push_back({&statement, dst});
      return true;
    }
    const std::vector<Target> &all() const { return targets_; }

  private:
    /// True if `c` overlaps another destination without being equal. All have the same length, because they are copies
    /// of one place.
    bool overlaps(const RankChunk &c) const {
      const std::size_t cell = cells_.firstOf(c);
      const auto at = seen_.upper_bound(cell), before = seen_.lower_bound(cell);
      return (at != seen_.end() && *at < cell + c.size) ||
             (before != seen_.begin() && *std::prev(before) + c.size > cell);
    }

    const ir::ChunkCells &cells_;
    std::set<std::size_t> seen_; ///< the cells at which destinations begin
    std::vector<Target> targets_;
  };

  /// Takes consecutive copies of one place, beginning with statement `at`. Returns the number of the statement after
  /// these copies.
  std::size_t takeCopies(std::size_t at) {
    const Move &first = given_.statements[at];
    const RankChunk src = given_.srcs(first)[0];
    const auto isMore = [&](const Move &s) {
      return s.kind == MoveKind::Copy && isOpen(s) && s.block == first.block && s.packets == first.packets &&
             given_.srcs(s)[0] == src;
    };
    Targets targets(cells_);
    while (at < given_.statements.size() && isMore(given_.statements[at]) &&
           targets.take(given_, given_.statements[at]))
      ++at;
    std::map<std::pair<ir::BufferKind, std::uint32_t>, std::size_t> groupOf; // [buffer, index]: number of the group
    std::vector<std::vector<Target>> groups;                                 // a destination on another node is alone
    for (const Target &target : targets.all()) {
      const bool alone = !near(target.place, src);
      const auto [found, isNew] = alone ? std::pair(groupOf.end(), true)
                                        : groupOf.try_emplace({target.place.buffer, target.place.index}, groups.size());
      if (isNew)
        groups.emplace_back();
      (alone ? groups.back() : groups[found->second]).push_back(target);
    }
    for (const std::vector<Target> &group : groups)
      append(group, src);
    return at;
  }

  /// True if another statement also writes one of the destinations of `group` on another rank than that of `src`. Such
  /// copies stay puts, to save sync. The threads of a block divide the work of a switch differently from the work of a
  /// put. So if one block does both, infer-sync makes its threads meet in between. This check is a guess, because
  /// blocks are not known yet. It also keeps copies away from the switch if two different blocks write, and misses
  /// writes that only overlap. The result is right in any case.
  bool isWrittenTwice(const std::vector<Target> &group, const RankChunk &src) const {
    return std::ranges::any_of(group, [&](const Target &target) {
      return target.place.rank != src.rank && writes_.at(cells_.firstOf(target.place)) > 1;
    });
  }

  void append(const std::vector<Target> &group, const RankChunk &src) {
    std::vector<RankChunk> places;
    for (const Target &target : group)
      places.push_back(target.place);
    RankChunk own = places.front();
    own.rank = src.rank;
    if (near(src, places.front()) && cells_.firstOf(own) == cells_.firstOf(src) &&
        std::ranges::find(places, own) == places.end())
      places.push_back(own);
    if (places.size() < fewestRanks || isWrittenTwice(group, src) || !near(src, places.front()) ||
        !isOnePlaceOfAll(places, src)) {
      for (const Target &target : group)
        found_.append(*target.of, {&src, 1}, {&target.place, 1});
      return;
    }
    Move made = *group.front().of;
    made.via = ir::Via::Switch;
    found_.append(made, {&src, 1}, places);
  }

  const ir::ChunkCells cells_;
  const ir::Movement &given_;
  ir::Movement found_;
  std::map<std::size_t, std::uint32_t> writes_; ///< [cell]: number of destinations that begin there
};

} // namespace

ir::Movement throughSwitch(const ir::Program &program) {
  return SwitchFinder(program).run();
}

bool canUseSwitch(const ir::Program &program) {
  const auto numSwitched = [](const ir::Movement &movement) {
    return std::ranges::count(movement.statements, std::optional(ir::Via::Switch), &Move::via);
  };
  return numSwitched(throughSwitch(program)) > numSwitched(program.movement);
}

} // namespace mscclc::passes::schedule
