// Happens-before: what each block knows of every other, and whether an access is ordered before another.
//
// Two orders are kept. *Control*: the earlier event is over when the later one begins; every edge carries it. *Data*:
// what the earlier event wrote can be seen by the later one; signals, semaphores and barriers carry it, relaxed signals
// and packets only as far as the launches before go. A read before a write needs the first, all else the second.
// Events are phases of blocks. What a wait brings counts from the block's next phase on.
#pragma once

#include "passes/proof_clock.h"
#include "passes/proof_index.h"

#include <span>

namespace mscclc::passes::proof {

enum class Need : std::uint8_t { Control, Data };

/// An access: by a block (its number) or by a port put (`putBit` and the put's number), in a phase of the block.
struct Record {
  static constexpr std::uint32_t putBit = 1u << 31;
  std::uint32_t agent = none;
  std::uint32_t phase = 0;
  /// Operand: index into the block's `chunks`; or userRead or userWrite.
  std::uint32_t ref = 0;

  static constexpr std::uint32_t userRead = none, userWrite = none - 1;
  bool exists() const { return agent != none; }
  bool isPut() const { return exists() && (agent & putBit) != 0; }
  bool isUser() const { return ref >= userWrite; }
};

/// What a signal, a release or a packet brings along.
struct Token {
  ClockId control = ClockPool::zero, data = ClockPool::zero;
  std::uint32_t agent = none; ///< sender; `none` for a semaphore's initial value
  std::uint32_t controlPhase = 0, dataPhase = 0;
  std::uint32_t putsUpTo = 0; ///< port puts of the channel that are complete with it
  bool packet = false;        ///< `control` holds more than what the agent knew in that phase
};

/// A point from which accesses are judged.
struct View {
  std::uint32_t block = none;
  std::uint32_t phase = 0;
  ClockId control = ClockPool::zero, data = ClockPool::zero;
  std::uint32_t putChannel = none; ///< the access is a port put on this channel
  const Token *also = nullptr;     ///< known besides
};

class Order {
public:
  Order(const ProgramIndex &index, std::uint64_t maxPhase);

  std::uint32_t phase(std::uint32_t block) const { return blocks_[block].phase; }
  View view(std::uint32_t block) const;
  /// The same from the block's next phase, with what it has waited for in this one.
  View nextView(std::uint32_t block) const;
  /// True if access `record` is ordered before the point. `write`: whether `record` wrote.
  bool before(const Record &record, bool write, const View &view, Need need) const {
    if (record.isPut()) [[unlikely]]
      return putBefore(record, write, view, need);
    return known(record.agent, record.phase, view, need);
  }
  bool known(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const {
    if (block == view.block)
      return phase < view.phase;
    return clocks_.get(need == Need::Data ? view.data : view.control, block) > phase ||
           (view.also && knownFrom(*view.also, block, phase, need));
  }

  /// A token of `block`; `relaxed`: it makes no data of this launch visible. Holds its clocks until `drop`.
  Token send(std::uint32_t block, bool relaxed);
  /// The token of packets that an operation of `block` writes after it saw `control`.
  Token sendPacket(std::uint32_t block, ClockId control);
  void drop(const Token &token);
  /// `block` has waited for `token`; effective from its next phase.
  void receive(std::uint32_t block, const Token &token, bool relaxed);
  /// Adds what `token` brings to clocks of the caller's own.
  void absorb(ClockId &control, ClockId &data, const Token &token, bool relaxed);
  /// `block` learns what clocks of an operation hold; effective from its next phase.
  void learn(std::uint32_t block, ClockId control, ClockId data);
  ClockId share(ClockId id) { return clocks_.share(id); }
  void release(ClockId id) { clocks_.release(id); }

  void endPhase(std::uint32_t block);
  /// Ends the phase of all of `blocks`; each then knows what any of them knew.
  void meet(std::span<const std::uint32_t> blocks);
  /// All blocks of a rank meet, as launches of one rank do.
  void meetRank(std::uint32_t rank);
  /// From here on `rank` is in its next launch.
  void beginLaunch(std::uint32_t rank);
  /// Launch (from 0) in which `block` was in `phase`.
  std::uint32_t launchOf(std::uint32_t block, std::uint32_t phase) const;

  /// Port puts: issue, the number covered by a signal or flush of `block` now, and what follows from them.
  std::uint32_t addPut(std::uint32_t channel, std::uint32_t block, std::uint32_t op);
  /// Puts of `channel` that a signal of `block` in its present phase comes after; with `own`, this one too.
  std::uint32_t putsCovered(std::uint32_t channel, std::uint32_t block, std::uint32_t own = none) const;
  void completed(std::uint32_t channel, std::uint32_t upTo, std::uint32_t waiter);
  void flushed(std::uint32_t channel, std::uint32_t upTo, std::uint32_t block);
  std::uint32_t blockOf(const Record &record) const {
    return record.isPut() ? puts_[record.agent & ~Record::putBit].block : record.agent;
  }
  std::uint32_t channelOfPut(const Record &record) const { return puts_[record.agent & ~Record::putBit].channel; }

  std::uint64_t numEdges() const { return edges_; }
  std::uint64_t numPhases() const;

private:
  struct BlockClock {
    std::uint32_t phase = 0;
    ClockId control = ClockPool::zero, data = ClockPool::zero;         ///< in effect
    ClockId nextControl = ClockPool::zero, nextData = ClockPool::zero; ///< from the next phase on
  };
  struct Put {
    std::uint32_t channel, number; ///< n-th put of its channel
    std::uint32_t block, phase, op;
  };
  struct Done {
    std::uint32_t upTo, block, phase;
  };
  struct PortState {
    std::vector<std::uint32_t> puts; ///< into puts_
    std::vector<Done> completed, flushed;
  };
  bool knownFrom(const Token &token, std::uint32_t block, std::uint32_t phase, Need need) const {
    const bool data = need == Need::Data;
    return (block == token.agent && phase < (data ? token.dataPhase : token.controlPhase)) ||
           clocks_.get(data ? token.data : token.control, block) > phase;
  }
  bool putBefore(const Record &record, bool write, const View &view, Need need) const;
  void advance(BlockClock &clock);

  const ProgramIndex &index_;
  ClockPool clocks_;
  std::vector<BlockClock> blocks_;
  std::vector<ClockId> launchData_;                      // [rank], of the present launch
  std::vector<std::uint32_t> launchPhase_;               // [block], of the present launch
  std::vector<std::vector<std::uint32_t>> launchPhases_; // [launch][block]
  std::vector<std::uint32_t> numLaunches_;               // [rank]
  std::vector<Put> puts_;
  std::vector<PortState> ports_; // [channel], empty without puts
  PortState noPort_;
  std::vector<std::uint32_t> scratch_;
  std::uint64_t edges_ = 0;
};

} // namespace mscclc::passes::proof
