// What has to come before a moment of a recorded run, and by which pieces of sync.
#pragma once

#include "passes/run/recorded_phases.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace mscclc::passes::prune {

/// Goes back from moments, from later times to earlier ones, no further than a question asks. The next question first
/// looks at what was found, then goes on where the last one stopped.
///
/// Lemma. All questions between two restarts together look once at each receipt, meeting and message. For a block is
/// looked at again only from the phase on that it was looked at before, and what is known of it only grows.
///
/// Lemma. A question need not go back beyond the time when the phase of its access ends: the access is known to be over
/// by a later phase of its block, or by a later launch of its rank, which begins no sooner. What was sent before that
/// time tells only of what was before it, too. A port's put is the exception: a wait can show that the put is over
/// while its phase still goes on.
///
/// What a block sends tells of what was over when the sending phase began, and of what the sending thread itself has
/// waited for; what it receives counts from the next phase on.
class BackwardSearch {
public:
  BackwardSearch(const RunRecord &record, const RecordedPhases &phases);

  /// Forgets what was found: needed where what is dropped has changed, too. `visible`: follows what makes visible what
  /// was written. `below`: what was found there counts as found here, as long as it is asked first, of the same.
  void restart(bool visible, const BackwardSearch *below = nullptr);

  /// It is known that `at` has begun.
  void reach(const Moment &at) { reach(at, none, none, none); }
  /// It is known what a thread has waited for in the phases that `at` is one with. `heard`: as in Access.
  void heardAt(const Moment &at, std::uint32_t heard) { heardAt(at, heard, none); }
  /// It is known that these of RunRecord::taken were taken.
  void takenWith(std::uint32_t first, std::uint32_t count) { takenWith(first, count, none); }

  /// True if it is known that `first` is over; `pieces` gets those by which it is. `queued`: of a put, it is enough
  /// that it is in the queue of its port.
  bool find(const Access &first, bool queued, std::vector<Piece> &pieces);

private:
  struct Step {
    Moment at; ///< phases of the block before the phase that this one is in are over
    std::uint32_t parent = none;
    Piece pieces[2] = {none, none}; ///< by which it is known
  };
  /// Phases of a block before `begin` are over; up to `explored`, all has been looked at.
  struct Reached {
    std::uint32_t run = 0, begin = 0, explored = 0, step = none;
  };
  /// So many launches of a rank have begun.
  struct Begun {
    std::uint32_t run = 0, count = 0, step = none;
  };
  /// What is to be looked at: all that is known at a step, receipts of its block, what came with a message, or members
  /// of a meeting.
  struct Turn {
    std::uint32_t time = 0, step = 0;
    std::uint32_t firstReceipt = none, endReceipts = 0;
    std::uint32_t message = none, meeting = none;
  };
  /// Signals through a port that were taken.
  struct ThroughPort {
    std::uint32_t message, step;
  };
  /// How much of what tells of a put a question has looked at.
  struct PutLooked {
    std::uint32_t begin = 0, signals = 0;
  };

  std::uint32_t addStep(const Moment &at, std::uint32_t parent, Piece a, Piece b);
  void addTurn(const Turn &turn);
  Reached reached(std::uint32_t block) const;
  /// Up to which phase `block` was reached by the walks below.
  std::uint32_t begunBelow(std::uint32_t block) const {
    std::uint32_t begin = 0;
    for (const BackwardSearch *walk = below_; walk; walk = walk->below_)
      begin = std::max(begin, walk->reached(block).begin);
    return begin;
  }
  void reach(const Moment &at, std::uint32_t parent, Piece a, Piece b);
  void meeting(std::uint32_t number, std::uint32_t parent, Piece a, Piece b);
  void received(std::uint32_t message, bool weak, std::uint32_t parent, Piece bound);
  void heardAt(const Moment &at, std::uint32_t heard, std::uint32_t parent);
  void takenWith(std::uint32_t first, std::uint32_t count, std::uint32_t parent);
  void explore(Turn turn, std::uint32_t leastTime);
  void exploreMessage(const Turn &turn);
  void exploreMeeting(const Turn &turn);
  void exploreReceipts(Turn turn, std::uint32_t leastTime);
  bool isOver(const Access &first, std::vector<Piece> &pieces) const;
  bool isPutOver(const Access &put, bool queued, PutLooked &looked, std::vector<Piece> &pieces) const;
  bool flushed(const Access &put, const Reached &reached, std::vector<Piece> &pieces) const;
  void follow(std::uint32_t step, std::vector<Piece> &pieces) const;

  const RunRecord &record_;
  const RecordedPhases &phases_;
  const BackwardSearch *below_ = nullptr;
  bool visible_ = false;
  std::uint32_t run_ = 0; ///< since the last restart; marks what was found in it
  std::vector<Step> steps_;
  std::vector<Turn> turns_; ///< a heap: the latest is first
  std::vector<Reached> blocks_;
  std::vector<Begun> ranks_;
  std::vector<std::uint32_t> meetings_; ///< the last run that came there
  std::vector<std::uint32_t> messages_;
  std::vector<std::uint32_t> heard_; ///< [message]: the last run that looked at what its waiting thread waited for
  std::unordered_map<std::uint32_t, std::vector<ThroughPort>> throughPorts_; ///< by channel
};

} // namespace mscclc::passes::prune
