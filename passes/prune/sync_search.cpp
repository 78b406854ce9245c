#include "passes/prune/sync_search.h"

namespace mscclc::passes::prune {

SyncSearch::SyncSearch(const SyncRecord &record, const std::vector<bool> &dropped)
    : record_(record), phases_(record, dropped), fromBlock_{{{.walk = {record, phases_}}, {.walk = {record, phases_}}}},
      fromAccess_(record, phases_) {}

void SyncSearch::update(const std::vector<Piece> &pieces) {
  phases_.update(pieces);
  for (FromBlock &known : fromBlock_)
    known.from.block = none;
}

bool SyncSearch::ordered(const Pair &pair, std::vector<Piece> &pieces) {
  const Access &first = record_.accesses[pair.first], &second = record_.accesses[pair.second];
  const bool queued = first.port != none && first.port == second.port;
  if (queued && first.at.block == second.at.block && first.thread == second.thread && first.time < second.time)
    return true;
  auto &[walk, from] = fromBlock_[pair.visible];
  const std::uint32_t begin = phases_.beginOf(second.at);
  if (from.block != second.at.block || from.phase > begin)
    walk.restart(pair.visible);
  from = {second.at.block, begin};
  walk.reach(second.at);
  if (walk.find(first, queued, pieces))
    return true;
  if (second.heard == 0 && second.numTaken == 0)
    return false;
  fromAccess_.restart(pair.visible, &walk);
  fromAccess_.heardAt(second.at, second.heard);
  fromAccess_.takenWith(second.firstTaken, second.numTaken);
  return fromAccess_.find(first, queued, pieces);
}

} // namespace mscclc::passes::prune
