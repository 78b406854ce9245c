#include "passes/schedule/needed_sync.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace mscclc::passes::prune {

/// Where uses of scratch and writes are many, so are the pairs that keep the one before the other without an end of the
/// launch between them: after so many steps none more is asked, and the sync counts as needed.
constexpr std::uint64_t mostSteps = 40'000'000;

NeededSync::NeededSync(const std::vector<SyncRecord> &records, const SyncOrbits &orbits, std::vector<bool> dropped,
                       bool everyRank)
    : records_(records), orbits_(orbits), dropped_(std::move(dropped)), usedBy_(dropped_.size()) {
  searches_.reserve(records.size());
  for (const SyncRecord &record : records)
    searches_.emplace_back(record, dropped_);
  std::vector<Need> needs = allNeeds();
  if (!everyRank && orbits.allAlike())
    keepOneOfAlike(needs);
  for (const Need &need : needs)
    add(need);
}

/// In the order in which they are asked: that two accesses are not in order is soon found where little happens between
/// them.
std::vector<NeededSync::Need> NeededSync::allNeeds() const {
  std::vector<Need> needs;
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    for (const Pair &pair : records_[r].pairs)
      needs.push_back({pair, r});
    for (std::uint32_t rank = 0; rank < records_[r].scratch.size(); ++rank) {
      if (records_[r].scratch[rank].writes.empty())
        continue;
      for (const Pair &pair : records_[r].scratch[rank].uses)
        needs.push_back({pair, r, rank, true});
      for (const Pair &pair : records_[r].scratch[rank].writes)
        needs.push_back({pair, r, rank, false});
    }
  }
  std::ranges::stable_sort(needs, {}, [&](const Need &need) {
    const auto &accesses = records_[need.record].accesses;
    return accesses[need.pair.second].time - accesses[need.pair.first].time;
  });
  return needs;
}

/// Needs correspond if their accesses stand at the same places, in blocks that are equally many ranks apart. The first
/// of them is soonest looked at.
void NeededSync::keepOneOfAlike(std::vector<Need> &needs) const {
  std::set<std::array<std::uint32_t, 10>> seen;
  std::erase_if(needs, [&](const Need &need) {
    const SyncRecord &record = records_[need.record];
    const auto ranks = static_cast<std::uint32_t>(record.firstBlock.size() - 1);
    const Access &x = record.accesses[need.pair.first], &y = record.accesses[need.pair.second];
    const std::uint32_t from = record.rankOf[x.at.block], to = record.rankOf[y.at.block];
    const auto apart = [&](std::uint32_t rank) { return rank == none ? none : (rank + ranks - from) % ranks; };
    const std::uint32_t kind = need.record * 8 + need.ends * 4 + need.pair.visible * 2 + need.pair.excusable;
    return !seen.insert({kind, apart(to), apart(need.scratch), x.at.block - record.firstBlock[from], x.at.phase, x.op,
                         x.thread, y.at.block - record.firstBlock[to], y.at.phase, y.op})
                .second;
  });
}

void NeededSync::use(std::uint32_t need, const std::vector<Piece> &pieces) {
  for (const Piece piece : pieces)
    if (std::vector<std::uint32_t> &users = usedBy_[orbits_.find(piece)]; users.empty() || users.back() != need)
      users.push_back(need);
}

void NeededSync::add(const Need &need) {
  pieces_.clear();
  const auto number = static_cast<std::uint32_t>(needs_.size());
  if (searches_[need.record].ordered(need.pair, pieces_)) {
    needs_.push_back(need);
    use(number, pieces_);
  } else if (need.pair.visible && need.scratch == none) { // only relaxed signals order them
    Need control = need;
    control.pair.visible = false;
    add(control);
  } else if (need.scratch != none) {
    for (const Need &other : instead(need))
      add(other);
  }
}

/// A use of scratch that is not over when its launch ends has to be before each write; a write that does not know of
/// the end, after each use.
std::vector<NeededSync::Need> NeededSync::instead(const Need &need) const {
  std::vector<Need> needs;
  const ScratchUse &scratch = records_[need.record].scratch[need.scratch];
  for (const Pair &other : need.ends ? scratch.writes : scratch.uses) {
    const Pair &use = need.ends ? need.pair : other, &write = need.ends ? other : need.pair;
    needs.push_back({{use.first, write.second, use.visible, false}, need.record});
  }
  return needs;
}

void NeededSync::set(std::span<const std::vector<Piece> *const> orbits, bool dropped) {
  for (const std::vector<Piece> *orbit : orbits) {
    for (const Piece piece : *orbit)
      dropped_[piece] = dropped;
    for (SyncSearch &search : searches_)
      search.update(*orbit);
  }
}

bool NeededSync::check(std::uint32_t number, bool excuse, Trial &trial) {
  const Need need = needs_[number];
  pieces_.clear();
  if (!need.counts || searches_[need.record].ordered(need.pair, pieces_)) {
    trial.moved.emplace_back(number, pieces_);
    return true;
  }
  if (need.scratch == none) {
    trial.excused.push_back(number);
    return excuse && need.pair.excusable;
  }
  for (const Need &other : instead(need)) {
    pieces_.clear();
    if (searches_[other.record].stepsTaken() > mostSteps || !searches_[other.record].ordered(other.pair, pieces_))
      return false;
    trial.added.emplace_back(other, pieces_);
  }
  trial.excused.push_back(number);
  return true;
}

bool NeededSync::drop(std::span<const std::vector<Piece> *const> orbits, bool excuse) {
  set(orbits, true);
  Trial trial;
  std::vector<std::uint32_t> users;
  for (const std::vector<Piece> *orbit : orbits) {
    const std::vector<std::uint32_t> &own = usedBy_[orbits_.find(orbit->front())];
    users.insert(users.end(), own.begin(), own.end());
  }
  // A need comes back to an orbit whenever it is in order by other pieces than before: asked twice, it would come back
  // twice.
  std::ranges::sort(users);
  users.erase(std::ranges::unique(users).begin(), users.end());
  for (const std::uint32_t need : users)
    if (!check(need, excuse, trial)) {
      set(orbits, false);
      return false;
    }
  for (const std::vector<Piece> *orbit : orbits)
    usedBy_[orbits_.find(orbit->front())].clear();
  for (const auto &[need, pieces] : trial.moved)
    use(need, pieces);
  for (const std::uint32_t need : trial.excused)
    needs_[need].counts = false;
  for (const auto &[need, pieces] : trial.added) {
    needs_.push_back(need);
    use(static_cast<std::uint32_t>(needs_.size() - 1), pieces);
  }
  return true;
}

void NeededSync::visitUnordered(const std::vector<Piece> &pieces,
                                const std::function<bool(const Unordered &, const Unordered &)> &before,
                                const std::function<bool(const Unordered &)> &visit) {
  std::set<std::uint32_t> users;
  std::set<Piece> orbits;
  for (const Piece piece : pieces)
    if (const Piece orbit = orbits_.find(piece); orbits.insert(orbit).second)
      users.insert(usedBy_[orbit].begin(), usedBy_[orbit].end());
  std::vector<std::pair<Unordered, std::uint32_t>> order;
  for (const std::uint32_t number : users)
    order.push_back({{needs_[number].pair, needs_[number].record, needs_[number].scratch}, number});
  std::ranges::stable_sort(order, before, &std::pair<Unordered, std::uint32_t>::first);
  const std::vector<Piece> *const all = &pieces;
  set({&all, 1}, true);
  const auto isOrdered = [&](const Need &need) {
    pieces_.clear();
    return searches_[need.record].ordered(need.pair, pieces_);
  };
  // Of scratch that may lie elsewhere, the two accesses that would meet.
  const auto meeting = [&](const Need &need) -> std::optional<Need> {
    for (const Need &other : instead(need))
      if (!isOrdered(other))
        return other;
    return std::nullopt;
  };
  for (const auto &[pair, number] : order) {
    if (isOrdered(needs_[number]))
      continue;
    const std::optional<Need> need = pair.scratch == none ? needs_[number] : meeting(needs_[number]);
    if (need && visit({need->pair, need->record, pair.scratch}))
      break;
  }
  set({&all, 1}, false);
}

} // namespace mscclc::passes::prune
