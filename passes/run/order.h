// Happens-before and visibility: what each block knows of every other, and whether an access is ordered before another.
//
// Events are phases of blocks. What a wait brings counts from the block's next phase on.
//
// Nothing is computed ahead: a block keeps a log of the message clocks that it received (logs.h). Almost every question
// is answered by the entry that the asking block has from the very block it asks about. Only where knowledge came
// through third parties are logs followed (order_search.h), each edge once for a block that asks.
//
// Data that goes from hand to hand, as around a ring, needs no following: a phase that reads what an earlier one wrote,
// in order, is after it on a chain, and of two phases on one chain the first is ordered before the second.
#pragma once

#include "passes/run/order_search.h"

#include <algorithm>
#include <span>

namespace mscclc::passes::proof {

/// Is told of every event that orders others, and of every answer: so that a test can compare each with plain
/// reachability. Blocks, phases and launches as Order counts them.
class OrderWatcher {
public:
  virtual ~OrderWatcher() = default;
  /// A new order of `numBlocks` blocks begins.
  virtual void started(const ProgramIndex &index) = 0;
  /// `clock` was sent in the present phase of its agent; `besides`: what its sender knew more than its block.
  virtual void sent(const MessageClock &clock, std::span<const MessageClock> besides) = 0;
  /// `block` knows what `clock` tells from its next phase on.
  virtual void received(std::uint32_t block, const MessageClock &clock) = 0;
  virtual void endedPhase(std::uint32_t block) = 0;
  /// Each of `blocks` knows from its next phase on what any of them knows; their phases end after this.
  virtual void met(std::span<const std::uint32_t> blocks) = 0;
  virtual void beganLaunch() = 0;
  /// `phase` of `block` was said to be ordered before `view`, or not to be.
  virtual void answered(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation, bool before) = 0;
};

class Order {
public:
  /// `watcher`: may be null.
  Order(const ProgramIndex &index, OrderWatcher *watcher);

  View view(std::uint32_t block) const { return {block, blocks_[block].phase, blocks_[block].length}; }
  /// The same from the block's next phase, with what it has waited for in this one.
  View nextView(std::uint32_t block) const {
    return {block, blocks_[block].phase + 1, logs_.length(block), none, none, true};
  }
  /// True if access `epoch` is ordered before the point. `write`: whether it wrote.
  bool before(const Epoch &epoch, bool write, const View &view, Relation relation) {
    if (epoch.isPut()) [[unlikely]]
      return putBefore(epoch, write, view, relation);
    return known(epoch.agent, epoch.phase, view, relation);
  }
  bool known(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation) {
    if (block == view.block)
      return phase < view.phase;
    const bool answer = knownDirectly(block, phase, view, relation) || onChain(block, phase, view) ||
                        (toldAnybody(block, phase, view) && search_.known(block, phase, view, relation));
    if (watcher_) [[unlikely]]
      watcher_->answered(block, phase, view, relation, answer);
    return answer;
  }
  /// The same, but false where it takes more than a look.
  bool knownAtOnce(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation) {
    return knownDirectly(block, phase, view, relation);
  }
  /// True if all blocks of `rank` know since the present launch began that access `epoch` is over, or see it. False
  /// where that takes a closer look. `write`: whether it wrote.
  bool knownAtBegin(const Epoch &epoch, bool write, std::uint32_t rank, Relation relation) {
    return epoch.isPut() ? putKnownAtBegin(epoch, write, rank, relation)
                         : phaseKnownAtBegin(epoch.agent, epoch.phase, rank, relation);
  }

  /// The block of `view` reads in its phase what `write` wrote, visible to it.
  void readAfter(const Epoch &write, const View &view);

  /// A message clock of `block`; `relaxed`: it makes nothing of this launch visible. `besides`: what the sending thread
  /// or operation knows more than its block. `node`: tells all of `besides` already; `none`: a node is made here.
  MessageClock send(std::uint32_t block, bool relaxed, std::span<const MessageClock> besides = {},
                    std::uint32_t node = none) {
    blocks_[block].toldPhase = blocks_[block].phase;
    MessageClock clock{block, blocks_[block].phase, blocks_[block].length, relaxed};
    if (!besides.empty())
      clock.besides = node != none ? node : nodeOf(besides);
    if (watcher_) [[unlikely]]
      watcher_->sent(clock, besides);
    return clock;
  }
  /// A node that tells all of `clocks`, and what node `earlier` tells, if there is one.
  std::uint32_t nodeOf(std::span<const MessageClock> clocks, std::uint32_t earlier = none);
  /// `block` has waited for `clock`; effective from its next phase.
  void receive(std::uint32_t block, const MessageClock &clock, bool relaxed);

  void endPhase(std::uint32_t block);
  /// Ends the phase of all of `blocks`; each then knows what any of them knew.
  void barrier(std::span<const std::uint32_t> blocks);
  /// All blocks of a rank meet, as launches of one rank do.
  void meetRank(std::uint32_t rank);
  /// From here on all ranks are in their next launch.
  void beginLaunch();
  /// Prepares for the questions of `rank`'s user after a launch; the view holds until the next call.
  View gather(std::uint32_t rank);
  /// True if every rank has heard from every other in the present launch, all blocks of which have ended: so what was
  /// done in the launches before it is known to all. Not where there are port puts, which may end later.
  bool allToldAll() const;
  /// Launch (from 0) in which `block` was in `phase`.
  std::uint32_t launchOf(std::uint32_t block, std::uint32_t phase) const {
    return std::max(logs_.launchesBegun(block, phase), 1u) - 1;
  }

  // order_puts.cpp
  /// Port puts: issue by a thread, what is covered by a signal or flush from there, and what follows from that.
  std::uint32_t addPut(std::uint32_t channel, const View &issuer, std::uint32_t op);
  /// Puts of `channel` that a signal or flush from `from` comes after: those of its own thread, and those that are
  /// known to be issued. First of a list of covers that goes on with `more`, or `none`.
  std::uint32_t putsCovered(std::uint32_t channel, const View &from, std::uint32_t more = none);
  void completed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread);
  /// The same by hand of another thread, which had waited and told so in one phase.
  void relayed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread);
  /// Both lists of covers as one, which names no lane twice if `more` does not.
  std::uint32_t joinCovers(std::uint32_t covers, std::uint32_t more);
  void flushed(std::uint32_t covers, std::uint32_t block);
  std::uint32_t blockOf(const Epoch &epoch) const {
    return epoch.isPut() ? puts_[epoch.agent & ~Epoch::putBit].block : epoch.agent;
  }
  std::uint32_t channelOfPut(const Epoch &epoch) const { return puts_[epoch.agent & ~Epoch::putBit].channel; }

  std::uint64_t numEdges() const { return edges_; }
  std::uint64_t numPhases() const;

private:
  struct BlockState {
    std::uint32_t phase = 0;
    std::uint32_t length = 0;      ///< of its log, in effect
    std::uint32_t launchPhase = 0; ///< in which the present launch began
    std::uint32_t launchLength = 0;
    std::uint32_t meetPhase = 0;  ///< phases before this one are known to the whole rank
    std::uint32_t meetLength = 0; ///< as are these entries of its log
    std::uint32_t toldPhase = 0;  ///< others can know of phases before this one, in the present launch
    std::uint32_t cursor = 0;     ///< entry that answered last
    std::uint64_t looked = 0;     ///< entries of its log that questions looked at
  };
  struct Put {
    std::uint32_t channel, lane, number; ///< n-th put of its lane
    std::uint32_t block, thread, phase, op;
  };
  struct Done {
    std::uint32_t upTo, block, phase;
    std::uint32_t thread = none; ///< that saw it, and goes on with it in the same phase
  };
  /// The puts of one thread on one channel: their order is certain, that of others' on the channel is not.
  struct Lane {
    std::uint32_t block, thread, next; ///< next: another lane of the channel
    std::vector<std::uint32_t> puts;   ///< into puts_
    std::vector<Done> completed, flushed;
    std::vector<Done> relayed;    ///< in no order
    std::vector<Done> ownFlushed; ///< by the lane's block, which another block's flush may be unknown to
  };
  /// The first `upTo` puts of a lane.
  struct Cover {
    std::uint32_t lane, upTo, next;
  };
  /// Place of a phase on a chain.
  struct Link {
    std::uint32_t chain = none, place = 0;
  };
  bool onChain(std::uint32_t block, std::uint32_t phase, const View &view) const {
    const auto &from = links_[block], &to = links_[view.block];
    return phase < from.size() && view.phase < to.size() && from[phase].chain != none &&
           from[phase].chain == to[view.phase].chain && from[phase].place < to[view.phase].place;
  }
  /// False if another rank cannot know of a phase, since its block has told nobody since.
  bool toldAnybody(std::uint32_t block, std::uint32_t phase, const View &view) const {
    const BlockState &b = blocks_[block];
    return phase < b.launchPhase || phase < b.toldPhase || index_.rankOf(block) == index_.rankOf(view.block);
  }
  bool knownDirectly(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation);
  static void addDone(std::vector<Done> &events, const Done &event);
  bool phaseKnownAtBegin(std::uint32_t block, std::uint32_t phase, std::uint32_t rank, Relation relation);
  bool putBefore(const Epoch &epoch, bool write, const View &view, Relation relation);
  bool putKnownAtBegin(const Epoch &epoch, bool write, std::uint32_t rank, Relation relation);
  template <typename Knows> bool isDone(const Put &put, bool write, const Knows &knows) const;
  void meet(std::span<const std::uint32_t> blocks);

  const ProgramIndex &index_;
  OrderWatcher *watcher_;
  Logs logs_;
  OrderSearch search_;
  std::vector<BlockState> blocks_;
  std::vector<std::uint32_t> lastMeetings_; // [rank]: nodes
  /// [launch][rank]: ranks that it heard from in it, in order.
  std::vector<std::vector<std::vector<std::uint32_t>>> heardFrom_;
  std::vector<std::uint32_t> gathered_[2];  // [Relation][block]: phases that the gathered rank was told of
  std::vector<std::uint32_t> gatheredFrom_; // blocks with an entry in gathered_
  std::vector<std::vector<Link>> links_;    // [block][phase]
  std::vector<std::uint32_t> chainLengths_; // [chain]
  std::vector<Put> puts_;
  std::vector<std::uint32_t> firstLane_; // [channel], empty without puts
  std::vector<Lane> lanes_;
  std::vector<Cover> covers_;
  std::vector<std::uint32_t> news_; ///< [lane], of joinCovers: puts that the one list covers and the other does not
  std::uint64_t edges_ = 0;
};

} // namespace mscclc::passes::proof
