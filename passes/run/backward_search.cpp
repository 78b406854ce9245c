#include "passes/run/backward_search.h"

#include <algorithm>

namespace mscclc::passes::prune {

BackwardSearch::BackwardSearch(const RunRecord &record, const RecordedPhases &phases)
    : record_(record), phases_(phases), blocks_(record.bounds.size()), ranks_(record.firstBlock.size() - 1),
      meetings_(record.meetings.size()), messages_(record.messages.size()), heard_(record.messages.size()) {}

void BackwardSearch::restart(Relation relation, const BackwardSearch *below) {
  ++run_;
  relation_ = relation;
  below_ = below;
  steps_.clear();
  turns_.clear();
  throughPorts_.clear();
}

bool BackwardSearch::find(const Access &first, bool queued, std::vector<SyncPoint> &points) {
  const std::uint32_t leastTime = phases_.overAt(first);
  PutLooked looked;
  for (;;) {
    if (first.port == none ? isOver(first, points) : isPutOver(first, queued, looked, points))
      return true;
    if (turns_.empty() || turns_.front().time < leastTime)
      return false;
    std::ranges::pop_heap(turns_, {}, &Turn::time);
    const Turn turn = turns_.back();
    turns_.pop_back();
    explore(turn, leastTime);
  }
}

/// True if `first` is known to be over: a later phase of its block is known to have begun, or a later launch of its
/// rank. A launch of a rank begins after all blocks of the rank have ended the launch before.
bool BackwardSearch::isOver(const Access &first, std::vector<SyncPoint> &points) const {
  if (const Reached own = reached(first.at.block); own.begin > first.at.phase) {
    points.push_back(phases_.boundAfter(first.at.block, first.at.phase, steps_[own.step].at.phase));
    follow(own.step, points);
    return true;
  }
  const Begun &begun = ranks_[record_.rankOf[first.at.block]];
  if (begun.run != run_ || begun.count <= first.launch)
    return false;
  follow(begun.step, points);
  return true;
}

bool BackwardSearch::isPutOver(const Access &put, bool queued, PutLooked &looked,
                               std::vector<SyncPoint> &points) const {
  const std::uint32_t block = put.at.block;
  const Reached own = reached(block);
  if (own.begin > std::max(put.at.phase, looked.begin)) {
    looked.begin = own.begin;
    if (queued) {
      points.push_back(phases_.boundAfter(block, put.at.phase, steps_[own.step].at.phase));
      follow(own.step, points);
      return true;
    }
    if (relation_ != Relation::Visibility && flushed(put, own, points))
      return true;
  }
  const auto signals = throughPorts_.find(put.port);
  while (signals != throughPorts_.end() && looked.signals < signals->second.size()) {
    const ThroughPort &signal = signals->second[looked.signals++];
    const Message &m = record_.messages[signal.message];
    const bool own = m.thread == put.thread;
    if (m.from.block != block || m.time < put.time || !(own || phases_.parted(block, put.at.phase, m.from.phase)))
      continue;
    points.push_back(own ? none : phases_.boundAfter(block, put.at.phase, m.from.phase));
    follow(signal.step, points);
    return true;
  }
  return false;
}

/// True if a flush after `put` is known to be over. Then the source of the put may be reused.
bool BackwardSearch::flushed(const Access &put, const Reached &reached, std::vector<SyncPoint> &points) const {
  const std::uint32_t block = put.at.block;
  for (const Flushed &f : record_.flushes[block]) {
    if (f.phase >= reached.begin)
      break;
    const bool own = f.thread == put.thread;
    if (f.port != put.port || f.time < put.time || !(own || phases_.parted(block, put.at.phase, f.phase)) ||
        phases_.isDropped(f.point))
      continue;
    points.insert(points.end(), {f.point, own ? none : phases_.boundAfter(block, put.at.phase, f.phase),
                                 phases_.boundAfter(block, f.phase, reached.begin)});
    follow(reached.step, points);
    return true;
  }
  return false;
}

/// Adds to `points` the sync points of `step` and of all steps that led the search to it.
void BackwardSearch::follow(std::uint32_t step, std::vector<SyncPoint> &points) const {
  for (; step != none; step = steps_[step].parent)
    points.insert(points.end(), std::begin(steps_[step].points), std::end(steps_[step].points));
  std::erase(points, none);
}

std::uint32_t BackwardSearch::addStep(const Moment &at, std::uint32_t parent, SyncPoint a, SyncPoint b) {
  steps_.push_back({at, parent, {a, b}});
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

void BackwardSearch::addTurn(const Turn &turn) {
  turns_.push_back(turn);
  std::ranges::push_heap(turns_, {}, &Turn::time);
}

BackwardSearch::Reached BackwardSearch::reached(std::uint32_t block) const {
  return blocks_[block].run == run_ ? blocks_[block] : Reached{};
}

void BackwardSearch::reach(const Moment &at, std::uint32_t parent, SyncPoint a, SyncPoint b) {
  const std::uint32_t begin = phases_.beginOf(at);
  Reached &reached = blocks_[at.block];
  if (reached.run != run_)
    reached = {.run = run_};
  if (reached.begin >= begin || begunBelow(at.block) >= begin)
    return;
  reached.begin = begin;
  reached.step = addStep(at, parent, a, b);
  const std::uint32_t launched = phases_.launchesBegun(at.block, begin);
  Begun &begun = ranks_[record_.rankOf[at.block]];
  if (begun.run != run_ || begun.count < launched)
    begun = {run_, launched, reached.step};
  addTurn({.time = phases_.lastHeardAt(at.block, begin), .step = reached.step});
}

/// Visits one member of the meeting now, which shows how many launches the rank has begun. The other members are
/// visited when a question goes back to the time of the meeting.
void BackwardSearch::meeting(std::uint32_t number, std::uint32_t parent, SyncPoint a, SyncPoint b) {
  if (meetings_[number] == run_)
    return;
  meetings_[number] = run_;
  const Moment &member = record_.membersOf(record_.meetings[number]).front();
  reach(member, parent, a, b);
  addTurn(
      {.time = record_.begun[member.block][member.phase], .step = addStep(member, parent, a, b), .meeting = number});
}

/// Notes that message `number` is known to be received. `bound`: the sync point between the receipt and the phase that
/// knows of it.
void BackwardSearch::received(std::uint32_t number, MessageKind kind, std::uint32_t parent, SyncPoint bound) {
  const Message &m = record_.messages[number];
  if (phases_.isDropped(m.point))
    return;
  if (m.port != none)
    throughPorts_[m.port].push_back({number, addStep(m.from, parent, m.point, bound)});
  const MessageKind weaker = std::max(kind, m.kind);
  if (!proof::carries(weaker, relation_)) {
    if (m.begin != none && proof::carriesEarlier(weaker, relation_))
      meeting(m.begin, parent, m.point, bound);
    return;
  }
  // A later phase of the sender is already reached. Everything that the message contains was received before that phase
  // began, and is visited with the sender's block.
  if (reached(m.from.block).begin > m.from.phase || begunBelow(m.from.block) > m.from.phase)
    return;
  reach(m.from, parent, m.point, bound);
  if (messages_[number] != run_ && (m.heard != 0 || m.numTaken != 0))
    addTurn({.time = m.time, .step = addStep(m.from, parent, m.point, bound), .message = number});
  messages_[number] = run_;
}

/// Visits the receipts of one thread, from the last one back to the first one in the merged phases.
void BackwardSearch::heardAt(const Moment &at, std::uint32_t heard, std::uint32_t parent) {
  const std::uint32_t begin = phases_.beginOf(at);
  while (heard != 0) {
    const Receipt &r = record_.receipts[at.block][heard - 1];
    if (r.phase < begin || heard_[r.message] == run_)
      break;
    heard_[r.message] = run_;
    received(r.message, r.kind, parent, none);
    heard = r.heard;
  }
}

void BackwardSearch::takenWith(std::uint32_t first, std::uint32_t count, std::uint32_t parent) {
  for (std::uint32_t i = 0; i < count; ++i)
    received(record_.taken[first + i], MessageKind::Packet, parent, none);
}

/// Visits everything that is known at a step, back to time `leastTime`.
void BackwardSearch::explore(Turn turn, std::uint32_t leastTime) {
  if (turn.message != none)
    return exploreMessage(turn);
  if (turn.meeting != none)
    return exploreMeeting(turn);
  if (turn.firstReceipt != none)
    return exploreReceipts(turn, leastTime);
  const std::uint32_t block = steps_[turn.step].at.block, begin = phases_.beginOf(steps_[turn.step].at);
  Reached &reached = blocks_[block];
  const std::uint32_t before = std::max(reached.explored, begunBelow(block));
  if (before >= begin)
    return;
  reached.explored = begin;
  const auto &met = record_.met[block];
  const auto phaseOf = &std::pair<std::uint32_t, std::uint32_t>::first;
  for (auto m = std::ranges::upper_bound(met, before, {}, phaseOf); m != met.end() && m->first <= begin; ++m)
    if (const SyncPoint point = record_.meetings[m->second].point; !phases_.isDropped(point))
      meeting(m->second, turn.step, point, none);
  const auto &receipts = record_.receipts[block];
  const auto indexOf = [&](std::uint32_t phase) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(receipts, phase, {}, &Receipt::phase) -
                                      receipts.begin());
  };
  turn.firstReceipt = indexOf(before);
  turn.endReceipts = indexOf(begin);
  exploreReceipts(turn, leastTime);
}

/// Visits the knowledge that a message carries in addition to that of the sender's block.
void BackwardSearch::exploreMessage(const Turn &turn) {
  const Message &m = record_.messages[turn.message];
  heardAt(m.from, m.heard, turn.step);
  takenWith(m.firstTaken, m.numTaken, turn.step);
}

void BackwardSearch::exploreMeeting(const Turn &turn) {
  const Step step = steps_[turn.step];
  for (const Moment &member : record_.membersOf(record_.meetings[turn.meeting]))
    reach(member, step.parent, step.points[0], step.points[1]);
}

/// Visits receipts back to `leastTime` in one go, even if other turns are later. Taking turns after each receipt would
/// cost more.
void BackwardSearch::exploreReceipts(Turn turn, std::uint32_t leastTime) {
  const Moment at = steps_[turn.step].at;
  const auto &receipts = record_.receipts[at.block];
  while (turn.endReceipts > turn.firstReceipt) {
    const Receipt &r = receipts[turn.endReceipts - 1];
    if (r.time < leastTime) {
      turn.time = r.time;
      return addTurn(turn);
    }
    turn.endReceipts = phases_.isDropped(record_.messages[r.message].point) ? turn.endReceipts - 1 : r.previous;
    received(r.message, r.kind, turn.step, phases_.boundAfter(at.block, r.phase, at.phase));
  }
}

} // namespace mscclc::passes::prune
