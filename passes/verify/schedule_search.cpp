#include "passes/verify/schedule_search.h"

#include <algorithm>

namespace mscclc::passes::proof {

Schedule ScheduleSearch::find(const Conflict &c, std::uint32_t firstLaunch, std::uint32_t secondLaunch) {
  const std::uint32_t a = order_.blockOf(c.first), b = order_.blockOf(c.second);
  done_.assign(index_.numBlocks(), 0);
  wanted_ = replay_.nothingWanted();
  Schedule schedule;
  schedule.beforeSecond = reach(c, c.second, c.secondOp, secondLaunch);
  const bool inFlight = !c.first.isUser() && a != b && done_[a] > instanceOf(c.first, c.firstOp, firstLaunch);
  if (!inFlight && a != b)
    schedule.beforeFirst = reach(c, c.first, c.firstOp, firstLaunch);
  return schedule;
}

std::vector<Turn> ScheduleSearch::reach(const Conflict &c, const Epoch &epoch, std::uint32_t op, std::uint32_t launch) {
  const std::uint32_t block = order_.blockOf(epoch), a = order_.blockOf(c.first), b = order_.blockOf(c.second);
  if (!epoch.isUser()) {
    std::uint32_t count = instanceOf(epoch, op, launch);
    if (a == b && c.first.phase == c.second.phase &&
        !c.first.isUser()) // the accesses are made by two threads of one block, and one thread is ahead
      count = std::min(count, instanceOf(c.first, c.firstOp, launch));
    replay_.need(block, count, wanted_);
  } else if (epoch.ref == Epoch::userRead || launch != 0) {
    const std::uint32_t rank = index_.rankOf(block), of = epoch.ref == Epoch::userRead ? launch : launch - 1;
    for (std::uint32_t other = index_.block(rank, 0); other < index_.block(rank + 1, 0); ++other)
      replay_.need(other, replay_.endOfLaunch(other, of), wanted_);
  }
  return turnsOf(replay_.schedule(done_, wanted_));
}

/// Merges consecutive steps into one turn if several ranks do the same. Also merges repeated turns of a loop.
std::vector<Turn> ScheduleSearch::turnsOf(const std::vector<Replay::Step> &steps) const {
  std::vector<Turn> turns;
  for (const Replay::Step &s : steps) {
    const std::uint32_t op = replay_.opOf(s.block, s.to - 1), launch = replay_.launchOf(s.block, s.to - 1);
    if (!turns.empty() && turns.back().op == op && turns.back().launch == launch &&
        index_.idOf(turns.back().blocks[0]) == index_.idOf(s.block) &&
        index_.rankOf(turns.back().blocks.back()) < index_.rankOf(s.block))
      turns.back().blocks.push_back(s.block);
    else
      turns.push_back({{s.block}, op, launch, 1});
  }
  const auto same = [](const Turn &x, const Turn &y) {
    return x.blocks == y.blocks && x.op == y.op && x.launch == y.launch;
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < turns.size(); ++i)
    if (kept != 0 && same(turns[kept - 1], turns[i]))
      ++turns[kept - 1].times;
    else
      std::swap(turns[kept++], turns[i]);
  turns.resize(kept);
  return turns;
}

} // namespace mscclc::passes::proof
