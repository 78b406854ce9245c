#include "passes/prune/sole_ways.h"

#include <algorithm>
#include <queue>

namespace mscclc::passes::prune {

namespace {

constexpr Piece several = none; ///< no orbit is known to be on all ways

/// Walks back from one access after the other, from later to earlier moments: when a moment's turn comes, all ways to
/// it are known. It takes every phase as parted from the next one: with sync dropped, ways only vanish.
class Walk {
public:
  /// `mostSteps`: of the walk from one access.
  Walk(const SyncRecord &record, const SyncOrbits &orbits, std::size_t pieces, std::uint64_t mostSteps)
      : record_(record), mostSteps_(mostSteps), orbitOf_(pieces, several), found_(pieces),
        meetings_(record.meetings.size()), messages_(record.messages.size()) {
    for (Piece p = 0; p < pieces; ++p)
      if (!orbits.isKept(p))
        orbitOf_[p] = orbits.find(p);
    for (std::uint32_t b = 0; b < record.bounds.size(); ++b) {
      firstMoment_.push_back(static_cast<std::uint32_t>(blockOf_.size()));
      blockOf_.resize(blockOf_.size() + record.bounds[b].size(), b);
    }
    moments_.resize(blockOf_.size());
    findReceipts();
  }

  /// Of `pairs` with one second access.
  void from(std::span<const Pair> pairs) {
    ask(pairs, true);
    std::vector<Pair> control;
    for (Pair pair : pairs)
      if (!pair.visible || !isReached(pair)) { // only relaxed signals order them
        pair.visible = false;
        control.push_back(pair);
      }
    ask(control, false);
  }

  std::vector<bool> take() { return std::move(found_); }

private:
  struct Place {
    std::uint32_t question = 0;
    Piece orbit = several; ///< that all ways go through
  };
  struct Turn {
    std::uint32_t time = 0, number = 0;
    bool message = false;
    bool operator<(const Turn &other) const { return time < other.time; }
  };

  std::uint32_t momentOf(const Moment &at) const { return firstMoment_[at.block] + at.phase; }
  /// The moment from which on an access that no port makes is over.
  std::uint32_t after(const Access &access) const { return momentOf(access.at) + 1; }
  bool isReached(const Pair &pair) const { return moments_[after(record_.accesses[pair.first])].question == question_; }

  void findReceipts() {
    receipts_.resize(moments_.size());
    for (std::uint32_t b = 0; b < record_.receipts.size(); ++b)
      for (std::uint32_t i = static_cast<std::uint32_t>(record_.receipts[b].size()); i-- != 0;)
        receipts_[momentOf({b, record_.receipts[b][i].phase})].first = i;
    for (std::uint32_t b = 0; b < record_.receipts.size(); ++b)
      for (std::uint32_t i = 0; i < record_.receipts[b].size(); ++i)
        receipts_[momentOf({b, record_.receipts[b][i].phase})].end = i + 1;
  }

  void ask(std::span<const Pair> pairs, bool visible) {
    ++question_;
    visible_ = visible;
    earliest_ = none;
    steps_ = 0;
    for (const Pair &pair : pairs)
      if (pair.visible == visible)
        earliest_ = std::min(earliest_, record_.accesses[pair.first].time);
    if (earliest_ == none)
      return;
    const Access &second = record_.accesses[pairs[0].second];
    reach(momentOf(second.at), several);
    if (second.thread != none)
      thread(second.at, second.thread, second.time, several);
    taken(second.firstTaken, second.numTaken, several);
    walk();
    for (const Pair &pair : pairs)
      if (const Access &first = record_.accesses[pair.first];
          pair.visible == visible && !pair.excusable && isReached(pair) &&
          record_.begun[first.at.block][first.at.phase + 1] > earliest_)
        keep(first);
  }

  /// Until `mostSteps_`: what is later than `earliest_` has then been looked at.
  void walk() {
    while (!turns_.empty()) {
      const Turn turn = turns_.top();
      turns_.pop();
      if (steps_ > mostSteps_)
        earliest_ = std::max(earliest_, turn.time);
      else if (turn.message)
        message(turn.number);
      else
        moment(turn.number);
    }
  }

  /// Keeps what is on all ways to the end of `first`.
  void keep(const Access &first) {
    const Moment end{first.at.block, first.at.phase + 1};
    for (const Piece orbit : {moments_[momentOf(end)].orbit, boundOf(end)})
      if (orbit != several)
        found_[orbit] = true;
  }

  /// What parts a moment from the phase before it, on all ways: no later phase of the block is known.
  Piece boundOf(const Moment &at) const {
    const std::vector<Piece> &bounds = record_.bounds[at.block];
    const bool later = at.phase + 1 < bounds.size() && moments_[momentOf(at) + 1].question == question_;
    return later || bounds[at.phase] == none ? several : orbitOf_[bounds[at.phase]];
  }

  void come(Place &place, Piece orbit, Turn turn) {
    ++steps_;
    if (turn.time < earliest_)
      return;
    if (place.question != question_) {
      place = {question_, orbit};
      turns_.push(turn);
    } else if (place.orbit != orbit) {
      place.orbit = several;
    }
  }

  void reach(std::uint32_t moment, Piece orbit) {
    const std::uint32_t b = blockOf_[moment];
    come(moments_[moment], orbit, {record_.begun[b][moment - firstMoment_[b]], moment});
  }

  /// What is known when a moment has begun; all members of a meeting know the same.
  void moment(std::uint32_t number) {
    const std::uint32_t b = blockOf_[number], phase = number - firstMoment_[b];
    const auto &met = record_.met[b];
    const auto m = std::ranges::lower_bound(met, phase, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
    if (m == met.end() || m->first != phase)
      return expand({b, phase}, moments_[number].orbit);
    if (meetings_[m->second] == question_)
      return;
    meetings_[m->second] = question_;
    const auto members = record_.membersOf(record_.meetings[m->second]);
    Piece orbit = moments_[number].orbit;
    for (const Moment &member : members)
      if (const Place &place = moments_[momentOf(member)]; place.question == question_ && place.orbit != orbit)
        orbit = several;
    for (const Moment &member : members) {
      moments_[momentOf(member)] = {question_, orbit};
      expand(member, orbit);
    }
  }

  void expand(const Moment &at, Piece orbit) {
    if (at.phase == 0)
      return;
    const std::uint32_t before = momentOf(at) - 1;
    reach(before, orbit);
    for (std::uint32_t i = receipts_[before].first; i < receipts_[before].end; ++i)
      told(record_.receipts[at.block][i], orbit);
  }

  void told(const Receipt &receipt, Piece orbit) { told(receipt.message, receipt.weak, orbit); }
  void told(std::uint32_t number, bool weak, Piece orbit) {
    const Message &m = record_.messages[number];
    if (orbit == several && m.piece != none)
      orbit = orbitOf_[m.piece];
    if (visible_ && (weak || m.weak)) {
      if (m.begin != none)
        reach(momentOf(record_.members[record_.meetings[m.begin].first]), orbit);
      return;
    }
    const std::uint32_t from = momentOf(m.from);
    reach(from, orbit);
    const auto &receipts = record_.receipts[m.from.block];
    const bool mayHaveWaited =
        receipts_[from].first < receipts_[from].end && receipts[receipts_[from].first].time < m.time;
    if (m.numTaken != 0 || (m.piece != none && mayHaveWaited))
      come(messages_[number], orbit, {m.time, number, true});
  }

  /// What the thread that sent a message knew beside its block.
  void message(std::uint32_t number) {
    const Message &m = record_.messages[number];
    if (m.piece != none)
      thread(m.from, m.thread, m.time, messages_[number].orbit);
    taken(m.firstTaken, m.numTaken, messages_[number].orbit);
  }

  void thread(const Moment &at, std::uint32_t thread, std::uint32_t time, Piece orbit) {
    const auto &[first, end] = receipts_[momentOf(at)];
    for (std::uint32_t i = first; i < end && record_.receipts[at.block][i].time < time; ++i)
      if (record_.receipts[at.block][i].thread == thread)
        told(record_.receipts[at.block][i], orbit);
  }

  void taken(std::uint32_t first, std::uint32_t count, Piece orbit) {
    for (std::uint32_t i = 0; i < count; ++i)
      told(record_.taken[first + i], true, orbit);
  }

  const SyncRecord &record_;
  const std::uint64_t mostSteps_;
  std::vector<Piece> orbitOf_; ///< [piece]; `several` of what cannot be dropped
  std::vector<bool> found_;
  std::vector<std::uint32_t> firstMoment_; ///< [block]
  std::vector<std::uint32_t> blockOf_;     ///< [moment]
  struct Span {
    std::uint32_t first = 0, end = 0;
  };
  std::vector<Span> receipts_; ///< [moment]: what its block receives in the phase
  // Of the question in progress: where its ways lead.
  std::uint32_t question_ = 0, earliest_ = none;
  bool visible_ = false;
  std::vector<Place> moments_;
  std::vector<std::uint32_t> meetings_; ///< the last question that came there
  std::vector<Place> messages_;
  std::priority_queue<Turn> turns_;
  std::uint64_t steps_ = 0;
};

} // namespace

std::vector<bool> onSoleWays(const SyncRecord &record, const SyncOrbits &orbits, std::size_t pieces) {
  std::vector<Pair> pairs;
  for (const Pair &pair : record.pairs)
    if (record.accesses[pair.first].port == none &&
        (!orbits.allAlike() || record.rankOf[record.accesses[pair.second].at.block] == 0))
      pairs.push_back(pair);
  std::ranges::sort(pairs, {}, [](const Pair &pair) { return std::pair(pair.second, pair); });
  // All walks together are linear in the run; one goes far enough to see more than what is next to it.
  const std::uint64_t mostSteps = 4 * std::uint64_t{record.messages.size()};
  constexpr std::uint64_t fewSteps = 200;
  Walk walk(record, orbits, pieces, std::max(mostSteps / std::max<std::size_t>(pairs.size(), 1), fewSteps));
  for (auto first = pairs.begin(); first != pairs.end();) {
    const auto end = std::find_if(first, pairs.end(), [&](const Pair &p) { return p.second != first->second; });
    walk.from({first, end});
    first = end;
  }
  return walk.take();
}

} // namespace mscclc::passes::prune
