// The shape of each operation: the number of operands in each space, its channels, and the objects that its ids name.
//
// The structural checker asks this table. op_semantics.h has the semantics (reads and writes).
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

/// Any number of operands.
inline constexpr std::uint8_t anyCount = 255;

/// The number of operands on one side of an operation. Local operands come first, then remote ones. Switch operands
/// stand alone.
struct SideShape {
  std::uint8_t minLocal = 0, maxLocal = 0;
  std::uint8_t minRemote = 0, maxRemote = 0;
  std::uint8_t numSwitch = 0;
};

/// The objects that the ids of an Op name.
enum class IdRule : std::uint8_t {
  None,
  Channels,        ///< one or more channels of the operation's type
  Semaphores,      ///< one or more semaphores
  PerRemote,       ///< one channel for each remote operand; it leads to the operand's rank
  PerRemoteIfPort, ///< as PerRemote on port channels; no ids on memory channels
  OneSwitch,       ///< one switch channel
  PerSwitch,       ///< the switch channels of the operands, each once, in the order of the operands
};

/// The operands, channels and ids of operations of a kind.
struct OpShape {
  SideShape srcs, dsts;
  std::uint8_t channelTypes = 0; ///< bit set: 1 << ChannelType
  IdRule ids = IdRule::None;
  /// True: there are as many sources as destinations, and source i has the size of destination i. False: all operands
  /// have one size.
  bool pairwise = false;

  constexpr bool allows(ChannelType type) const { return (channelTypes >> static_cast<unsigned>(type) & 1) != 0; }
};

namespace shapes {
constexpr std::uint8_t bit(ChannelType type) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(type));
}
inline constexpr std::uint8_t noChannel = bit(ChannelType::None), memory = bit(ChannelType::Memory),
                              port = bit(ChannelType::Port), multicast = bit(ChannelType::Switch);
inline constexpr SideShape nothing{}, oneLocal{1, 1}, twoLocal{2, 2}, severalLocal{2, anyCount}, locals{1, anyCount},
    remotes{0, 0, 1, anyCount}, localAndRemotes{1, 1, 1, anyCount}, twoLocalAndRemotes{2, 2, 1, anyCount},
    oneSwitch{0, 0, 0, 0, 1};
} // namespace shapes

constexpr OpShape shapeOf(OpKind kind) {
  using namespace shapes;
  switch (kind) {
  case OpKind::Nop:
  case OpKind::Barrier:
  case OpKind::Pipeline:
    return {nothing, nothing, noChannel};
  case OpKind::SemAcquire:
  case OpKind::SemRelease:
    return {nothing, nothing, noChannel, IdRule::Semaphores};
  case OpKind::Signal:
  case OpKind::Wait:
    return {nothing, nothing, memory | port, IdRule::Channels};
  case OpKind::RelaxedSignal:
  case OpKind::RelaxedWait:
    return {nothing, nothing, memory, IdRule::Channels};
  case OpKind::SwitchSignal:
  case OpKind::SwitchWait:
  case OpKind::SwitchRelaxedSignal:
  case OpKind::SwitchRelaxedWait:
    return {nothing, nothing, multicast, IdRule::OneSwitch};
  case OpKind::Flush:
    return {nothing, nothing, port, IdRule::Channels};
  case OpKind::Copy:
  case OpKind::CopyPacket:
  case OpKind::UnpackPacket:
  case OpKind::Apply:
    return {oneLocal, oneLocal, noChannel};
  case OpKind::Reduce:
  case OpKind::ReducePacket:
    return {severalLocal, oneLocal, noChannel};
  case OpKind::ReduceCopyPacket:
    return {severalLocal, twoLocal, noChannel};
  case OpKind::ReduceSend:
  case OpKind::ReduceSendPacket:
    return {severalLocal, localAndRemotes, memory};
  case OpKind::ReduceCopySendPacket:
    return {severalLocal, twoLocalAndRemotes, memory};
  case OpKind::ReadReduce:
    return {localAndRemotes, oneLocal, memory};
  case OpKind::ReadReduceSend:
    return {localAndRemotes, localAndRemotes, memory};
  case OpKind::Get:
    return {remotes, locals, memory, IdRule::PerRemote, true};
  case OpKind::Put:
  case OpKind::PutPacket:
    return {locals, remotes, memory | port, IdRule::PerRemoteIfPort, true};
  case OpKind::PutWithSignal:
  case OpKind::PutWithSignalAndFlush:
    return {locals, remotes, port, IdRule::PerRemote, true};
  case OpKind::ReadPutPacket:
    return {oneLocal, remotes, memory | port, IdRule::PerRemoteIfPort};
  case OpKind::SwitchReduce:
    return {oneSwitch, oneLocal, multicast, IdRule::PerSwitch};
  case OpKind::SwitchBroadcast:
  case OpKind::SwitchBroadcastPacket:
    return {oneLocal, oneSwitch, multicast, IdRule::PerSwitch};
  case OpKind::SwitchReduceBroadcast:
    return {oneSwitch, oneSwitch, multicast, IdRule::PerSwitch};
  }
  return {};
}

/// The results of shapeOf(), by OpKind.
inline constexpr std::array<OpShape, opKindCount> opShapes = [] {
  std::array<OpShape, opKindCount> table{};
  for (std::size_t i = 0; i < opKindCount; ++i)
    table[i] = shapeOf(static_cast<OpKind>(i));
  return table;
}();

static_assert(
    [] {
      const auto agree = [](const SideShape &side, OperandForms forms) {
        return (side.maxLocal + side.maxRemote + side.numSwitch == 0) == (forms == OperandForms::None);
      };
      for (std::size_t i = 0; i < opKindCount; ++i)
        if (!agree(opShapes[i].srcs, opInfos[i].sources) || !agree(opShapes[i].dsts, opInfos[i].destinations))
          return false;
      return true;
    }(),
    "ops.def names forms of operands that an operation has, and no others");

/// True if the operation reads a chunk that the switch reduces over a channel's group.
constexpr bool reducesInSwitch(OpKind kind) {
  return shapeOf(kind).srcs.numSwitch != 0;
}

/// True if the operation signals or waits through a switch channel.
constexpr bool signalsThroughSwitch(OpKind kind) {
  return info(kind).step != OpStep::Data && shapeOf(kind).allows(ChannelType::Switch);
}

/// True if the blocks of a thread-block group may share the operation. Then each block moves its slice.
constexpr bool canBeSliced(OpKind kind) {
  return info(kind).step == OpStep::Data && !info(info(kind).effect).thenSignals;
}

} // namespace mscclc::ir
