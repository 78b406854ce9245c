// Happens-before and visibility: finds out whether an access is ordered before another one.
//
// Events are phases of blocks. A block *knows* of a phase if it has received a message that was sent, directly or by
// way of others, after that phase. What a wait receives is known from the block's next phase on.
//
// Nothing is computed in advance. A block keeps a log of the message clocks that it received (logs.h). Nearly every
// question about a block is answered by an entry that came directly from this block. Only if the knowledge came by way
// of other blocks, logs are followed (order_search.h), each edge once for a block that asks. Example: A signals B, and
// B signals C. "Does C know of A's phase?" finds no entry of A in the log of C, so the search follows the entry of B
// into the log of B.
//
// Data that is passed on from block to block, as around a ring, needs no search. If a phase reads what an earlier phase
// wrote, both are on a *chain*. The phases on one chain are ordered one after the other.
#pragma once

#include "passes/run/order_search.h"

#include <algorithm>
#include <span>

namespace mscclc::passes::proof {

/// Receives every event that orders others, and every answer. So a test can compare each answer with plain
/// reachability. Blocks, phases and launches have the numbers of Order.
class OrderWatcher {
public:
  virtual ~OrderWatcher() = default;
  /// A new order of the blocks of `index` begins.
  virtual void started(const ProgramIndex &index) = 0;
  /// `clock` was sent in the current phase of its agent. `besides`: the sender's additional knowledge beyond that of
  /// its block.
  virtual void sent(const MessageClock &clock, std::span<const MessageClock> besides) = 0;
  /// From its next phase on, `block` knows the contents of `clock`.
  virtual void received(std::uint32_t block, const MessageClock &clock) = 0;
  virtual void endedPhase(std::uint32_t block) = 0;
  /// From its next phase on, each of `blocks` has the knowledge of all of them. Their phases end after this call.
  virtual void met(std::span<const std::uint32_t> blocks) = 0;
  virtual void beganLaunch() = 0;
  /// Order answered whether `phase` of `block` is ordered before `view`.
  virtual void answered(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation, bool before) = 0;
};

/// Records the messages of a run, and answers questions about its order at any time during the run.
class Order {
public:
  /// `watcher`: may be null.
  Order(const ProgramIndex &index, OrderWatcher *watcher);

  View view(std::uint32_t block) const { return {block, blocks_[block].phase, blocks_[block].length}; }
  /// Returns the view at the block's next phase, including everything that the block has waited for in this phase.
  View nextView(std::uint32_t block) const {
    return {block, blocks_[block].phase + 1, logs_.length(block), none, none, true};
  }
  /// True if access `epoch` is ordered before the view. `write`: the access is a write.
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
  /// True only if known() is true. Returns false if the answer needs a search.
  bool knownAtOnce(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation) {
    return knownDirectly(block, phase, view, relation);
  }
  /// True if all blocks of `rank` have known since the beginning of the current launch that access `epoch` is over, or
  /// see its write. Returns false if that cannot be decided quickly. `write`: the access is a write.
  bool knownAtBegin(const Epoch &epoch, bool write, std::uint32_t rank, Relation relation) {
    return epoch.isPut() ? putKnownAtBegin(epoch, write, rank, relation)
                         : phaseKnownAtBegin(epoch.agent, epoch.phase, rank, relation);
  }

  /// Notes that the block of `view` reads, in its phase, the data of `write`, which is visible to it.
  void readAfter(const Epoch &write, const View &view);

  /// Returns a message clock of `block`. `besides`: the additional knowledge of the sending thread or operation beyond
  /// that of its block. `node`: a node that already contains `besides`; `none`: makes a node.
  MessageClock send(std::uint32_t block, MessageKind kind, std::span<const MessageClock> besides = {},
                    std::uint32_t node = none) {
    blocks_[block].toldPhase = blocks_[block].phase;
    MessageClock clock{block, blocks_[block].phase, blocks_[block].length, kind};
    if (!besides.empty())
      clock.besides = node != none ? node : nodeOf(besides);
    if (watcher_) [[unlikely]]
      watcher_->sent(clock, besides);
    return clock;
  }
  /// Makes a node that contains all of `clocks`, and also node `earlier` unless it is `none`.
  std::uint32_t nodeOf(std::span<const MessageClock> clocks, std::uint32_t earlier = none);
  /// Notes that `block` has waited for `clock`, which takes effect in the block's next phase. `kind`: the kind of the
  /// wait. If one end of a channel is relaxed, its messages count as relaxed.
  void receive(std::uint32_t block, const MessageClock &clock, MessageKind kind);

  void endPhase(std::uint32_t block);
  /// Ends the phase of all of `blocks`. Afterwards each has the knowledge of all.
  void barrier(std::span<const std::uint32_t> blocks);
  /// Lets all blocks of a rank meet, as they do between launches.
  void meetRank(std::uint32_t rank);
  /// Begins the next launch of all ranks.
  void beginLaunch();
  /// Returns the view of the user of `rank` after a launch. It is valid until the next call.
  View gather(std::uint32_t rank);
  /// True if each rank has received a message from each other rank in the current launch. Must be called when all
  /// blocks have ended. Then every rank knows everything about earlier launches. False if there are port puts, which
  /// may end later.
  bool allToldAll() const;
  /// Returns the launch, from 0 on, in which `block` was in `phase`.
  std::uint32_t launchOf(std::uint32_t block, std::uint32_t phase) const {
    return std::max(logs_.launchesBegun(block, phase), 1u) - 1;
  }

  // The functions for port puts are in order_puts.cpp.

  /// Adds a put that a thread issues, and returns its number. Later signals and flushes of the channel cover the put.
  std::uint32_t addPut(std::uint32_t channel, const View &issuer, std::uint32_t op);
  /// Finds the puts of `channel` that a signal or flush at `from` covers: earlier puts of its own thread, and puts that
  /// happen before it. Returns a list of these covers that continues with the list `more`; `none` if it is empty.
  std::uint32_t putsCovered(std::uint32_t channel, const View &from, std::uint32_t more = none);
  void completed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread);
  /// Notes that thread `thread` of `waiter` has received `covers` indirectly: from a thread that waited for them and
  /// signalled in the same phase.
  void relayed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread);
  /// Returns a list that contains both lists of covers. It names no lane twice if `more` names none twice.
  std::uint32_t joinCovers(std::uint32_t covers, std::uint32_t more);
  void flushed(std::uint32_t covers, std::uint32_t block);
  std::uint32_t blockOf(const Epoch &epoch) const {
    return epoch.isPut() ? puts_[epoch.agent & ~Epoch::putBit].block : epoch.agent;
  }

  std::uint64_t numEdges() const { return edges_; }
  std::uint64_t numPhases() const;

private:
  struct BlockState {
    std::uint32_t phase = 0;
    std::uint32_t length = 0;      ///< number of entries of its log that are in effect
    std::uint32_t launchPhase = 0; ///< the phase in which the current launch began
    std::uint32_t launchLength = 0;
    std::uint32_t meetPhase = 0;  ///< the whole rank knows of the phases before this one
    std::uint32_t meetLength = 0; ///< number of entries of its log that the whole rank knows
    std::uint32_t toldPhase = 0;  ///< in the current launch, others can only know of phases before this one
    std::uint32_t cursor = 0;     ///< the entry that answered the last question
    std::uint64_t looked = 0;     ///< number of entries of its log that questions have read
  };
  struct Put {
    std::uint32_t channel, lane, number; ///< `number`: its position among the puts of its lane
    std::uint32_t block, thread, phase, op;
  };
  struct Done {
    std::uint32_t upTo, block, phase;
    std::uint32_t thread = none; ///< the thread that saw the completion, and may use it in the same phase
  };
  /// The puts of one thread on one channel. The order between them is certain. The order with puts of other threads is
  /// not.
  struct Lane {
    std::uint32_t block, thread, next; ///< next: another lane of the channel
    std::vector<std::uint32_t> puts;   ///< indices into puts_
    std::vector<Done> completed, flushed;
    std::vector<Done> relayed;    ///< not sorted
    std::vector<Done> ownFlushed; ///< flushes by the lane's own block, which other blocks may not know of
  };
  /// The first `upTo` puts of a lane.
  struct Cover {
    std::uint32_t lane, upTo, next;
  };
  /// The place of a phase on a chain.
  struct Link {
    std::uint32_t chain = none, place = 0;
  };
  bool onChain(std::uint32_t block, std::uint32_t phase, const View &view) const {
    const auto &from = links_[block], &to = links_[view.block];
    return phase < from.size() && view.phase < to.size() && from[phase].chain != none &&
           from[phase].chain == to[view.phase].chain && from[phase].place < to[view.phase].place;
  }
  /// False if no other rank can know of a phase, because its block has sent nothing since.
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
  void acquirePackets(std::uint32_t rank);

  const ProgramIndex &index_;
  OrderWatcher *watcher_;
  Logs logs_;
  OrderSearch search_;
  std::vector<BlockState> blocks_;
  std::vector<std::uint32_t> lastMeetings_;             // [rank]: nodes
  std::vector<std::vector<std::uint32_t>> packetsFrom_; // [rank]: blocks that sent the packets of its current launch
  /// [launch][rank]: the ranks from which it received a message in that launch, sorted.
  std::vector<std::vector<std::vector<std::uint32_t>>> heardFrom_;
  std::vector<std::uint32_t> gathered_[3];  // [Relation][block]: phases that the gathered rank knows to be over
  std::vector<std::uint32_t> gatheredFrom_; // blocks with an entry in gathered_
  std::vector<std::vector<Link>> links_;    // [block][phase]
  std::vector<std::uint32_t> chainLengths_; // [chain]
  std::vector<Put> puts_;
  std::vector<std::uint32_t> firstLane_; // [channel]; empty if there are no puts
  std::vector<Lane> lanes_;
  std::vector<Cover> covers_;
  std::vector<std::uint32_t> news_; ///< [lane]: number of puts that only the new list covers; used by joinCovers
  std::uint64_t edges_ = 0;
};

} // namespace mscclc::passes::proof
