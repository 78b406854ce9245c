// Order in a recorded run as it is defined, with nothing left out for speed: what RecordedOrder is compared with.
#pragma once

#include "passes/run/run_record.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace plan {

/// Computes where in `record` access `first` is known in `relation` when some points are dropped. It visits phases and
/// messages until nothing is added. Times only say what a thread did first. `queued`: for puts through the port of
/// `first`; then it is sufficient that `first` has been issued.
class PlainSync {
public:
  using SyncPoint = mscclc::passes::prune::SyncPoint;
  using Access = mscclc::passes::prune::Access;
  using Message = mscclc::passes::prune::Message;
  using Moment = mscclc::passes::prune::Moment;
  using Receipt = mscclc::passes::prune::Receipt;
  using Relation = mscclc::passes::prune::Relation;
  using RunRecord = mscclc::passes::prune::RunRecord;

  PlainSync(const RunRecord &record, const std::vector<bool> &dropped, const Access &first, Relation relation,
            bool queued)
      : record_(record), dropped_(dropped), first_(first), relation_(relation), queued_(queued),
        phases_(record.bounds.size()), messages_(record.messages.size()) {
    for (std::uint32_t b = 0; b < phases_.size(); ++b)
      phases_[b].resize(record.bounds[b].size());
    while (std::exchange(grows_, false)) {
      for (std::uint32_t b = 0; b < phases_.size(); ++b)
        for (std::uint32_t p = 0; p < phases_[b].size(); ++p)
          note(phases_[b][p], knownWhenBegun(b, begin({b, p})));
      for (std::uint32_t m = 0; m < messages_.size(); ++m) {
        for (const MessageKind kind : kinds)
          note(messages_[m].by[static_cast<std::size_t>(kind)], isTold(record.messages[m], kind));
      }
    }
  }

  /// True if the access is known to be over, or what it wrote is seen, by `second`.
  bool before(const Access &second) const {
    const bool byThread = queued_ && second.at.block == first_.at.block && second.thread == first_.thread;
    return (byThread && first_.time < second.time) || phases_[second.at.block][second.at.phase] ||
           threadHeard(second.at, second.thread, second.time) || anyTold(second.firstTaken, second.numTaken);
  }

private:
  using MessageKind = mscclc::passes::prune::MessageKind;
  static constexpr std::array kinds = {MessageKind::Signal, MessageKind::RelaxedSignal, MessageKind::Packet};
  struct SeenBy {
    std::array<char, kinds.size()> by{}; ///< [kind of the wait]
  };
  void note(char &known, bool is) {
    grows_ |= is && !known;
    known |= is;
  }
  bool isDropped(SyncPoint point) const { return point != mscclc::ir::none && dropped_[point]; }
  /// A phase that begins with a dropped point is merged with the phase before it.
  std::uint32_t begin(Moment at) const {
    while (isDropped(record_.bounds[at.block][at.phase]))
      --at.phase;
    return at.phase;
  }
  /// `number`: of a meeting.
  bool anyMemberKnows(std::uint32_t number) const {
    return std::ranges::any_of(record_.membersOf(record_.meetings[number]),
                               [&](const Moment &m) { return phases_[m.block][m.phase] != 0; });
  }
  bool told(std::uint32_t message, MessageKind kind) const {
    return messages_[message].by[static_cast<std::size_t>(kind)] != 0;
  }
  bool anyTold(std::uint32_t first, std::uint32_t count) const {
    return std::any_of(record_.taken.begin() + first, record_.taken.begin() + first + count,
                       [&](std::uint32_t message) { return told(message, MessageKind::Packet); });
  }
  bool threadHeard(const Moment &at, std::uint32_t thread, std::uint32_t time) const {
    return thread != mscclc::ir::none && std::ranges::any_of(record_.receipts[at.block], [&](const Receipt &r) {
             return r.thread == thread && r.phase >= begin(at) && r.time < time && told(r.message, r.kind);
           });
  }
  /// `phase`: begins with what is not dropped.
  bool knownWhenBegun(std::uint32_t block, std::uint32_t phase) const {
    const auto &launches = record_.launches[block];
    const bool later = record_.rankOf[block] == record_.rankOf[first_.at.block] && first_.launch < launches.size() &&
                       launches[first_.launch] <= phase;
    const bool passed = block == first_.at.block && phase > first_.at.phase;
    if (first_.port == mscclc::ir::none ? passed || later : passed && queued_)
      return true;
    const bool flushed = std::ranges::any_of(record_.flushes[block], [&](const auto &f) {
      return f.phase < phase && f.port == first_.port && isAfterPut({block, f.phase}, f.thread, f.time) &&
             !isDropped(f.point);
    });
    return (relation_ != Relation::Visibility && first_.port != mscclc::ir::none && flushed) ||
           std::ranges::any_of(record_.receipts[block],
                               [&](const Receipt &r) { return r.phase < phase && told(r.message, r.kind); }) ||
           std::ranges::any_of(record_.met[block], [&](const auto &met) {
             return met.first <= phase && !isDropped(record_.meetings[met.second].point) && anyMemberKnows(met.second);
           });
  }
  /// Returns whether what `thread` does at `at` comes after the put in the queue of its port.
  bool isAfterPut(const Moment &at, std::uint32_t thread, std::uint32_t time) const {
    return at.block == first_.at.block && time >= first_.time &&
           (thread == first_.thread || begin(at) > first_.at.phase);
  }
  /// True if `m` tells whoever takes it with a wait of `kind`.
  bool isTold(const Message &m, MessageKind kind) const {
    if (isDropped(m.point))
      return false;
    if (first_.port != mscclc::ir::none && m.port == first_.port && isAfterPut(m.from, m.thread, m.time))
      return true;
    if (const MessageKind weaker = std::max(kind, m.kind); !carries(weaker, relation_))
      return m.begin != mscclc::ir::none && carriesEarlier(weaker, relation_) && anyMemberKnows(m.begin);
    return phases_[m.from.block][m.from.phase] ||
           (m.point != mscclc::ir::none && threadHeard(m.from, m.thread, m.time)) || anyTold(m.firstTaken, m.numTaken);
  }

  const RunRecord &record_;
  const std::vector<bool> &dropped_;
  const Access &first_;
  const Relation relation_;
  const bool queued_;
  std::vector<std::vector<char>> phases_; ///< [block][phase]: known when it begins, or what it is one with
  std::vector<SeenBy> messages_;
  bool grows_ = true;
};

} // namespace plan
