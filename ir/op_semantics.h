// What each operand of an operation is for: read or written, as plain data or as packets.
//
// All of it follows from ops.def; dependency analysis, proof, simulator and CUDA backend ask here.
#pragma once

#include "ir/op_shapes.h"

namespace mscclc::ir {

enum class Access : std::uint8_t { Read, Write };
enum class DataForm : std::uint8_t { Plain, Packet };

struct OperandRole {
  Access access;
  DataForm form;
};

/// Form of operand `index` of a side of an operation on channels of `type`.
constexpr DataForm formOf(OperandForms forms, std::uint32_t index, ChannelType type) {
  switch (forms) {
  case OperandForms::None:
  case OperandForms::Plain:
    return DataForm::Plain;
  case OperandForms::Packets:
    return DataForm::Packet;
  case OperandForms::PlainThenPackets:
    return index == 0 ? DataForm::Plain : DataForm::Packet;
  case OperandForms::PacketsIfPort:
    return type == ChannelType::Port ? DataForm::Packet : DataForm::Plain;
  }
  return DataForm::Plain;
}
constexpr DataForm formOfSource(const Op &op, std::uint32_t index) {
  return formOf(info(op.kind).sources, index, op.channelType);
}
constexpr DataForm formOfDestination(OpKind kind, std::uint32_t index) {
  return formOf(info(kind).destinations, index, ChannelType::None);
}

/// Role of operand `index` of `op`, sources first. A switch reduce's source is read on every rank of the group, a
/// switch broadcast's destination written on every one.
constexpr OperandRole roleOf(const Op &op, std::uint32_t index) {
  if (index < op.numSrcs)
    return {Access::Read, formOfSource(op, index)};
  return {Access::Write, formOfDestination(op.kind, index - op.numSrcs)};
}

/// True if some of these operands are packets, on some channel.
constexpr bool mayBePackets(OperandForms forms) {
  return forms != OperandForms::None && forms != OperandForms::Plain;
}
constexpr bool isPacketOp(OpKind kind) {
  return mayBePackets(info(kind).sources) || mayBePackets(info(kind).destinations);
}
/// True if the operation waits until the packets that it reads are there. A ppkt through a port does not: it sends what
/// lies there, which must have been written before, as plain data must (execution_kernel.hpp, handlePutPackets).
constexpr bool awaitsPackets(OpKind kind) {
  return mayBePackets(info(kind).sources) && info(kind).sources != OperandForms::PacketsIfPort;
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
  if (info(op.kind).group != OpGroup::Data || op.channelType == ChannelType::Port || reducesInSwitch(op.kind))
    return ElementUnit::Other;
  return isPacketOp(op.kind) ? ElementUnit::Payload : ElementUnit::Word;
}

constexpr bool isSignal(OpKind kind) {
  return info(kind).effect == OpEffect::Signal;
}
constexpr bool isWait(OpKind kind) {
  return info(kind).effect == OpEffect::Wait;
}
constexpr bool isSemaphoreOp(OpKind kind) {
  return info(kind).effect == OpEffect::Acquire || info(kind).effect == OpEffect::Release;
}
/// True if the operation carries a DataSync of its own.
constexpr bool hasDataSync(OpKind kind) {
  return info(info(kind).effect).dataSync;
}
constexpr bool isBlockSync(OpKind kind) {
  return info(kind).group == OpGroup::BlockSync;
}
/// True if the operation signals its channels after moving data.
constexpr bool putsAndSignals(OpKind kind) {
  return info(kind).effect == OpEffect::MoveAndSignal || info(kind).effect == OpEffect::MoveSignalAndFlush;
}
/// True if the operation adds to counters that others wait on: signals, put-and-signals, releases.
constexpr bool sends(OpKind kind) {
  return info(info(kind).effect).sends;
}
/// True if the operation takes from such counters: waits, acquires.
constexpr bool takes(OpKind kind) {
  return info(info(kind).effect).takes;
}
/// True if the operation waits until port puts have left their sources.
constexpr bool flushes(OpKind kind) {
  return info(info(kind).effect).flushes;
}
constexpr bool reduces(OpKind kind) {
  return info(kind).effect == OpEffect::Reduce;
}

} // namespace mscclc::ir
