#include "passes/schedule/sync_search.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes::prune {

SyncSearch::SyncSearch(const SyncRecord &record, const std::vector<bool> &dropped)
    : record_(record), dropped_(dropped), begins_(record.bounds.size()), begunBy_(dropped.size()),
      unfound_(record.firstBlock.size() - 1), blocks_(record.bounds.size()), meetings_(record.meetings.size()),
      messages_(record.messages.size()) {
  for (std::uint32_t b = 0; b < begins_.size(); ++b) {
    const std::vector<Piece> &bounds = record.bounds[b];
    begins_[b].resize(bounds.size());
    for (std::uint32_t p = 0; p < bounds.size(); ++p) {
      if (bounds[p] != none)
        begunBy_[bounds[p]].push_back({b, p});
      begins_[b][p].always = bounds[p] == none ? p : begins_[b][p - 1].always;
    }
    for (std::uint32_t p = 0; p < bounds.size(); ++p)
      begins_[b][p].now = bounds[p] == none || !dropped[bounds[p]] ? p : begins_[b][p - 1].now;
  }
}

void SyncSearch::update(const std::vector<Piece> &pieces) {
  for (const Piece piece : pieces)
    for (const Moment &phase : begunBy_[piece])
      update(phase.block, phase.phase);
}

/// `phase` begins with what is dropped, or is dropped no more.
void SyncSearch::update(std::uint32_t block, std::uint32_t phase) {
  const std::vector<Piece> &bounds = record_.bounds[block];
  std::vector<Begin> &begins = begins_[block];
  const std::uint32_t now = dropped_[bounds[phase]] ? begins[phase - 1].now : phase;
  do
    begins[phase++].now = now;
  while (phase < bounds.size() && bounds[phase] != none && dropped_[bounds[phase]]);
}

/// A piece that parts `phase` from phase `last` of the block; `none` if something does that always stands.
Piece SyncSearch::boundAfter(std::uint32_t block, std::uint32_t phase, std::uint32_t last) const {
  const Begin &begin = begins_[block][last];
  return begin.always > phase || begin.now <= phase ? none : record_.bounds[block][begin.now];
}

/// When the phases that `first` is in are over; `none` if no later one begins.
std::uint32_t SyncSearch::overAt(const Access &first) const {
  if (first.port != none)
    return first.time;
  const std::vector<Begin> &begins = begins_[first.at.block];
  const auto later = std::ranges::upper_bound(begins, first.at.phase, {}, &Begin::now);
  return later == begins.end() ? none : record_.begun[first.at.block][later - begins.begin()];
}

bool SyncSearch::ordered(const Pair &pair, std::vector<Piece> &pieces) {
  const Answer answer = std::move(order({&pair, 1}).front());
  if (answer)
    pieces.insert(pieces.end(), answer->begin(), answer->end());
  return answer.has_value();
}

std::vector<SyncSearch::Answer> SyncSearch::order(std::span<const Pair> pairs) {
  std::vector<Answer> answers(pairs.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> asked; // when its first access is over, and of pairs
  const auto add = [&](std::uint32_t p) { asked.emplace_back(overAt(record_.accesses[pairs[p].first]), p); };
  const auto ask = [&](bool visible) {
    std::ranges::sort(asked);
    firsts_.clear();
    for (const auto &[over, p] : asked)
      firsts_.push_back({&record_.accesses[pairs[p].first], over});
    walk(record_.accesses[pairs[0].second], visible);
    for (std::uint32_t i = 0; i < asked.size(); ++i) {
      if (firsts_[i].last == none)
        continue;
      std::vector<Piece> &pieces = answers[asked[i].second].emplace();
      for (std::uint32_t s = firsts_[i].last; s != none; s = steps_[s].parent)
        for (const Piece piece : steps_[s].pieces)
          if (piece != none)
            pieces.push_back(piece);
    }
    asked.clear();
  };
  // What is visible is in order: most of the others are found along with these.
  bool visible = std::ranges::any_of(pairs, &Pair::visible);
  do {
    for (std::uint32_t p = 0; p < pairs.size(); ++p)
      if (!answers[p] && (visible || !pairs[p].visible) && record_.accesses[pairs[p].first].port == none)
        add(p);
    if (!asked.empty())
      ask(visible);
  } while (std::exchange(visible, false));
  for (std::uint32_t p = 0; p < pairs.size(); ++p) // what is over of a port's put depends on how one comes to it
    if (record_.accesses[pairs[p].first].port != none) {
      add(p);
      ask(pairs[p].visible);
    }
  return answers;
}

/// From `second`, until all of firsts_ are found or no way is left.
void SyncSearch::walk(const Access &second, bool visible) {
  ++question_;
  first_ = firsts_[0].access;
  second_ = &second;
  visible_ = visible;
  steps_.clear();
  numUnfound_ = static_cast<std::uint32_t>(firsts_.size());
  earliest_ = 0;
  leastTime_ = firsts_[0].over;
  for (std::uint32_t f = 0; f < firsts_.size(); ++f)
    unfound_[record_.rankOf[firsts_[f].access->at.block]].push_back(f);
  bool done = start(second);
  for (std::uint32_t i = 0; !done && i < steps_.size(); ++i)
    done = explore(i);
  for (const First &first : firsts_)
    unfound_[record_.rankOf[first.access->at.block]].clear();
}

bool SyncSearch::start(const Access &second) {
  return reach(second.at, none) || (second.thread != none && toldThread(second.at, second.thread, second.time, none)) ||
         takenWith(second.firstTaken, second.numTaken, none);
}

/// The step that is known by `a`, `b` and `c` shows that one of firsts_ is over. True if that was the last.
bool SyncSearch::found(std::uint32_t first, std::uint32_t parent, Piece a, Piece b, Piece c) {
  firsts_[first].last = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({{}, parent, {a, b, c}});
  --numUnfound_;
  while (earliest_ < firsts_.size() && firsts_[earliest_].last != none)
    ++earliest_;
  if (earliest_ < firsts_.size())
    leastTime_ = firsts_[earliest_].over;
  return numUnfound_ == 0;
}

/// True if `first`, no put, is over when phase `begin`, which `at` is in, begins: a launch of a rank begins when all
/// its blocks have ended the one before.
bool SyncSearch::isOver(const Access &first, const Moment &at, std::uint32_t begin) const {
  const auto &launches = record_.launches[at.block];
  return (at.block == first.at.block && begin > first.at.phase) ||
         (record_.rankOf[at.block] == record_.rankOf[first.at.block] && first.launch < launches.size() &&
          launches[first.launch] <= begin);
}

/// Finds all that are over when phase `begin` begins, which `at` is in. True if nothing is left to be found.
bool SyncSearch::findFirsts(const Moment &at, std::uint32_t begin, std::uint32_t parent, Piece a, Piece b) {
  std::vector<std::uint32_t> &unfound = unfound_[record_.rankOf[at.block]];
  for (std::size_t i = 0; i < unfound.size();) {
    const Access &first = *firsts_[unfound[i]].access;
    if (!isOver(first, at, begin)) {
      ++i;
      continue;
    }
    const bool own = at.block == first.at.block && begin > first.at.phase;
    const std::uint32_t number = unfound[i];
    unfound[i] = unfound.back();
    unfound.pop_back();
    if (found(number, parent, a, b, own ? boundAfter(at.block, first.at.phase, at.phase) : none))
      return true;
  }
  return false;
}

/// True if one of the receipts of a step's block is from where the first access is over: nearly always it is so.
bool SyncSearch::toldDirectly(std::uint32_t step, std::uint32_t begin) {
  const Moment at = steps_[step].at;
  const auto &receipts = record_.receipts[at.block];
  const auto &bySender = record_.bySender[at.block];
  const std::uint32_t rank = record_.rankOf[first_->at.block];
  for (auto s = std::ranges::lower_bound(bySender, std::pair(record_.firstBlock[rank], 0u));
       s != bySender.end() && s->first < record_.firstBlock[rank + 1]; ++s) {
    const Receipt &r = receipts[s->second];
    const Message &m = record_.messages[r.message];
    if (r.phase >= begin || m.time < leastTime_ || isDropped(r.message))
      continue;
    const bool weak = visible_ && (r.weak || m.weak);
    if (weak && m.begin == none)
      continue;
    const Moment from = weak ? record_.members[record_.meetings[m.begin].first] : m.from;
    const std::uint32_t began = beginOf(from);
    if (isOver(*first_, from, began))
      return findFirsts(from, began, step, m.piece, boundAfter(at.block, r.phase, at.phase));
  }
  return false;
}

/// It is known that `at` has begun.
bool SyncSearch::reach(const Moment &at, std::uint32_t parent, Piece a, Piece b) {
  const std::uint32_t begin = beginOf(at);
  if (first_->port == none) {
    if (findFirsts(at, begin, parent, a, b))
      return true;
  } else if (at.block == first_->at.block) {
    const bool counts = second_->port == first_->port; // a port's queue is in order
    if (counts && begin > first_->at.phase)
      return found(0, parent, a, b, boundAfter(at.block, first_->at.phase, at.phase));
    if (counts && second_->at.block == at.block && second_->thread == first_->thread && parent == none &&
        first_->time < second_->time)
      return found(0, none, none, none);
  }
  if (record_.begun[at.block][begin] < leastTime_)
    return false;
  Reached &reached = blocks_[at.block];
  if (reached.question != question_)
    reached = {question_, 0, 0};
  if (reached.begin >= begin)
    return false;
  reached.begin = begin;
  steps_.push_back({at, parent, {a, b, none}});
  return firsts_.size() == 1 && first_->port == none &&
         toldDirectly(static_cast<std::uint32_t>(steps_.size() - 1), begin);
}

/// All that is known because the block of a step is where it is, or a message has been taken.
bool SyncSearch::explore(std::uint32_t step) {
  if (const std::uint32_t message = steps_[step].message; message != none) {
    const Message &m = record_.messages[message];
    return (m.piece != none && toldThread(m.from, m.thread, m.time, step)) || takenWith(m.firstTaken, m.numTaken, step);
  }
  const Moment at = steps_[step].at;
  const std::uint32_t begin = beginOf(at);
  Reached &reached = blocks_[at.block];
  const std::uint32_t before = reached.explored;
  if (before >= begin)
    return false;
  reached.explored = begin;
  if (at.block == first_->at.block && first_->port != none && !visible_ && flushed(at.block, begin, step))
    return true;
  const auto &receipts = record_.receipts[at.block];
  auto i = static_cast<std::size_t>(std::ranges::lower_bound(receipts, begin, {}, &Receipt::phase) - receipts.begin());
  while (i-- != 0) {
    const Receipt &r = receipts[i];
    if (r.phase < before || r.time < leastTime_)
      break;
    if (isDropped(r.message))
      continue;
    if (told(r.message, r.weak, step, boundAfter(at.block, r.phase, at.phase)))
      return true;
    i = r.previous;
  }
  const auto &met = record_.met[at.block];
  for (auto m = std::ranges::upper_bound(met, begin, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
       m != met.begin();) {
    --m;
    if (m->first <= before)
      break;
    const Piece piece = record_.meetings[m->second].piece;
    if ((piece == none || !dropped_[piece]) && meeting(m->second, step, piece))
      return true;
  }
  return false;
}

bool SyncSearch::meeting(std::uint32_t number, std::uint32_t parent, Piece a, Piece b) {
  if (meetings_[number] == question_)
    return false;
  meetings_[number] = question_;
  for (const Moment &member : record_.membersOf(record_.meetings[number]))
    if (reach(member, parent, a, b))
      return true;
  return false;
}

/// A flush after the put has come before `begin` of the put's block: its source is free.
bool SyncSearch::flushed(std::uint32_t block, std::uint32_t begin, std::uint32_t parent) {
  for (const Flushed &f : record_.flushes[block]) {
    if (f.phase >= begin)
      break;
    const bool covers = f.thread == first_->thread || parted(block, first_->at.phase, f.phase);
    if (f.port != first_->port || f.time < first_->time || !covers || (f.piece != none && dropped_[f.piece]))
      continue;
    const Piece own = f.thread == first_->thread ? none : boundAfter(block, first_->at.phase, f.phase);
    return found(0, parent, f.piece, own, boundAfter(block, f.phase, begin));
  }
  return false;
}

/// `message` has been taken; `bound` parts that from what is known.
bool SyncSearch::told(std::uint32_t number, bool weak, std::uint32_t parent, Piece bound) {
  const Message &m = record_.messages[number];
  if (m.time < leastTime_ || isDropped(number))
    return false;
  if (first_->port != none && m.port == first_->port && m.from.block == first_->at.block) {
    const bool own = m.thread == first_->thread;
    if (own || parted(m.from.block, first_->at.phase, m.from.phase)) {
      const Piece parts = own ? none : boundAfter(m.from.block, first_->at.phase, m.from.phase);
      return found(0, parent, m.piece, bound, parts);
    }
  }
  if (visible_ && (weak || m.weak))
    return m.begin != none && meeting(m.begin, parent, m.piece, bound);
  // What its sender and the sending thread knew they received in this phase or before, and is looked at with the block.
  if (const Reached &reached = blocks_[m.from.block]; reached.question == question_ && reached.begin > m.from.phase)
    return false;
  if (reach(m.from, parent, m.piece, bound))
    return true;
  if (messages_[number] != question_)
    steps_.push_back({m.from, parent, {m.piece, bound, none}, number});
  messages_[number] = question_;
  return false;
}

/// What `thread` has waited for itself in the phases that `at` is one with.
bool SyncSearch::toldThread(const Moment &at, std::uint32_t thread, std::uint32_t time, std::uint32_t parent) {
  const auto &receipts = record_.receipts[at.block];
  const std::uint32_t begin = beginOf(at);
  for (auto r = std::ranges::lower_bound(receipts, time, {}, &Receipt::time); r != receipts.begin();) {
    --r;
    if (r->phase < begin || r->time < leastTime_)
      break;
    if (r->thread == thread && told(r->message, r->weak, parent, none))
      return true;
  }
  return false;
}

bool SyncSearch::takenWith(std::uint32_t first, std::uint32_t count, std::uint32_t parent) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (told(record_.taken[first + i], true, parent, none))
      return true;
  return false;
}

} // namespace mscclc::passes::prune
