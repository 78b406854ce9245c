// Searches back from a moment in a recorded run for earlier accesses, and for the sync points that order them.
#pragma once

#include "passes/run/recorded_phases.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace mscclc::passes::prune {

/// Walks back from moments, from later times to earlier ones, only as far as a question needs. The next question first
/// looks at the earlier results, and then continues from there. Something is *known* at a moment if it happens before
/// the moment by sync that is not dropped.
///
/// Lemma. All questions between two restarts together visit each receipt, meeting and message once. The reason is that
/// a block is visited again only from the phase of its earlier visit on, and the knowledge about it only grows.
///
/// Lemma. A question need not go back beyond the end of the phase that makes its access. The access is known to be over
/// by a later phase of its block, or by a later launch of its rank, and both begin no earlier. Messages from before
/// that time only carry earlier knowledge. A port's put is the exception: a wait can show that the put is over while
/// its phase is still in progress.
///
/// A message carries the knowledge with which the sending phase began, and the knowledge from the sending thread's own
/// waits. The receiving block has this knowledge from its next phase on.
class BackwardSearch {
public:
  BackwardSearch(const RunRecord &record, const RecordedPhases &phases);

  /// Forgets all results. Must be called when other sync has been dropped. `relation`: follows only messages that carry
  /// it. `below`: another search, whose results count here too. Each question must go to `below` first.
  void restart(Relation relation, const BackwardSearch *below = nullptr);

  /// Declares that `at` is known to have begun.
  void reach(const Moment &at) { reach(at, none, none, none); }
  /// Declares that the waits of a thread are known, in all phases that are merged with the phase of `at`. `heard`: see
  /// Access::heard.
  void heardAt(const Moment &at, std::uint32_t heard) { heardAt(at, heard, none); }
  /// Declares that `count` entries of RunRecord::taken, from `first` on, are known to be taken.
  void takenWith(std::uint32_t first, std::uint32_t count) { takenWith(first, count, none); }

  /// True if `first` is known to be over. Adds the points that order it to `points`. `queued`: for a put, it is
  /// sufficient that it is in the queue of its port.
  bool find(const Access &first, bool queued, std::vector<SyncPoint> &points);

private:
  struct Step {
    Moment at; ///< the block's phases before the phase of `at` are over
    std::uint32_t parent = none;
    SyncPoint points[2] = {none, none}; ///< the sync points by which this is known
  };
  /// The part of a block that is reached. Phases before `begin` are over. Knowledge up to phase `explored` was visited.
  struct Reached {
    std::uint32_t run = 0, begin = 0, explored = 0, step = none;
  };
  /// The number of launches of a rank that are known to have begun.
  struct Begun {
    std::uint32_t run = 0, count = 0, step = none;
  };
  /// A part of the search that is still to be visited: the knowledge of a step, receipts of its block, the contents of
  /// a message, or the members of a meeting.
  struct Turn {
    std::uint32_t time = 0, step = 0;
    std::uint32_t firstReceipt = none, endReceipts = 0;
    std::uint32_t message = none, meeting = none;
  };
  /// A signal through a port that a block has waited for.
  struct ThroughPort {
    std::uint32_t message, step;
  };
  /// The progress of a question about a put.
  struct PutLooked {
    std::uint32_t begin = 0, signals = 0;
  };

  std::uint32_t addStep(const Moment &at, std::uint32_t parent, SyncPoint a, SyncPoint b);
  void addTurn(const Turn &turn);
  Reached reached(std::uint32_t block) const;
  /// Returns the phase up to which the searches below this one have reached `block`.
  std::uint32_t begunBelow(std::uint32_t block) const {
    std::uint32_t begin = 0;
    for (const BackwardSearch *walk = below_; walk; walk = walk->below_)
      begin = std::max(begin, walk->reached(block).begin);
    return begin;
  }
  void reach(const Moment &at, std::uint32_t parent, SyncPoint a, SyncPoint b);
  void meeting(std::uint32_t number, std::uint32_t parent, SyncPoint a, SyncPoint b);
  void received(std::uint32_t message, MessageKind kind, std::uint32_t parent, SyncPoint bound);
  void heardAt(const Moment &at, std::uint32_t heard, std::uint32_t parent);
  void takenWith(std::uint32_t first, std::uint32_t count, std::uint32_t parent);
  void explore(Turn turn, std::uint32_t leastTime);
  void exploreMessage(const Turn &turn);
  void exploreMeeting(const Turn &turn);
  void exploreReceipts(Turn turn, std::uint32_t leastTime);
  bool isOver(const Access &first, std::vector<SyncPoint> &points) const;
  bool isPutOver(const Access &put, bool queued, PutLooked &looked, std::vector<SyncPoint> &points) const;
  bool flushed(const Access &put, const Reached &reached, std::vector<SyncPoint> &points) const;
  void follow(std::uint32_t step, std::vector<SyncPoint> &points) const;

  const RunRecord &record_;
  const RecordedPhases &phases_;
  const BackwardSearch *below_ = nullptr;
  Relation relation_ = Relation::HappensBefore;
  std::uint32_t run_ = 0; ///< number of restarts; marks the results since the last one
  std::vector<Step> steps_;
  std::vector<Turn> turns_; ///< a heap; the turn with the latest time is first
  std::vector<Reached> blocks_;
  std::vector<Begun> ranks_;
  std::vector<std::uint32_t> meetings_; ///< [meeting]: the value of run_ when it was last reached
  std::vector<std::uint32_t> messages_;
  /// [message]: the value of run_ when the waits of its receiving thread were last visited.
  std::vector<std::uint32_t> heard_;
  std::unordered_map<std::uint32_t, std::vector<ThroughPort>> throughPorts_; ///< by channel
};

} // namespace mscclc::passes::prune
