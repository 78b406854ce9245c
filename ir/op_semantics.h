// The use of each operand of an operation: read or written, as plain data or as packets.
//
// All of it follows from ops.def. Dependency analysis, proof, simulator and CUDA backend ask here.
#pragma once

#include "ir/op_shapes.h"

namespace mscclc::ir {

enum class Access : std::uint8_t { Read, Write };
enum class DataForm : std::uint8_t { Plain, Packet };

/// The access of an operation to one of its operands, and the form of the data there.
struct OperandRole {
  Access access;
  DataForm form;
};

/// Returns the form of operand `index` on one side of an operation on channels of `type`.
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

/// Returns the role of operand `index` of `op`, sources first. The source of a switch reduce is read on every rank of
/// the group. The destination of a switch broadcast is written on every rank.
constexpr OperandRole roleOf(const Op &op, std::uint32_t index) {
  if (index < op.numSrcs)
    return {Access::Read, formOfSource(op, index)};
  return {Access::Write, formOfDestination(op.kind, index - op.numSrcs)};
}

/// The set of kinds for which `has(info)` is true. It answers fast, because it is asked for every operation of large
/// programs.
class KindSet {
public:
  template <typename Has> constexpr explicit KindSet(Has has) {
    for (std::size_t i = 0; i < opKindCount; ++i)
      bits_ |= std::uint64_t{has(opInfos[i])} << i;
  }
  constexpr bool has(OpKind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1) != 0; }

private:
  static_assert(opKindCount <= 64);
  std::uint64_t bits_ = 0;
};

/// True if some of these operands are packets on some type of channel.
constexpr bool mayBePackets(OperandForms forms) {
  return forms != OperandForms::None && forms != OperandForms::Plain;
}

namespace kinds {
inline constexpr KindSet packets([](const OpInfo &op) {
  return mayBePackets(op.sources) || mayBePackets(op.destinations);
});
inline constexpr KindSet awaitsPackets([](const OpInfo &op) {
  return mayBePackets(op.sources) && op.sources != OperandForms::PacketsIfPort;
});
inline constexpr KindSet signals([](const OpInfo &op) { return op.effect == OpEffect::Signal; });
inline constexpr KindSet waits([](const OpInfo &op) { return op.effect == OpEffect::Wait; });
inline constexpr KindSet semaphores([](const OpInfo &op) {
  return op.effect == OpEffect::Acquire || op.effect == OpEffect::Release;
});
inline constexpr KindSet blockSyncs([](const OpInfo &op) {
  return op.step == OpStep::BlockSync || op.step == OpStep::Barrier;
});
inline constexpr KindSet reduces([](const OpInfo &op) { return info(op.effect).reduces(); });
inline constexpr KindSet putsAndSignals([](const OpInfo &op) { return info(op.effect).thenSignals; });
inline constexpr KindSet sends([](const OpInfo &op) { return info(op.effect).sends(); });
inline constexpr KindSet takes([](const OpInfo &op) { return info(op.effect).takes(); });
inline constexpr KindSet flushes([](const OpInfo &op) { return info(op.effect).flushes(); });
inline constexpr KindSet oneThreadPerId([](const OpInfo &op) { return info(op.effect).oneThreadPerId(); });
} // namespace kinds

constexpr bool isPacketOp(OpKind kind) {
  return kinds::packets.has(kind);
}
/// True if the operation waits until the packets that it reads have arrived. A ppkt through a port does not wait: its
/// packets must have been written before, like plain data (execution_kernel.hpp, handlePutPackets).
constexpr bool awaitsPackets(OpKind kind) {
  return kinds::awaitsPackets.has(kind);
}

/// Bytes that a thread moves in one access.
inline constexpr std::uint32_t wordBytes = 16;

/// The unit by which the threads of a block share a data operation: thread i of T treats units i, i + T, … of each
/// operand. MSCCL++'s interpreter (the loops of execution_kernel.hpp) and emitted kernels (move.cuh, packets.cuh) agree
/// on this.
enum class ElementUnit : std::uint8_t {
  Word,    ///< words of wordBytes
  Payload, ///< the payload of one packet
  Other,   ///< unknown: hardware or a proxy decides, or it depends on the type of the elements
};

constexpr ElementUnit elementUnitOf(const Op &op) {
  if (info(op.kind).step != OpStep::Data || op.channelType == ChannelType::Port || reducesInSwitch(op.kind) ||
      op.kind == OpKind::Apply)
    return ElementUnit::Other;
  return isPacketOp(op.kind) ? ElementUnit::Payload : ElementUnit::Word;
}

/// True if Op::firstAfter of the operation may be above 0. Then all sources but the first are packets or chunks of
/// peers.
constexpr bool addsFirstAnywhere(OpKind kind) {
  return kinds::reduces.has(kind) && (info(kind).sources == OperandForms::PlainThenPackets ||
                                      (shapeOf(kind).srcs.maxRemote != 0 && shapeOf(kind).srcs.maxLocal == 1));
}
/// Returns the number of the source that a reduction adds after `n` other sources. `firstAfter`: see Op.
constexpr std::uint32_t sourceAdded(std::uint32_t n, std::uint32_t firstAfter) {
  return n < firstAfter ? n + 1 : n == firstAfter ? 0 : n;
}

constexpr bool isSignal(OpKind kind) {
  return kinds::signals.has(kind);
}
constexpr bool isWait(OpKind kind) {
  return kinds::waits.has(kind);
}
constexpr bool isSemaphoreOp(OpKind kind) {
  return kinds::semaphores.has(kind);
}
/// True for a signal or a wait that orders control only, not data.
constexpr bool isRelaxed(OpKind kind) {
  return kind == OpKind::RelaxedSignal || kind == OpKind::RelaxedWait || kind == OpKind::SwitchRelaxedSignal ||
         kind == OpKind::SwitchRelaxedWait;
}
/// True if each channel or semaphore is handled by a thread of its own, as for a signal.
constexpr bool oneThreadPerId(OpKind kind) {
  return kinds::oneThreadPerId.has(kind);
}
/// True if thread i handles position i of the operation. This includes operations whose threads ask a proxy.
constexpr bool oneThreadPerPosition(const Op &op) {
  return oneThreadPerId(op.kind) || op.channelType == ChannelType::Port;
}
/// True if the operation carries a DataSync of its own.
constexpr bool hasDataSync(OpKind kind) {
  return oneThreadPerId(kind);
}
constexpr bool isBlockSync(OpKind kind) {
  return kinds::blockSyncs.has(kind);
}
/// True if the operation signals its channels after moving data.
constexpr bool putsAndSignals(OpKind kind) {
  return kinds::putsAndSignals.has(kind);
}
/// True if the operation adds to counters that others wait on: signals, put-and-signals, releases.
constexpr bool sends(OpKind kind) {
  return kinds::sends.has(kind);
}
/// True if the operation takes from counters that others add to: waits, acquires.
constexpr bool takes(OpKind kind) {
  return kinds::takes.has(kind);
}
/// True if the operation waits for an action of another rank or block: it takes from counters, meets at a barrier, or
/// reads packets.
constexpr bool awaitsOthers(OpKind kind) {
  return takes(kind) || kind == OpKind::Barrier || awaitsPackets(kind);
}
/// True if the operation waits until port puts have left their sources.
constexpr bool flushes(OpKind kind) {
  return kinds::flushes.has(kind);
}
constexpr bool reduces(OpKind kind) {
  return kinds::reduces.has(kind);
}

/// Appends to `channels` the switch channels of `operands` that it lacks, in the order of the operands. From no
/// channels and all operands of an operation it makes the ids of IdRule::PerSwitch.
void addSwitchChannels(std::span<const Chunk> operands, std::vector<std::uint32_t> &channels);

} // namespace mscclc::ir
