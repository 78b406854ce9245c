#include "passes/schedule/needed_sync.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

namespace mscclc::passes::prune {

NeededSync::NeededSync(const std::vector<SyncRecord> &records, const SyncOrbits &orbits, std::vector<bool> dropped,
                       bool everyRank)
    : records_(records), orbits_(orbits), dropped_(std::move(dropped)), usedBy_(dropped_.size()) {
  searches_.reserve(records.size());
  for (const SyncRecord &record : records)
    searches_.emplace_back(record, dropped_);
  std::vector<Need> needs = allNeeds();
  if (!everyRank && orbits.allAlike())
    keepOneOfAlike(needs);
  std::vector<Need> instead;
  for (const Need &need : needs)
    add(need, instead);
  addAll(std::move(instead));
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

/// Appends to `instead` what has to be in order if `need` is not.
void NeededSync::add(const Need &need, std::vector<Need> &instead) {
  pieces_.clear();
  const auto number = static_cast<std::uint32_t>(needs_.size());
  if (searches_[need.record].ordered(need.pair, pieces_)) {
    needs_.push_back(need);
    use(number, pieces_);
  } else if (need.pair.visible && need.scratch == none) { // only relaxed signals order them
    Need control = need;
    control.pair.visible = false;
    add(control, instead);
  } else if (need.scratch != none) {
    appendInstead(need, instead);
  }
}

/// Adds those of `needs` that are in order.
void NeededSync::addAll(std::vector<Need> needs) {
  std::vector<Need> controls;
  for (const std::span<const Need> group : bySecond(needs)) {
    const std::vector<SyncSearch::Answer> answers = order(group);
    for (std::size_t i = 0; i < group.size(); ++i)
      if (answers[i]) {
        needs_.push_back(group[i]);
        use(static_cast<std::uint32_t>(needs_.size() - 1), *answers[i]);
      } else if (group[i].pair.visible) { // only relaxed signals order them
        controls.push_back(group[i]);
        controls.back().pair.visible = false;
      }
  }
  if (!controls.empty())
    addAll(std::move(controls));
}

/// Whether `needs`, of one record and with one second access, are in order.
std::vector<SyncSearch::Answer> NeededSync::order(std::span<const Need> needs) {
  std::vector<Pair> pairs;
  for (const Need &need : needs)
    pairs.push_back(need.pair);
  return searches_[needs.front().record].order(pairs);
}

/// Sorts `needs`, without doubles, and returns those of each record and second access.
std::vector<std::span<const NeededSync::Need>> NeededSync::bySecond(std::vector<Need> &needs) {
  const auto place = [](const Need &need) { return std::tuple(need.record, need.pair.second, need.pair); };
  std::ranges::sort(needs, {}, place);
  needs.erase(std::ranges::unique(needs, {}, place).begin(), needs.end());
  std::vector<std::span<const Need>> groups;
  const auto isOther = [](const Need &a, const Need &b) {
    return a.record != b.record || a.pair.second != b.pair.second;
  };
  for (auto first = needs.begin(); first != needs.end();) {
    const auto end = std::find_if(first, needs.end(), [&](const Need &need) { return isOther(*first, need); });
    groups.emplace_back(first, end);
    first = end;
  }
  return groups;
}

/// A use of scratch that is not over when its launch ends has to be before each write; a write that does not know of
/// the end, after each use.
void NeededSync::appendInstead(const Need &need, std::vector<Need> &needs) const {
  const ScratchUse &scratch = records_[need.record].scratch[need.scratch];
  for (const Pair &other : need.ends ? scratch.writes : scratch.uses) {
    const Pair &use = need.ends ? need.pair : other, &write = need.ends ? other : need.pair;
    needs.push_back({{use.first, write.second, use.visible, false}, need.record});
  }
}

void NeededSync::set(std::span<const std::vector<Piece> *const> orbits, bool dropped) {
  for (const std::vector<Piece> *orbit : orbits) {
    for (const Piece piece : *orbit)
      dropped_[piece] = dropped;
    for (SyncSearch &search : searches_)
      search.update(*orbit);
  }
}

/// False if one of `numbers`, needs of one record and with one second access, stands in the way of the trial.
bool NeededSync::check(std::span<const std::uint32_t> numbers, bool excuse, Trial &trial) {
  std::vector<Need> needs;
  for (const std::uint32_t number : numbers)
    needs.push_back(needs_[number]);
  std::vector<SyncSearch::Answer> answers = order(needs);
  const bool isFirst = trial.instead.empty();
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (answers[i]) {
      trial.moved.emplace_back(numbers[i], std::move(*answers[i]));
      continue;
    }
    trial.excused.push_back(numbers[i]);
    if (needs[i].scratch != none)
      appendInstead(needs[i], trial.instead);
    else if (!excuse || !needs[i].pair.excusable)
      return false;
  }
  // The first of those that have to hold instead mostly shows that not all do, before all are put together.
  return !isFirst || trial.instead.empty() || order(std::span(trial.instead).first(1)).front().has_value();
}

bool NeededSync::checkInstead(Trial &trial) {
  for (const std::span<const Need> group : bySecond(trial.instead)) {
    std::vector<SyncSearch::Answer> answers = order(group);
    if (!std::ranges::all_of(answers, [](const auto &answer) { return answer.has_value(); }))
      return false;
    for (std::size_t i = 0; i < group.size(); ++i)
      trial.added.emplace_back(group[i], std::move(*answers[i]));
  }
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
  std::erase_if(users, [&](std::uint32_t need) { return !needs_[need].counts; });
  const auto together = [&](std::uint32_t a, std::uint32_t b) {
    return needs_[a].record == needs_[b].record && needs_[a].pair.second == needs_[b].pair.second;
  };
  bool holds = true;
  for (auto first = users.begin(); holds && first != users.end();) {
    const auto end = std::find_if(first, users.end(), [&](std::uint32_t need) { return !together(*first, need); });
    holds = check({first, end}, excuse, trial);
    first = end;
  }
  if (!holds || !checkInstead(trial)) {
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
    std::vector<Need> others;
    appendInstead(need, others);
    for (const Need &other : others)
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
