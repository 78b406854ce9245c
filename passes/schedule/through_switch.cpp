#include "passes/schedule/through_switch.h"

#include "ir/memory_map.h"
#include "ir/program.h"
#include "passes/schedule/placement.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

using ir::Move;
using ir::MoveKind;
using ir::RankChunk;

class SwitchFinder {
public:
  explicit SwitchFinder(const ir::Program &program) : program_(program), given_(program.movement) {}

  ir::Movement run() {
    for (std::size_t at = 0; at < given_.statements.size();) {
      const Move &statement = given_.statements[at];
      if (isOpen(statement) && statement.kind == MoveKind::Copy)
        at = copies(at);
      else
        one(given_.statements[at++]);
    }
    return std::move(found_);
  }

private:
  /// Fewer ranks gain nothing.
  static constexpr std::size_t fewestRanks = 3;

  static bool isOpen(const Move &s) { return !s.via && !s.by && !s.packets.value_or(false); }
  bool near(const RankChunk &a, const RankChunk &b) const { return given_.sameNode(a.rank, b.rank); }
  static bool isAlike(const RankChunk &a, const RankChunk &b) { return a.buffer == b.buffer && a.index == b.index; }
  bool same(const RankChunk &a, const RankChunk &b) const { return a.rank == b.rank && memory(a) == memory(b); }
  ir::MemoryRange memory(const RankChunk &c) const {
    return ir::memoryOf(program_, c.rank, c.buffer, c.index, c.size, ir::DataForm::Plain);
  }

  void one(const Move &statement) {
    Move made = statement;
    const auto srcs = given_.srcs(statement), dsts = given_.dsts(statement);
    const bool anyOrder = given_.reassociate || ir::isIdempotent(statement.reduceOp);
    if (isOpen(statement) && statement.kind == MoveKind::Reduce && anyOrder && dsts.size() == 1 &&
        srcs.size() >= fewestRanks && isOnePlaceOfAll(srcs, dsts[0]) &&
        std::ranges::all_of(srcs, [&](const RankChunk &src) { return near(src, dsts[0]); }))
      made.via = ir::Via::Switch;
    found_.append(made, srcs, dsts);
  }

  /// The copies of one place that begin with statement `at`. What comes after them.
  std::size_t copies(std::size_t at) {
    const Move &first = given_.statements[at];
    const RankChunk src = given_.srcs(first)[0];
    std::vector<RankChunk> dsts;
    const auto isMore = [&](const Move &s) {
      return s.kind == MoveKind::Copy && isOpen(s) && s.block == first.block && s.packets == first.packets &&
             given_.srcs(s)[0] == src;
    };
    for (; at < given_.statements.size() && isMore(given_.statements[at]); ++at)
      for (const RankChunk &dst : given_.dsts(given_.statements[at]))
        dsts.push_back(dst);
    while (!dsts.empty()) {
      const RankChunk head = dsts.front();
      // One destination a rank: what is written there twice in a row is written once.
      std::vector<RankChunk> group;
      for (const RankChunk &dst : dsts)
        if (isAlike(dst, head) && near(dst, src) && std::ranges::find(group, dst) == group.end())
          group.push_back(dst);
      if (const RankChunk own{src.rank, head.buffer, head.index, head.size};
          same(own, src) && std::ranges::find(group, own) == group.end())
        group.push_back(own);
      if (group.size() >= fewestRanks && isOnePlaceOfAll(group, src)) {
        append(first, ir::Via::Switch, src, group);
        std::erase_if(dsts, [&](const RankChunk &dst) { return isAlike(dst, head) && near(dst, src); });
      } else {
        append(first, std::nullopt, src, {head});
        dsts.erase(dsts.begin());
      }
    }
    return at;
  }

  void append(Move statement, std::optional<ir::Via> via, const RankChunk &src, const std::vector<RankChunk> &dsts) {
    statement.via = via;
    found_.append(statement, {&src, 1}, dsts);
  }

  const ir::Program &program_;
  const ir::Movement &given_;
  ir::Movement found_;
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
