// The data types for questions about the order of events, and for messages that carry the order between blocks.
#pragma once

#include "ir/program_index.h"

#include <span>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// The relations of an earlier event to a later one. Each is stronger than the one before it.
/// - HappensBefore: the earlier event is over when the later one begins. Every message carries this. It is enough for
///   packets that are read before a later launch overwrites them, because all accesses to packets are strong.
/// - Released: a write of the later event does not change what the earlier event has read. Signals carry this, and
///   relaxed signals too: a kernel's relaxed signal releases if reads of its launch precede it.
/// - Visibility: the writes of the earlier event are also visible. All pairs need this, except a read before a write.
enum class Relation : std::uint8_t { HappensBefore, Released, Visibility };

/// The kinds of messages. Each kind carries less than the one before it. Releases of semaphores and barriers count as
/// signals.
/// - Signal: carries every relation.
/// - RelaxedSignal: does not make visible what its sender wrote in the same launch. For everything before that launch
///   it carries every relation, because the end of a kernel is a fence of all its threads.
/// - Packet: a relaxed store, which a relaxed load takes. The end of the sender's last kernel releases everything
///   earlier, but the taker acquires nothing before its own kernel ends. So packets order only accesses to packets, and
///   reads from which their data was computed (verify/packets.cpp). From the taker's next launch on, its rank knows
///   everything earlier than the sender's launch (Order::meetRank).
enum class MessageKind : std::uint32_t { Signal, RelaxedSignal, Packet };

/// True if a message carries `relation` for everything that its sender did in the same launch.
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

/// True if a message carries `relation` for everything before its sender's launch.
constexpr bool carriesEarlier(MessageKind kind, Relation relation) {
  return kind != MessageKind::Packet || carries(kind, relation);
}

/// Returns the kind of message that a signal or a wait has.
constexpr MessageKind kindOf(bool isRelaxed) {
  return isRelaxed ? MessageKind::RelaxedSignal : MessageKind::Signal;
}

/// An access, as Order knows it. Its agent is a block (its number) or a port put (`putBit` and the number of the put).
/// It is made in a phase of the block.
struct Epoch {
  static constexpr std::uint32_t putBit = 1u << 31;
  std::uint32_t agent = none;
  std::uint32_t phase = 0;
  /// The operand, as an index into the block's `chunks`. For a rank's user it is userRead or userWrite.
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
  std::uint32_t phase = 0;    ///< the agent's phases before this one are over
  std::uint32_t length : 30;  ///< number of entries of the agent's log that are included
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
  std::uint32_t length = 0;        ///< number of entries of the block's log that are in effect
  std::uint32_t putChannel = none; ///< the access is a port put on this channel
  std::uint32_t thread = none;     ///< the thread whose view it is; `none`: any thread of the block
  bool next = false;               ///< includes knowledge that takes effect only in the block's next phase
  bool user = false;               ///< the view is that of a whole rank after the end of a launch: see Order::gather
  /// Additional knowledge, from the packets that were taken or from the thread's waits in this phase.
  std::span<const MessageClock> besides = {};
};

} // namespace mscclc::passes::proof
