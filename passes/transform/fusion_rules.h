// The table of operations that may merge: the rules of the MSCCL++ DSL.
//
// Source of the rules: python/mscclpp/language/internal/operations.py. Some rules are unsound there. Here, these rules
// have stricter conditions: Accumulates, OneSourceBuffer and LandsInPlace.
#pragma once

#include "ir/program.h"

#include <array>
#include <cstdint>

namespace mscclc::passes {

/// Conditions on two neighbours, in addition to their kinds. Conditions are combined by a bitwise or.
enum Need : std::uint16_t {
  SameChannelType = 1 << 0,
  SameGroup = 1 << 1,     ///< both have the same slice of the same thread-block group, or neither has one
  SameFirstSize = 1 << 2, ///< the first sources have the same size
  SameSources = 1 << 3,
  SameReduceOp = 1 << 4,
  DisjointIds = 1 << 5,
  /// All sources of a memory-channel put are in the same buffer, because the kernel uses the base address of the first
  /// source for all of them.
  OneSourceBuffer = 1 << 6,
  /// Both operations reduce into their first source, and no other source overlaps it. Otherwise, one sum of all sources
  /// could differ from two consecutive sums.
  Accumulates = 1 << 7,
  SendsResult = 1 << 8,   ///< every source of the right operation is destination 0 of the left one
  SendsPackets = 1 << 9,  ///< every source of the right operation is destination 1 of the left one (its packets)
  ViaMemory = 1 << 10,    ///< the right operation uses memory channels, and so does the merged one
  StoresResult = 1 << 11, ///< the right operation broadcasts the left one's result, with the same size
  /// The left operation stores its result where the broadcast writes on this rank. So this chunk is written even though
  /// the merged operation has no local destination.
  LandsInPlace = 1 << 12,
};

/// Where an operand list of the merged operation comes from.
enum class Join : std::uint8_t {
  Left,       ///< the list of the left operation
  Right,      ///< the list of the right operation
  Append,     ///< the list of the left operation, followed by the list of the right one
  AppendRest, ///< as Append, without the first element of the right list
  Union,      ///< as Append, without elements of the right list that the left list has, too
};

struct FusionRule {
  ir::OpKind left, right, merged;
  std::uint16_t needs;
  Join srcs, dsts, ids;
};

inline constexpr auto fusionRules = [] {
  using enum ir::OpKind;
  using enum Join;
  constexpr std::uint16_t sync = SameChannelType | DisjointIds;
  constexpr std::uint16_t put = SameFirstSize | SameChannelType | SameGroup | OneSourceBuffer;
  constexpr std::uint16_t accumulate = Accumulates | SameChannelType | SameReduceOp | SameGroup;
  constexpr std::uint16_t send = SendsResult | ViaMemory | SameGroup;
  constexpr std::uint16_t resend = SendsPackets | ViaMemory | SameGroup;
  return std::to_array<FusionRule>({
      // left, right and merged kind; needs; joins of sources, destinations and ids
      {SemAcquire, SemAcquire, SemAcquire, 0, Left, Left, Append},
      {SemRelease, SemRelease, SemRelease, 0, Left, Left, Append},
      {Signal, Signal, Signal, sync, Left, Left, Append},
      {Wait, Wait, Wait, sync, Left, Left, Append},
      {RelaxedSignal, RelaxedSignal, RelaxedSignal, sync, Left, Left, Append},
      {RelaxedWait, RelaxedWait, RelaxedWait, sync, Left, Left, Append},
      {Flush, Flush, Flush, SameChannelType, Left, Left, Union},

      {Get, Get, Get, SameFirstSize | SameChannelType | SameGroup, Append, Append, Append},
      {Put, Put, Put, put, Append, Append, Append},
      {PutWithSignal, PutWithSignal, PutWithSignal, put, Append, Append, Append},
      {PutWithSignalAndFlush, PutWithSignalAndFlush, PutWithSignalAndFlush, put, Append, Append, Append},
      {PutPacket, PutPacket, PutPacket, put, Append, Append, Append},
      {ReadPutPacket, ReadPutPacket, ReadPutPacket, SameSources | SameChannelType | SameGroup, Left, Append, Append},

      {Reduce, Reduce, Reduce, accumulate, AppendRest, Left, Left},
      {ReducePacket, ReducePacket, ReducePacket, accumulate, AppendRest, Left, Left},
      {ReadReduce, ReadReduce, ReadReduce, accumulate, AppendRest, Left, Left},

      {Reduce, Put, ReduceSend, send, Left, Append, Left},
      {ReduceSend, Put, ReduceSend, send, Left, Append, Left},
      {ReadReduce, Put, ReadReduceSend, send, Left, Append, Left},
      {ReadReduceSend, Put, ReadReduceSend, send, Left, Append, Left},
      {ReducePacket, PutPacket, ReduceSendPacket, send, Left, Append, Left},
      {ReduceSendPacket, PutPacket, ReduceSendPacket, send, Left, Append, Left},
      {ReducePacket, CopyPacket, ReduceCopyPacket, SendsResult | SameGroup, Left, Append, Left},
      {ReduceCopyPacket, PutPacket, ReduceCopySendPacket, send, Left, Append, Left},
      {ReduceCopyPacket, ReadPutPacket, ReduceCopySendPacket, resend, Left, Append, Left},
      {ReduceCopySendPacket, PutPacket, ReduceCopySendPacket, send, Left, Append, Left},
      {ReduceCopySendPacket, ReadPutPacket, ReduceCopySendPacket, resend, Left, Append, Left},

      {SwitchReduce, SwitchBroadcast, SwitchReduceBroadcast, StoresResult | LandsInPlace, Left, Right, Union},
  });
}();

/// For each left and right kind: the index into fusionRules plus 1; 0: no rule.
inline constexpr auto fusionTable = [] {
  std::array<std::array<std::uint8_t, ir::opKindCount>, ir::opKindCount> table{};
  for (std::size_t i = 0; i < fusionRules.size(); ++i)
    table[std::size_t(fusionRules[i].left)][std::size_t(fusionRules[i].right)] = std::uint8_t(i + 1);
  return table;
}();

/// Returns the rule for two kinds of operations; null if there is none.
inline const FusionRule *fusionRule(ir::OpKind left, ir::OpKind right) {
  const std::uint8_t entry = fusionTable[std::size_t(left)][std::size_t(right)];
  return entry ? &fusionRules[entry - 1] : nullptr;
}

} // namespace mscclc::passes
