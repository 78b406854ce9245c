#include "passes/run/recorded_order.h"

namespace mscclc::passes::prune {

RecordedOrder::RecordedOrder(const RunRecord &record, const std::vector<bool> &dropped)
    : record_(record), phases_(record, dropped),
      fromBlock_{{{.walk = {record, phases_}}, {.walk = {record, phases_}}, {.walk = {record, phases_}}}},
      fromAccess_(record, phases_) {
  for (auto &launches : fromLaunch_)
    launches.resize(record.launches.empty() ? 1 : record.launches[0].size() + 1);
}

void RecordedOrder::update(const std::vector<SyncPoint> &points) {
  phases_.update(points);
  for (FromBlock &known : fromBlock_)
    known.from.block = none;
  for (auto &launches : fromLaunch_)
    for (std::optional<FromLaunch> &known : launches)
      if (known)
        known->rank = none;
}

bool RecordedOrder::before(const Pair &pair, std::vector<SyncPoint> &points) {
  const Access &first = record_.accesses[pair.first], &second = record_.accesses[pair.second];
  const bool queued = first.port != none && first.port == second.port;
  if (queued && first.at.block == second.at.block && first.thread == second.thread && first.time < second.time)
    return true;
  auto &[walk, from, launch] = fromBlock_[static_cast<std::size_t>(pair.relation)];
  const std::uint32_t begin = phases_.beginOf(second.at);
  BackwardSearch *const below = atLaunch(second.at.block, phases_.launchesBegun(second.at.block, begin), pair.relation);
  if (below && below->find(first, queued, points))
    return true;
  if (from.block != second.at.block || from.phase > begin || launch != below)
    walk.restart(pair.relation, below);
  from = {second.at.block, begin};
  launch = below;
  walk.reach(second.at);
  if (walk.find(first, queued, points))
    return true;
  if (second.heard == 0 && second.numTaken == 0)
    return false;
  fromAccess_.restart(pair.relation, &walk);
  fromAccess_.heardAt(second.at, second.heard);
  fromAccess_.takenWith(second.firstTaken, second.numTaken);
  return fromAccess_.find(first, queued, points);
}

/// Returns the search from the knowledge that all blocks of a rank have when they begin launch `launch`. Null for the
/// first launch. Blocks of a rank that ask one after the other share the search.
BackwardSearch *RecordedOrder::atLaunch(std::uint32_t block, std::uint32_t launch, Relation relation) {
  if (launch <= 1)
    return nullptr;
  std::optional<FromLaunch> &known = fromLaunch_[static_cast<std::size_t>(relation)][launch];
  if (!known)
    known.emplace(FromLaunch{.walk = {record_, phases_}});
  if (known->rank != record_.rankOf[block]) {
    for (FromBlock &above : fromBlock_)
      above.from.block = none;
    known->rank = record_.rankOf[block];
    known->walk.restart(relation);
    known->walk.reach({block, record_.launches[block][launch - 1]});
  }
  return &known->walk;
}

} // namespace mscclc::passes::prune
