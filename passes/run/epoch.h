// What the order of events is asked about, and what carries it from block to block.
#pragma once

#include "ir/program_index.h"

#include <span>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// What an earlier event is to a later one. HappensBefore: it is over when the later one begins; every edge carries
/// that. Visibility: what it wrote can be seen, too; signals, semaphores and barriers carry that, relaxed signals and
/// packets only as far as the launches before go. A read before a write needs the first, all else the second.
enum class Relation : std::uint8_t { HappensBefore, Visibility };

/// An access as order knows it: by a block (its number) or by a port put (`putBit` and the put's number), in a phase of
/// the block.
struct Epoch {
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

/// What a signal, a release, a packet or a meeting brings along: all that its sender knew, told as a place in the
/// sender's log instead of one entry a block.
struct MessageClock {
  std::uint32_t agent = none;   ///< a block, or a node of Logs; `none` for a semaphore's initial value
  std::uint32_t phase = 0;      ///< phases of the agent before this one are over
  std::uint32_t length : 31;    ///< entries of the agent's log that come along
  std::uint32_t weak : 1;       ///< makes visible what was written in the launches before only
  std::uint32_t besides = none; ///< a node with what its sender, a thread or an operation, knew more than its block

  MessageClock() : length(0), weak(0) {}
  MessageClock(std::uint32_t agent, std::uint32_t phase, std::uint32_t length, bool weak)
      : agent(agent), phase(phase), length(length & ~Epoch::putBit), weak(weak) {}
  friend bool operator==(const MessageClock &, const MessageClock &) = default;
};

/// A point from which accesses are judged.
struct View {
  std::uint32_t block = none;
  std::uint32_t phase = 0;
  std::uint32_t length = 0;        ///< entries of the block's log that are in effect
  std::uint32_t putChannel = none; ///< the access is a port put on this channel
  std::uint32_t thread = none;     ///< the one thread of the block that looks; `none`: any of them
  bool next = false;               ///< with what takes effect in the block's next phase only
  bool user = false;               ///< after the end of a launch of the whole rank: see Order::gather
  std::span<const MessageClock> besides =
      {}; ///< known besides: by packets taken, or by the thread's waits in the phase
};

} // namespace mscclc::passes::proof
