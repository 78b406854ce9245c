// Happens-before: what each block knows of every other, and whether an access is ordered before another.
//
// Two orders are kept. *Control*: the earlier event is over when the later one begins; every edge carries it. *Data*:
// what the earlier event wrote can be seen by the later one; signals, semaphores and barriers carry it, relaxed signals
// and packets only as far as the launches before go. A read before a write needs the first, all else the second.
// Events are phases of blocks. What a wait brings counts from the block's next phase on.
//
// Nothing is computed ahead: a block keeps a log of what it received, 20 bytes an edge, and an entry says how much of
// its sender's log came along. Almost every question is answered by the entry that the asking block has from the very
// block it asks about. Only where knowledge came through third parties are logs followed back, to the launch in which
// the event lies and no further; what that finds is kept, as the next questions tend to be about the same block. Where
// following takes more than it should, `Tangled` is thrown: then vector clocks are the better way (ClockOrder).
//
// Data that goes from hand to hand, as around a ring, needs no following: a phase that reads what an earlier one wrote,
// in order, is behind it on a chain, and of two phases on one chain the first is ordered before the second.
#pragma once

#include "passes/verify/clock_order.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace mscclc::passes::proof {

/// Knowledge comes through long chains of third parties.
struct Tangled {};

class Order {
public:
  /// `clocks`: keep vector clocks of up to `maxPhase` phases.
  Order(const ProgramIndex &index, bool clocks, std::uint64_t maxPhase);

  View view(std::uint32_t block) const { return {block, blocks_[block].phase, blocks_[block].length}; }
  /// The same from the block's next phase, with what it has waited for in this one.
  View nextView(std::uint32_t block) const {
    return {block, blocks_[block].phase + 1, static_cast<std::uint32_t>(logs_[block].size()), none, true};
  }
  /// True if access `record` is ordered before the point. `write`: whether `record` wrote.
  bool before(const Record &record, bool write, const View &view, Need need) const {
    if (record.isPut()) [[unlikely]]
      return putBefore(record, write, view, need);
    return known(record.agent, record.phase, view, need);
  }
  bool known(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const {
    if (block == view.block)
      return phase < view.phase;
    if (clocks_)
      return clocks_->known(block, phase, view, need);
    return knownDirectly(block, phase, view, need) || onChain(block, phase, view) ||
           (toldAnybody(block, phase, view) && search(block, phase, view, need));
  }
  /// The same, but false where it takes more than a look.
  bool knownAtOnce(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const {
    return clocks_ ? known(block, phase, view, need) : knownDirectly(block, phase, view, need);
  }

  /// The block of `view` reads in its phase what `write` wrote, ordered before it as data.
  void readBehind(const Record &write, const View &view);

  /// A token of `block`; `relaxed`: it makes no data of this launch visible. `besides`: what the sending thread or
  /// operation knows more than its block. Held until `drop`.
  Token send(std::uint32_t block, bool relaxed, std::span<const Token> besides = {}) {
    blocks_[block].toldPhase = blocks_[block].phase;
    Token token{block, blocks_[block].phase, blocks_[block].length, relaxed};
    if (clocks_)
      clocks_->send(token, besides);
    else if (!besides.empty())
      keepBesides(token, besides);
    return token;
  }
  /// Another holder of `token`, to be dropped as well.
  Token share(const Token &token) { return clocks_ ? clocks_->share(token) : token; }
  void drop(const Token &token) {
    if (clocks_)
      clocks_->drop(token);
  }
  /// `block` has waited for `token`; effective from its next phase.
  void receive(std::uint32_t block, const Token &token, bool relaxed);

  void endPhase(std::uint32_t block);
  /// Ends the phase of all of `blocks`; each then knows what any of them knew.
  void barrier(std::span<const std::uint32_t> blocks);
  /// All blocks of a rank meet, as launches of one rank do.
  void meetRank(std::uint32_t rank);
  /// From here on all ranks are in their next launch.
  void beginLaunch();
  /// Prepares for the questions of `rank`'s user behind a launch; the view holds until the next call.
  View gather(std::uint32_t rank);
  /// True if every rank has heard from every other in the present launch, all blocks of which have ended: so what was
  /// done in the launches before it is known to all. Not where there are port puts, which may end later.
  bool allToldAll() const;
  /// Launch (from 0) in which `block` was in `phase`.
  std::uint32_t launchOf(std::uint32_t block, std::uint32_t phase) const {
    return std::max(launchesBegun(block, phase), 1u) - 1;
  }

  /// Port puts: issue by a thread, what is covered by a signal or flush from there, and what follows from that.
  std::uint32_t addPut(std::uint32_t channel, const View &issuer, std::uint32_t op);
  /// Puts of `channel` that a signal or flush from `from` comes after: those of its own thread, and those that are
  /// known to be issued. First of a list of covers that goes on with `more`, or `none`.
  std::uint32_t putsCovered(std::uint32_t channel, const View &from, std::uint32_t more = none);
  void completed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread);
  /// The same by hand of another thread, which had waited and told so in one phase.
  void relayed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread);
  /// Both lists of covers as one.
  std::uint32_t joinCovers(std::uint32_t covers, std::uint32_t more);
  void flushed(std::uint32_t covers, std::uint32_t block);
  std::uint32_t blockOf(const Record &record) const {
    return record.isPut() ? puts_[record.agent & ~Record::putBit].block : record.agent;
  }
  std::uint32_t channelOfPut(const Record &record) const { return puts_[record.agent & ~Record::putBit].channel; }

  std::uint64_t numEdges() const { return edges_; }
  std::uint64_t numPhases() const;

private:
  struct BlockState {
    std::uint32_t phase = 0;
    std::uint32_t length = 0;      ///< of its log, in effect
    std::uint32_t launchPhase = 0; ///< in which the present launch began
    std::uint32_t launchLength = 0;
    std::uint32_t meetPhase = 0;      ///< phases before this one are known to the whole rank
    std::uint32_t meetLength = 0;     ///< as are these entries of its log
    std::uint32_t toldPhase = 0;      ///< others can know of phases before this one, in the present launch
    mutable std::uint32_t cursor = 0; ///< entry that answered last
  };
  /// A block where a launch began.
  struct Begin {
    std::uint32_t phase, length;
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
  /// What a block received.
  struct Entry : Heard {
    std::uint32_t previous; ///< place behind the last entry before this one that tells more than this one does
    Entry(const Heard &heard, std::uint32_t previous) : Heard(heard), previous(previous) {}
  };
  struct Mark {
    std::uint32_t round = 0, length = 0;
  };
  struct Open {
    std::uint32_t agent, from, to;
  };
  /// Place of a phase on a chain.
  struct Link {
    std::uint32_t chain = none, place = 0;
  };
  /// What searches found for a block, by Need: the newest few.
  struct Facts {
    static constexpr std::uint32_t most = 4;
    std::array<Heard, most> tokens[2];
    std::uint32_t next[2] = {0, 0};
  };
  /// Whether a token tells of a phase of `block` in the launch before `begun`, wherever it comes from.
  bool tellsOf(const Heard &token, std::uint32_t block, std::uint32_t phase, std::uint32_t begun, Need need) const {
    if (token.agent == block && token.phase > phase && (need == Need::Control || !token.weak))
      return true;
    return begun < begins_.size() && token.agent < index_.numBlocks() &&
           index_.rankOf(token.agent) == index_.rankOf(block) && token.phase >= begins_[begun][token.agent].phase;
  }
  std::uint32_t launchesBegun(std::uint32_t block, std::uint32_t phase) const;
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
  bool knownDirectly(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const;
  bool search(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const;
  void keepBesides(Token &token, std::span<const Token> besides);
  static void addDone(std::vector<Done> &events, const Done &event);
  bool putBefore(const Record &record, bool write, const View &view, Need need) const;
  void meet(std::span<const std::uint32_t> blocks);
  void log(std::uint32_t block, const Heard &heard);
  std::uint32_t newNode() {
    nodes_.push_back(static_cast<std::uint32_t>(entries_.size()));
    return static_cast<std::uint32_t>(index_.numBlocks() + nodes_.size() - 1);
  }
  std::span<const Heard> nodeLog(std::uint32_t node) const {
    const std::uint32_t n = node - index_.numBlocks();
    return {entries_.data() + nodes_[n], entries_.data() + (n + 1 < nodes_.size() ? nodes_[n + 1] : entries_.size())};
  }

  const ProgramIndex &index_;
  std::vector<BlockState> blocks_;
  std::vector<std::vector<Entry>> logs_;   // [block]
  std::vector<std::uint32_t> nodes_;       // first of its entries_: meetings, and operations that took packets
  std::vector<Heard> entries_;             // of nodes
  std::vector<std::vector<Begin>> begins_; // [launch][block]
  std::vector<std::uint32_t> launchNodes_; // [rank]: its last meeting
  std::vector<std::vector<std::uint32_t>> beginNodes_; // [launch][rank]: the meeting with which it began, or `none`
  std::vector<std::vector<bool>> told_;                // [launch]: rank × rank: in it, the first heard from the second
  std::vector<std::uint32_t> gathered_[2];             // [Need][block]: phases that the gathered rank was told of
  std::vector<std::uint32_t> gatheredFrom_;            // blocks with an entry in gathered_
  std::vector<std::vector<Link>> links_;               // [block][phase]
  std::vector<std::uint32_t> chainLengths_;            // [chain]
  std::vector<Put> puts_;
  std::vector<std::uint32_t> firstLane_; // [channel], empty without puts
  std::vector<Lane> lanes_;
  std::vector<Cover> covers_;
  std::uint64_t edges_ = 0;
  std::optional<ClockOrder> clocks_;
  std::vector<std::uint32_t> phases_; // for clocks_

  mutable std::vector<Facts> facts_; // [block], empty until there is one
  mutable std::vector<Mark> marks_;  // [agent]
  mutable std::uint32_t round_ = 0;
  mutable std::uint64_t steps_ = 0; // of all searches
  mutable std::vector<Open> near_, far_;
};

} // namespace mscclc::passes::proof
