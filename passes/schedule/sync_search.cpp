#include "passes/schedule/sync_search.h"

#include <algorithm>

namespace mscclc::passes::prune {

SyncSearch::SyncSearch(const SyncRecord &record, const std::vector<bool> &dropped)
    : record_(record), dropped_(dropped), begins_(record.bounds.size()), begunBy_(dropped.size()),
      blocks_(record.bounds.size()), meetings_(record.meetings.size()), messages_(record.messages.size()) {
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

bool SyncSearch::ordered(const Pair &pair, std::vector<Piece> &pieces) {
  ++question_;
  first_ = &record_.accesses[pair.first];
  second_ = &record_.accesses[pair.second];
  visible_ = pair.visible;
  stepsTaken_ += steps_.size();
  steps_.clear();
  bool found = reach(second_->at, none) ||
               (second_->thread != none && toldThread(second_->at, second_->thread, second_->time, none)) ||
               takenWith(second_->firstTaken, second_->numTaken, none);
  for (std::uint32_t i = 0; !found && i < steps_.size(); ++i)
    found = explore(i);
  if (!found)
    return false;
  for (std::uint32_t s = last_; s != none; s = steps_[s].parent)
    for (const Piece piece : steps_[s].pieces)
      if (piece != none)
        pieces.push_back(piece);
  return true;
}

bool SyncSearch::found(std::uint32_t parent, Piece a, Piece b) {
  last_ = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({{}, parent, {a, b, none}});
  return true;
}

/// True if the first access, no put, is over when phase `begin`, which `at` is in, begins: a launch of a rank begins
/// when all its blocks have ended the one before.
bool SyncSearch::isFirst(const Moment &at, std::uint32_t begin) const {
  const auto &launches = record_.launches[at.block];
  return (at.block == first_->at.block && begin > first_->at.phase) ||
         (record_.rankOf[at.block] == record_.rankOf[first_->at.block] && first_->launch < launches.size() &&
          launches[first_->launch] <= begin);
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
    if (r.phase >= begin || m.time < first_->time || isDropped(r.message))
      continue;
    const bool weak = visible_ && (r.weak || m.weak);
    if (weak && m.begin == none)
      continue;
    const Moment from = weak ? record_.members[record_.meetings[m.begin].first] : m.from;
    const std::uint32_t began = beginOf(from);
    if (!isFirst(from, began))
      continue;
    const auto next = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back({from, step, {m.piece, boundAfter(at.block, r.phase, at.phase), none}});
    const bool own = from.block == first_->at.block && began > first_->at.phase;
    return found(next, own ? boundAfter(from.block, first_->at.phase, from.phase) : none);
  }
  return false;
}

/// It is known that `at` has begun.
bool SyncSearch::reach(const Moment &at, std::uint32_t parent, Piece a, Piece b) {
  const std::uint32_t begin = beginOf(at);
  if (at.block == first_->at.block) {
    const bool counts = first_->port == none || second_->port == first_->port; // a port's queue is in order
    if (counts && begin > first_->at.phase) {
      const auto step = static_cast<std::uint32_t>(steps_.size());
      steps_.push_back({at, parent, {a, b, none}});
      return found(step, boundAfter(at.block, first_->at.phase, at.phase));
    }
    if (first_->port != none && first_->port == second_->port && second_->at.block == at.block &&
        second_->thread == first_->thread && parent == none && first_->time < second_->time)
      return found(none, none);
  }
  if (first_->port == none && isFirst(at, begin))
    return found(parent, a, b);
  if (record_.begun[at.block][begin] < first_->time)
    return false;
  Reached &reached = blocks_[at.block];
  if (reached.question != question_)
    reached = {question_, 0, 0};
  if (reached.begin >= begin)
    return false;
  reached.begin = begin;
  steps_.push_back({at, parent, {a, b, none}});
  return first_->port == none && toldDirectly(static_cast<std::uint32_t>(steps_.size() - 1), begin);
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
    if (r.phase < before || r.time < first_->time)
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
    const auto step = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back({{}, parent, {f.piece, own, boundAfter(block, f.phase, begin)}});
    last_ = step;
    return true;
  }
  return false;
}

/// `message` has been taken; `bound` parts that from what is known.
bool SyncSearch::told(std::uint32_t number, bool weak, std::uint32_t parent, Piece bound) {
  const Message &m = record_.messages[number];
  if (m.time < first_->time || isDropped(number))
    return false;
  if (first_->port != none && m.port == first_->port && m.from.block == first_->at.block) {
    const bool own = m.thread == first_->thread;
    if (own || parted(m.from.block, first_->at.phase, m.from.phase)) {
      const Piece parts = own ? none : boundAfter(m.from.block, first_->at.phase, m.from.phase);
      last_ = static_cast<std::uint32_t>(steps_.size());
      steps_.push_back({{}, parent, {m.piece, bound, parts}});
      return true;
    }
  }
  if (visible_ && (weak || m.weak))
    return m.begin != none && meeting(m.begin, parent, m.piece, bound);
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
    if (r->phase < begin || r->time < first_->time)
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
