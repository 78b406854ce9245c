// What each operand of an operation is for: read or written, as plain data or as packets.
//
// The one place that knows it; dependency analysis, verifier, simulator and CUDA backend all ask here.
#pragma once

#include "ir/program.h"

namespace mscclc::ir {

enum class Access : std::uint8_t { Read, Write };
enum class DataForm : std::uint8_t { Plain, Packet };

struct OperandRole {
  Access access;
  DataForm form;
};

/// Of a packet reduce, source 0 and destination 0 are plain; the other sources are packets, and so are the further
/// destinations (execution_kernel.hpp, handleReduceSendPackets and handleReduceCopySendPackets). A port sends what a
/// ppkt names as it lies there: packets (handlePutPackets).
constexpr DataForm formOfSource(const Op &op, std::uint32_t index) {
  switch (op.kind) {
  case OpKind::PutPacket:
    return op.channelType == ChannelType::Port ? DataForm::Packet : DataForm::Plain;
  case OpKind::UnpackPacket:
  case OpKind::ReadPutPacket:
  case OpKind::SwitchBroadcastPacket:
    return DataForm::Packet;
  case OpKind::ReducePacket:
  case OpKind::ReduceCopyPacket:
  case OpKind::ReduceSendPacket:
  case OpKind::ReduceCopySendPacket:
    return index == 0 ? DataForm::Plain : DataForm::Packet;
  default:
    return DataForm::Plain;
  }
}

constexpr DataForm formOfDestination(OpKind kind, std::uint32_t index) {
  switch (kind) {
  case OpKind::CopyPacket:
  case OpKind::PutPacket:
  case OpKind::ReadPutPacket:
  case OpKind::SwitchBroadcastPacket:
    return DataForm::Packet;
  case OpKind::ReduceCopyPacket:
  case OpKind::ReduceSendPacket:
  case OpKind::ReduceCopySendPacket:
    return index == 0 ? DataForm::Plain : DataForm::Packet;
  default:
    return DataForm::Plain;
  }
}

/// Role of operand `index` of `op`, sources first. A switch reduce's source is read on every rank of the group, a
/// switch broadcast's destination written on every one.
constexpr OperandRole roleOf(const Op &op, std::uint32_t index) {
  if (index < op.numSrcs)
    return {Access::Read, formOfSource(op, index)};
  return {Access::Write, formOfDestination(op.kind, index - op.numSrcs)};
}

constexpr bool isPacketOp(OpKind kind) {
  switch (kind) {
  case OpKind::CopyPacket:
  case OpKind::UnpackPacket:
  case OpKind::PutPacket:
  case OpKind::ReadPutPacket:
  case OpKind::ReducePacket:
  case OpKind::ReduceCopyPacket:
  case OpKind::ReduceSendPacket:
  case OpKind::ReduceCopySendPacket:
  case OpKind::SwitchBroadcastPacket:
    return true;
  default:
    return false;
  }
}
/// True if the operation waits until the packets that it reads are there. A ppkt through a port does not: its packets
/// must have been written before, as plain data must.
constexpr bool awaitsPackets(OpKind kind) {
  return isPacketOp(kind) && kind != OpKind::CopyPacket && kind != OpKind::PutPacket;
}
/// Bytes that a thread moves at once.
inline constexpr std::uint32_t wordBytes = 16;

/// What the threads of a block share a data operation out by: thread i of T treats units i, i + T, … of each operand.
/// So do MSCCL++'s interpreter (the loops of execution_kernel.hpp) and kernels of our own (move.cuh, packets.cuh).
enum class ElementUnit : std::uint8_t {
  Word,    ///< words of wordBytes
  Payload, ///< what one packet holds
  Other,   ///< not told: the hardware's or a proxy's business, or another by the type of the elements
};

constexpr ElementUnit elementUnitOf(const Op &op) {
  if (info(op.kind).group != OpGroup::Data || op.channelType == ChannelType::Port || op.kind == OpKind::SwitchReduce ||
      op.kind == OpKind::SwitchReduceBroadcast)
    return ElementUnit::Other;
  return isPacketOp(op.kind) ? ElementUnit::Payload : ElementUnit::Word;
}

constexpr bool isSignal(OpKind kind) {
  return kind == OpKind::Signal || kind == OpKind::RelaxedSignal;
}
constexpr bool isWait(OpKind kind) {
  return kind == OpKind::Wait || kind == OpKind::RelaxedWait;
}
constexpr bool isSemaphoreOp(OpKind kind) {
  return kind == OpKind::SemAcquire || kind == OpKind::SemRelease;
}
/// True if the operation carries a DataSync of its own.
constexpr bool hasDataSync(OpKind kind) {
  return isSignal(kind) || isWait(kind) || isSemaphoreOp(kind) || kind == OpKind::Flush;
}
constexpr bool isBlockSync(OpKind kind) {
  return info(kind).group == OpGroup::BlockSync;
}
/// True if the operation signals its channels after moving data.
constexpr bool putsAndSignals(OpKind kind) {
  return kind == OpKind::PutWithSignal || kind == OpKind::PutWithSignalAndFlush;
}
/// True if the operation adds to counters that others wait on: signals, put-and-signals, releases.
constexpr bool sends(OpKind kind) {
  return isSignal(kind) || putsAndSignals(kind) || kind == OpKind::SemRelease;
}
/// True if the operation takes from such counters: waits, acquires.
constexpr bool takes(OpKind kind) {
  return isWait(kind) || kind == OpKind::SemAcquire;
}
constexpr bool reduces(OpKind kind) {
  switch (kind) {
  case OpKind::Reduce:
  case OpKind::ReducePacket:
  case OpKind::ReduceCopyPacket:
  case OpKind::ReduceSend:
  case OpKind::ReduceSendPacket:
  case OpKind::ReduceCopySendPacket:
  case OpKind::ReadReduce:
  case OpKind::ReadReduceSend:
  case OpKind::SwitchReduce:
  case OpKind::SwitchReduceBroadcast:
    return true;
  default:
    return false;
  }
}

} // namespace mscclc::ir
