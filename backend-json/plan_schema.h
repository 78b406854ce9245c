// The words of a plan, and the fields of each operation. Writer, reader and comparison use them.
#pragma once

#include "ir/op_semantics.h"
#include "ir/op_shapes.h"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace mscclc::json {

// Two fields of a plan are additions of mscclc. `root` is the rank of the root, for a collective that has one. `tags`
// is the list ir::Program::tags, for a program that has tags. MSCCL++'s loader looks fields up by name and ignores
// others (execution_plan.cc, ExecutionPlan::Impl). If the plan of a rooted collective has no `root`, the collective is
// read as a custom one, because other tools may use the name of the collective for anything.

// The words for enumerators, in the order of ir::BufferKind, ir::ChannelType (from Memory on) and ir::Protocol.
// ir::reduceOpNames has the words for reductions.
inline constexpr std::string_view bufferWords[] = {"i", "o", "s"};
inline constexpr std::string_view channelWords[] = {"memory", "port", "switch"};
inline constexpr std::string_view protocolWords[] = {"Simple", "LL"};
inline constexpr auto pointToPointWords = std::span(channelWords).first(2);

/// A set of fields of an operation: bit k is opFieldNames[k].
using OpFields = std::uint32_t;

// Field k of an operation: constant and name, in the order of a plan.
#define MSCCLC_OP_FIELDS(FIELD)                                                                                        \
  FIELD(Name, "name")                                                                                                  \
  FIELD(BarrierId, "barrier_id")                                                                                       \
  FIELD(NumThreadblocks, "num_threadblocks")                                                                           \
  FIELD(SwitchChannelId, "switch_channel_id")                                                                          \
  FIELD(SemaphoreIds, "semaphore_ids")                                                                                 \
  FIELD(IterContext, "iter_context")                                                                                   \
  FIELD(Body, "ops")                                                                                                   \
  FIELD(SwitchBuffer, "buffer_type")                                                                                   \
  FIELD(SwitchOffset, "buffer_offset")                                                                                 \
  FIELD(SwitchSize, "size")                                                                                            \
  FIELD(DstChunk, "dst_chunk")                                                                                         \
  FIELD(SrcBuff, "src_buff")                                                                                           \
  FIELD(DstBuff, "dst_buff")                                                                                           \
  FIELD(ChannelIds, "channel_ids")                                                                                     \
  FIELD(ChannelTypeName, "channel_type")                                                                               \
  FIELD(Reduction, "reduce_op")                                                                                        \
  FIELD(TbgInfo, "tbg_info")

enum class OpField : std::uint8_t {
#define FIELD(constant, name) constant,
  MSCCLC_OP_FIELDS(FIELD)
#undef FIELD
};

inline constexpr std::string_view opFieldNames[] = {
#define FIELD(constant, name) name,
    MSCCLC_OP_FIELDS(FIELD)
#undef FIELD
};

/// Returns the name of the only field in the set `field`.
constexpr std::string_view nameOf(OpFields field) {
  return opFieldNames[std::countr_zero(field)];
}

namespace op_field {
#define FIELD(constant, name) inline constexpr OpFields constant = 1u << static_cast<unsigned>(OpField::constant);
MSCCLC_OP_FIELDS(FIELD)
#undef FIELD
inline constexpr OpFields Buffers = SrcBuff | DstBuff;
inline constexpr OpFields SwitchRange = SwitchBuffer | SwitchOffset | SwitchSize;
} // namespace op_field

/// The fields of one kind of operation.
struct PlanOp {
  OpFields required;
  OpFields optional;
};

namespace detail {
/// Returns the fields of a kind of operation. They follow from the shape of the operation. So a plan has exactly the
/// fields that the IR can hold.
constexpr PlanOp fieldsFor(ir::OpKind kind) {
  using namespace op_field;
  const ir::OpShape shape = ir::shapeOf(kind);
  PlanOp op{Name, 0};
  if (kind == ir::OpKind::Barrier)
    op.required |= BarrierId | NumThreadblocks;
  else if (kind == ir::OpKind::Pipeline)
    op.required |= IterContext | Body;
  else if (kind == ir::OpKind::SwitchReduce) // its fields have other names (GroupLoadReduce in internal/operations.py)
    op.required |= SwitchRange | DstChunk | ChannelIds;
  else if (ir::info(kind).step == ir::OpStep::Data)
    op.required |= Buffers;
  if (ir::signalsThroughSwitch(kind)) { // GroupSignal and GroupWait have no field for the type of channel
    op.required |= SwitchChannelId;
    return op;
  }
  if (shape.ids == ir::IdRule::Semaphores)
    op.required |= SemaphoreIds;
  if (shape.ids == ir::IdRule::Channels || shape.ids == ir::IdRule::PerRemote)
    op.required |= ChannelIds;
  if (shape.ids == ir::IdRule::PerRemoteIfPort)
    op.optional |= ChannelIds;
  if (!shape.allows(ir::ChannelType::None))
    op.required |= ChannelTypeName;
  if (ir::reduces(kind))
    op.required |= Reduction;
  if (ir::canBeSliced(kind))
    op.optional |= TbgInfo;
  if (kind == ir::OpKind::Flush) // only the number of entries counts: see WriteOptions::countedFlushes
    op.optional |= DstBuff;
  return op;
}
inline constexpr std::array<PlanOp, ir::opKindCount> planOps = [] {
  std::array<PlanOp, ir::opKindCount> table{};
  for (std::size_t i = 0; i < ir::opKindCount; ++i)
    table[i] = fieldsFor(static_cast<ir::OpKind>(i));
  return table;
}();
} // namespace detail

constexpr const PlanOp &planOp(ir::OpKind kind) {
  return detail::planOps[static_cast<std::size_t>(kind)];
}

/// True if an operation of this kind has `channel_ids` when it uses channels of `type`. A put has them only for port
/// channels, because they name the queues. A memory channel is identified by the remote buffer alone.
constexpr bool hasChannelIds(ir::OpKind kind, ir::ChannelType type) {
  const PlanOp &op = planOp(kind);
  return (op.required & op_field::ChannelIds) != 0 ||
         ((op.optional & op_field::ChannelIds) != 0 && type == ir::ChannelType::Port);
}

/// True if the order of the operation's channels has no meaning.
constexpr bool channelsAreASet(ir::OpKind kind) {
  return ir::isSignal(kind) || ir::isWait(kind) || kind == ir::OpKind::Flush;
}

} // namespace mscclc::json
