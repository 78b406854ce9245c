#include "passes/prune/needed_sync.h"

#include "ir/containers.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace mscclc::passes::prune {

NeededSync::NeededSync(const std::vector<RunRecord> &records, const SyncClasses &classes, std::vector<bool> dropped,
                       bool everyRank)
    : records_(records), classes_(classes), ofFirstRank_(!everyRank && classes.allAlike()),
      dropped_(std::move(dropped)), usedBy_(dropped_.size()), meetings_(records.size()) {
  for (const RunRecord &record : records)
    searches_.emplace_back(record, dropped_);
  std::vector<Need> needs = allNeeds();
  sortByTimeBetween(needs);
  add(std::move(needs));
  addWaits();
}

std::vector<NeededSync::Need> NeededSync::allNeeds() const {
  std::vector<Need> needs;
  const auto add = [&](const Need &need) {
    if (isAsked(need.record, secondOf(need).at.block))
      needs.push_back(need);
  };
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    for (const Pair &pair : records_[r].pairs)
      add({pair, r});
    for (std::uint32_t rank = 0; rank < records_[r].scratch.size(); ++rank) {
      if (records_[r].scratch[rank].writes.empty())
        continue;
      for (const Pair &pair : records_[r].scratch[rank].uses)
        add({pair, r, rank, true});
      for (const Pair &pair : records_[r].scratch[rank].writes)
        add({pair, r, rank, false});
    }
  }
  return needs;
}

/// Sorts needs by the time between their accesses, shortest first. If the time is short, a missing order is found
/// quickly.
void NeededSync::sortByTimeBetween(std::vector<Need> &needs) const {
  std::ranges::stable_sort(needs, {}, [&](const Need &need) { return secondOf(need).time - firstOf(need).time; });
}

/// Adds a need whose accesses are ordered by `points`.
void NeededSync::keep(const Need &need, const std::vector<SyncPoint> &points) {
  needs_.push_back(need);
  use(static_cast<std::uint32_t>(needs_.size() - 1), points);
}

void NeededSync::use(std::uint32_t need, const std::vector<SyncPoint> &points) {
  for (const SyncPoint point : points)
    if (std::vector<std::uint32_t> &users = usedBy_[classes_.find(point)]; users.empty() || users.back() != need)
      users.push_back(need);
}

/// Adds those of `needs` whose accesses are ordered. If a need about scratch does not hold, adds the needs that replace
/// it.
void NeededSync::add(std::vector<Need> needs) {
  std::vector<std::optional<std::vector<SyncPoint>>> answers(needs.size());
  for (const std::uint32_t i : orderToAsk(needs)) {
    answers[i] = ask(needs[i]);
    if (!answers[i] && needs[i].pair.relation != Relation::HappensBefore &&
        needs[i].scratch == none) { // perhaps relaxed signals or packets order the accesses
      needs[i].pair.relation = Relation::HappensBefore;
      answers[i] = ask(needs[i]);
    }
  }
  std::vector<Need> instead;
  for (std::size_t i = 0; i < needs.size(); ++i)
    if (answers[i])
      keep(needs[i], *answers[i]);
    else if (needs[i].scratch != none)
      appendInstead(needs[i], instead);
  if (instead.empty())
    return;
  dropDoubles(instead);
  add(std::move(instead));
}

/// Adds the needs about waits on channels on which a block waits more than once. If ids of a wait are dropped, each
/// later id of this wait moves to another thread. Then two threads might wait on a channel at the same time.
void NeededSync::addWaits() {
  for (std::uint32_t r = 0; r < records_.size(); ++r)
    for (std::uint32_t w = 0; w < records_[r].waits.size(); ++w) {
      const Wait &wait = records_[r].waits[w];
      if (wait.previous == none || !isAsked(r, wait.at.block))
        continue;
      Need need;
      need.record = r;
      need.wait = w;
      if (const std::optional<std::vector<SyncPoint>> answer = askTurn(need))
        keep(need, *answer);
    }
}

void NeededSync::dropDoubles(std::vector<Need> &needs) {
  ir::sortUnique(needs, [](const Need &need) { return std::pair(need.record, need.pair); });
}

/// Returns the points that put the accesses of `need` in order; nothing if they have no order.
std::optional<std::vector<SyncPoint>> NeededSync::ask(const Need &need) {
  if (need.wait != none)
    return askTurn(need);
  std::vector<SyncPoint> points;
  if (!searches_[need.record].before(need.pair, points))
    return std::nullopt;
  return points;
}

/// Returns the points that keep two threads from waiting on one channel at the same time; nothing if they may do so.
std::optional<std::vector<SyncPoint>> NeededSync::askTurn(const Need &need) const {
  const std::vector<Wait> &waits = records_[need.record].waits;
  const Wait &wait = waits[need.wait];
  std::uint32_t previous = wait.previous;
  while (previous != none && dropped_[waits[previous].point])
    previous = waits[previous].previous;
  if (dropped_[wait.point] || previous == none)
    return std::vector<SyncPoint>{};
  const Wait &before = waits[previous];
  const RecordedPhases &phases = searches_[need.record].phases();
  if (phases.parted(before.at.block, before.at.phase, wait.at.phase)) {
    const SyncPoint bound = phases.boundAfter(before.at.block, before.at.phase, wait.at.phase);
    return bound == none ? std::vector<SyncPoint>{} : std::vector<SyncPoint>{bound};
  }
  const auto thread = [&](const Wait &w) {
    return std::count(dropped_.begin() + w.firstPoint, dropped_.begin() + w.point, false);
  };
  if (thread(before) != thread(wait))
    return std::nullopt;
  std::vector<SyncPoint> points;
  for (const Wait &w : {before, wait})
    for (SyncPoint p = w.firstPoint; p <= w.point; ++p)
      points.push_back(p);
  return points;
}

/// Returns the indices of `needs` in the order in which they are asked. Needs whose second access is in the same block
/// follow each other, ordered by the time of this access. Blocks have the order of their first needs.
std::vector<std::uint32_t> NeededSync::orderToAsk(std::span<const Need> needs) const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> firstOfBlock; // key: record and block
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>
      order; // entries: first need of the block, time, number of the need
  for (std::uint32_t i = 0; i < needs.size(); ++i) {
    if (needs[i].wait != none) {
      order.emplace_back(0, 0, i);
      continue;
    }
    const Access &second = secondOf(needs[i]);
    const std::uint32_t first = firstOfBlock.try_emplace({needs[i].record, second.at.block}, i).first->second;
    order.emplace_back(first, second.time, i);
  }
  std::ranges::sort(order);
  std::vector<std::uint32_t> numbers;
  for (const auto &place : order)
    numbers.push_back(std::get<2>(place));
  return numbers;
}

/// Appends the needs that replace a need about scratch which does not hold. If that need requires that a use of scratch
/// completes before its launch ends, the use must instead happen before each write of the next launch. If it requires
/// that a write of the next launch comes after the end of the launch, the write must instead come after each use.
void NeededSync::appendInstead(const Need &need, std::vector<Need> &needs) {
  if (need.ends && ofFirstRank_)
    return appendMeetings(need, needs);
  const ScratchUse &scratch = records_[need.record].scratch[need.scratch];
  for (const Pair &other : need.ends ? scratch.writes : scratch.uses) {
    const Pair &use = need.ends ? need.pair : other, &write = need.ends ? other : need.pair;
    needs.push_back({{use.first, write.second, use.relation, false}, need.record});
  }
}

/// Appends the needs that replace a need about a use, if only pairs of the first rank are asked. Then uses are known
/// only for the scratch of the first rank. Such a use represents the uses at the same place of all equivalent ranks, in
/// the scratch of every rank to which the first rank writes.
void NeededSync::appendMeetings(const Need &need, std::vector<Need> &needs) {
  const RunRecord &record = records_[need.record];
  const auto positionOf = [&](const Pair &use) {
    const Access &x = record.accesses[use.first];
    return Position{x.at.block - record.firstBlock[record.rankOf[x.at.block]], x.at.phase, x.op,
                    static_cast<std::uint32_t>(use.relation)};
  };
  std::vector<ScratchMeeting> &meetings = meetings_[need.record];
  if (meetings.empty()) {
    for (const ScratchUse &scratch : record.scratch)
      for (const Pair &write : scratch.writes)
        if (isAsked(need.record, record.accesses[write.second].at.block))
          for (const Pair &use : scratch.uses)
            meetings.push_back({positionOf(use), use.first, write.second});
    std::ranges::sort(meetings);
  }
  for (const ScratchMeeting &m :
       std::ranges::equal_range(meetings, positionOf(need.pair), {}, &ScratchMeeting::position))
    needs.push_back({{m.use, m.write, need.pair.relation, false}, need.record});
}

void NeededSync::set(std::span<const std::vector<SyncPoint> *const> classes, bool dropped) {
  for (const std::vector<SyncPoint> *syncClass : classes)
    for (const SyncPoint point : *syncClass)
      dropped_[point] = dropped;
  for (RecordedOrder &search : searches_)
    for (const std::vector<SyncPoint> *syncClass : classes)
      search.update(*syncClass);
}

/// Checks the need with index `number` in a trial. Returns false if the trial fails because of it.
bool NeededSync::check(std::uint32_t number, bool excuse, Trial &trial) {
  const Need &need = needs_[number];
  if (std::optional<std::vector<SyncPoint>> answer = ask(need)) {
    trial.moved.emplace_back(number, std::move(*answer));
    return true;
  }
  trial.excused.push_back(number);
  if (need.scratch == none)
    return excuse && need.pair.excusable;
  const bool isFirst = trial.instead.empty();
  appendInstead(need, trial.instead);
  // If some need of `trial.instead` does not hold, usually the first one does not. So the first need is asked before
  // all others are collected.
  return !isFirst || trial.instead.empty() || ask(trial.instead.front()).has_value();
}

bool NeededSync::checkInstead(Trial &trial) {
  dropDoubles(trial.instead);
  for (const std::uint32_t i : orderToAsk(trial.instead)) {
    std::optional<std::vector<SyncPoint>> answer = ask(trial.instead[i]);
    if (!answer)
      return false;
    trial.added.emplace_back(trial.instead[i], std::move(*answer));
  }
  return true;
}

bool NeededSync::drop(std::span<const std::vector<SyncPoint> *const> classes, bool excuse) {
  set(classes, true);
  Trial trial;
  std::vector<std::uint32_t> users;
  for (const std::vector<SyncPoint> *syncClass : classes) {
    const std::vector<std::uint32_t> &own = usedBy_[classes_.find(syncClass->front())];
    users.insert(users.end(), own.begin(), own.end());
  }
  // A class may list the same need several times, once for each path that used the class. The need must be asked only
  // once. Otherwise, it would be listed twice from now on.
  ir::sortUnique(users);
  std::erase_if(users, [&](std::uint32_t need) { return !needs_[need].counts; });
  std::vector<Need> needs;
  for (const std::uint32_t user : users)
    needs.push_back(needs_[user]);
  const std::vector<std::uint32_t> order = orderToAsk(needs);
  const bool holds = std::ranges::all_of(order, [&](std::uint32_t i) { return check(users[i], excuse, trial); });
  if (!holds || !checkInstead(trial)) {
    set(classes, false);
    return false;
  }
  for (const std::vector<SyncPoint> *syncClass : classes)
    usedBy_[classes_.find(syncClass->front())].clear();
  for (const auto &[need, points] : trial.moved)
    use(need, points);
  for (const std::uint32_t need : trial.excused)
    needs_[need].counts = false;
  for (const auto &[need, points] : trial.added)
    keep(need, points);
  return true;
}

bool NeededSync::mayExcuse(const std::vector<SyncPoint> &syncClass) const {
  return !dropped_[syncClass.front()] &&
         std::ranges::any_of(usedBy_[classes_.find(syncClass.front())],
                             [&](std::uint32_t need) { return needs_[need].pair.excusable; });
}

/// Returns the needs about pairs of accesses that `points` order. `points` must contain whole classes.
std::vector<std::uint32_t> NeededSync::usersOf(const std::vector<SyncPoint> &points) const {
  std::vector<SyncPoint> classes;
  for (const SyncPoint point : points)
    classes.push_back(classes_.find(point));
  ir::sortUnique(classes);
  std::vector<std::uint32_t> users;
  for (const SyncPoint syncClass : classes)
    users.insert(users.end(), usedBy_[syncClass].begin(), usedBy_[syncClass].end());
  ir::sortUnique(users);
  std::erase_if(users, [&](std::uint32_t number) { return needs_[number].wait != none; });
  return users;
}

/// Returns the elements of `numbers` whose needs have accesses without an order. Sorts them.
std::vector<std::uint32_t> NeededSync::unorderedOf(const std::vector<std::uint32_t> &numbers) {
  std::vector<Need> needs;
  for (const std::uint32_t number : numbers)
    needs.push_back(needs_[number]);
  std::vector<std::uint32_t> found;
  for (const std::uint32_t i : orderToAsk(needs))
    if (!ask(needs[i]))
      found.push_back(numbers[i]);
  std::ranges::sort(found);
  return found;
}

void NeededSync::visitUnordered(const std::vector<SyncPoint> &points,
                                const std::function<bool(const Unordered &, const Unordered &)> &before,
                                const std::function<bool(const Unordered &)> &visit) {
  const auto unordered = [&](std::uint32_t number) -> Unordered {
    return {needs_[number].pair, needs_[number].record, needs_[number].scratch};
  };
  const auto isSooner = [&](std::uint32_t a, std::uint32_t b) {
    const Unordered x = unordered(a), y = unordered(b);
    return before(x, y) || (!before(y, x) && a < b);
  };
  const auto isLater = [&](std::uint32_t a, std::uint32_t b) { return isSooner(b, a); };
  const auto visitOf = [&](std::uint32_t number) {
    const Need &need = needs_[number];
    if (need.scratch == none)
      return visit({need.pair, need.record, none});
    // If a chunk of scratch may have another place at another size, visits the two accesses that would conflict.
    std::vector<Need> others;
    appendInstead(need, others);
    const auto other = std::ranges::find_if(others, [&](const Need &o) { return !ask(o); });
    return other != others.end() && visit({other->pair, other->record, need.scratch});
  };
  std::vector<std::uint32_t> users = usersOf(points);
  const std::vector<SyncPoint> *const all = &points;
  set({&all, 1}, true);
  // Usually one of the first needs has no order, so the first groups are small: 1, 4, 16, … needs. The needs of a group
  // are asked in the order that makes the search fastest.
  std::ranges::make_heap(users, isLater);
  bool isDone = false;
  for (std::size_t size = 1; !users.empty() && !isDone; size *= 4) {
    std::vector<std::uint32_t> next;
    for (; next.size() < size && !users.empty(); users.pop_back()) {
      std::ranges::pop_heap(users, isLater);
      next.push_back(users.back());
    }
    next = unorderedOf(next);
    std::ranges::sort(next, isSooner);
    isDone = std::ranges::any_of(next, visitOf);
  }
  set({&all, 1}, false);
}

} // namespace mscclc::passes::prune
