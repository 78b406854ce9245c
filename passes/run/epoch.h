// The data types of questions about the order of events, and of the messages that carry the order between blocks.
#pragma once

#include "ir/program_index.h"

#include <span>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// The relation of an earlier event to a later one, each stronger than the one before it.
/// - HappensBefore: it is over when the later one begins. Every message carries that. It is enough where packets are
///   read before a later launch overwrites them, since all accesses to packets are strong.
/// - Released: a write of the later event does not change what the earlier event read. Signals carry that, relaxed ones
///   too: a kernel's relaxed signal releases if reads of its launch precede it.
/// - Visibility: its writes are also visible. All pairs but a read before a write need that.
enum class Relation : std::uint8_t { HappensBefore, Released, Visibility };

/// The kinds of messages, each carrying less. Releases of semaphores and barriers are signals.
/// - Signal: carries every relation.
/// - RelaxedSignal: does not make visible what its sender wrote in the same launch. It carries every relation for
///   everything before that launch, since the end of a kernel is a fence of all its threads.
/// - Packet: a relaxed store that a relaxed load takes. The end of the sender's last kernel releases what is earlier,
///   but the taker acquires nothing before its own kernel ends. So packets order only accesses to packets, and reads
///   that their data was computed from (verify/packets.cpp). From the taker's next launch on, its rank knows all that
///   is earlier than the sender's launch (Order::meetRank).
enum class MessageKind : std::uint32_t { Signal, RelaxedSignal, Packet };

/// True if a message carries `relation` for what its sender did in the same launch.
constexpr bool carries(MessageKind kind, Relation relation) {
  switch (kind) {
  case MessageKind::Signal:
    return true;
  case MessageKind::RelaxedSignal:
    return relation != Relation::Visibility;
  case MessageKind::Packet:
    break;
  }
  return relation == Relation::HappensBefore;
}

/// True if a message carries `relation` for what is earlier than its sender's launch.
constexpr bool carriesEarlier(MessageKind kind, Relation relation) {
  return kind != MessageKind::Packet || carries(kind, relation);
}

/// Returns the kind of a signal, or of what a wait takes.
constexpr MessageKind kindOf(bool isRelaxed) {
  return isRelaxed ? MessageKind::RelaxedSignal : MessageKind::Signal;
}

/// An access as order sees it. It is made by a block (its number) or by a port put (`putBit` and the number of the
/// put), in a phase of the block.
struct Epoch {
  static constexpr std::uint32_t putBit = 1u << 31;
  std::uint32_t agent = none;
  std::uint32_t phase = 0;
  /// The operand, as an index into the block's `chunks`; or userRead or userWrite.
  std::uint32_t ref = 0;

  static constexpr std::uint32_t userRead = none, userWrite = none - 1;
  bool exists() const { return agent != none; }
  bool isPut() const { return exists() && (agent & putBit) != 0; }
  bool isUser() const { return ref >= userWrite; }
};

/// The knowledge that a signal, a release, a packet or a meeting carries: everything that its sender knew. It is stored
/// as a place in the sender's log, instead of one entry for each block.
struct MessageClock {
  std::uint32_t agent = none; ///< a block, or a node of Logs; `none` for the initial value of a semaphore
  std::uint32_t phase = 0;    ///< phases of the agent before this one are over
  std::uint32_t length : 30;  ///< entries of the agent's log that are included
  MessageKind kind : 2;
  std::uint32_t besides = none; ///< a node with the sender's knowledge beyond that of its block

  MessageClock() : length(0), kind(MessageKind::Signal) {}
  MessageClock(std::uint32_t agent, std::uint32_t phase, std::uint32_t length, MessageKind kind = MessageKind::Signal)
      : agent(agent), phase(phase), length(length & 0x3fffffffu), kind(kind) {}
  friend bool operator==(const MessageClock &, const MessageClock &) = default;
};

/// A point in the run, from which earlier accesses are judged.
struct View {
  std::uint32_t block = none;
  std::uint32_t phase = 0;
  std::uint32_t length = 0;        ///< entries of the block's log that are in effect
  std::uint32_t putChannel = none; ///< the access is a port put on this channel
  std::uint32_t thread = none;     ///< the only thread of the block that asks; `none`: any thread
  bool next = false;               ///< includes what takes effect only in the block's next phase
  bool user = false;               ///< it is the view of a whole rank after the end of a launch: see Order::gather
  /// Additional knowledge: of the packets that were taken, or of the thread's waits in this phase.
  std::span<const MessageClock> besides = {};
};

} // namespace mscclc::passes::proof
