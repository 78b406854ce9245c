// What the order of events is asked about, and what carries it.
#pragma once

#include "passes/verify/clock.h"
#include "passes/verify/index.h"

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

/// What `agent` knew when it sent something.
struct Heard {
  std::uint32_t agent = none;   ///< a block, or a node of Order; `none` for a semaphore's initial value
  std::uint32_t phase = 0;      ///< phases of the agent before this one are over
  std::uint32_t length : 31;    ///< entries of the agent's log that come along
  std::uint32_t weak : 1;       ///< brings data of the launches before only
  std::uint32_t besides = none; ///< a node with what its sender, a thread or an operation, knew more than its block

  Heard() : length(0), weak(0) {}
  Heard(std::uint32_t agent, std::uint32_t phase, std::uint32_t length, bool weak)
      : agent(agent), phase(phase), length(length & ~Record::putBit), weak(weak) {}
};

/// What a signal, a release or a packet brings along.
struct Token : Heard {
  ClockId control = ClockPool::zero, data = ClockPool::zero; ///< of ClockOrder, where it is kept

  using Heard::Heard;
};

/// A point from which accesses are judged.
struct View {
  std::uint32_t block = none;
  std::uint32_t phase = 0;
  std::uint32_t length = 0;            ///< entries of the block's log that are in effect
  std::uint32_t putChannel = none;     ///< the access is a port put on this channel
  std::uint32_t thread = none;         ///< the one thread of the block that looks; `none`: any of them
  bool next = false;                   ///< with what takes effect in the block's next phase only
  bool user = false;                   ///< behind the end of a launch of the whole rank: see Order::gather
  std::span<const Token> besides = {}; ///< known besides: by packets taken, or by the thread's own waits in this phase
};

} // namespace mscclc::passes::proof
