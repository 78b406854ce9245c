#include "compiler/outputs/dsl/calls.h"

#include "ir/op_semantics.h"
#include "ir/op_shapes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace mscclc::dsl {
namespace {

using ir::ChannelType;
using ir::Chunk;
using ir::DataSync;
using ir::Op;
using ir::OpKind;

/// A kind of reduction that fusion makes, and the kinds of operations from which fusion makes it.
struct FusedReduction {
  OpKind kind, reduces;
  bool copies = false; ///< true if the reduction also writes its result as packets
  std::optional<OpKind> sends = std::nullopt;
};
constexpr FusedReduction fusedReductions[] = {
    {.kind = OpKind::ReduceSend, .reduces = OpKind::Reduce, .sends = OpKind::Put},
    {.kind = OpKind::ReadReduceSend, .reduces = OpKind::ReadReduce, .sends = OpKind::Put},
    {.kind = OpKind::ReduceSendPacket, .reduces = OpKind::ReducePacket, .sends = OpKind::PutPacket},
    {.kind = OpKind::ReduceCopyPacket, .reduces = OpKind::ReducePacket, .copies = true},
    {.kind = OpKind::ReduceCopySendPacket, .reduces = OpKind::ReducePacket, .copies = true, .sends = OpKind::PutPacket},
};
static_assert(std::ranges::count_if(ir::opInfos,
                                    [](const ir::OpInfo &info) {
                                      return info.call.find(" and ") != std::string_view::npos;
                                    }) == std::size(fusedReductions) + 1,
              "all operations that fusion makes are here, but for SwitchReduceBroadcast");

/// Cuts the operations of one block into parts, so that one call makes each part.
class Cutter {
public:
  Cutter(const ir::Rank &rank, const ir::ThreadBlock &in) : rank_(rank), in_(in) {}

  ir::ThreadBlock run() {
    out_.channels = in_.channels;
    out_.remoteBuffers = in_.remoteBuffers;
    for (std::size_t i = 0; i < in_.ops.size(); ++i) {
      const Op &op = in_.ops[i];
      cut(op);
      if (op.kind != OpKind::Pipeline)
        continue;
      const std::size_t header = out_.ops.size() - 1;
      for (std::uint32_t j = 0; j < op.bodySize; ++j)
        cut(in_.ops[++i]);
      out_.ops[header].bodySize = static_cast<std::uint32_t>(out_.ops.size() - header - 1);
    }
    return std::move(out_);
  }

private:
  void append(const Op &op, OpKind kind, ChannelType type, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
              std::span<const std::uint32_t> ids = {}) {
    Op part = op;
    part.kind = kind;
    part.channelType = type;
    part.sync = DataSync::None;
    out_.append(part, srcs, dsts, ids);
  }

  /// Cuts a signal, a wait, a semaphore operation or a flush into parts that name one channel or semaphore each.
  void cutIds(const Op &op) {
    const std::span<const std::uint32_t> ids = in_.idsOf(op);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      append(op, op.kind, op.channelType, {}, {}, ids.subspan(i, 1));
      if (i == 0)
        out_.ops.back().sync = op.sync & DataSync::Before;
      if (i + 1 == ids.size())
        out_.ops.back().sync = out_.ops.back().sync | (op.sync & DataSync::After);
    }
  }

  /// Cuts an operation into moves with one destination each. Destination i gets source i, or the only source.
  void cutPairs(const Op &op) {
    const std::span<const Chunk> srcs = in_.srcs(op), dsts = in_.dsts(op);
    for (std::size_t i = 0; i < dsts.size(); ++i)
      append(op, op.kind, op.channelType, srcs.subspan(srcs.size() == 1 ? 0 : i, 1), dsts.subspan(i, 1),
             op.numIds == 0 ? std::span<const std::uint32_t>() : in_.idsOf(op).subspan(i, 1));
  }

  /// Cuts a reduction of remote chunks into parts, so that each part reads chunks of one rank only.
  void cutReads(const Op &op) {
    const std::span<const Chunk> srcs = in_.srcs(op);
    for (std::size_t i = 1; i < srcs.size();) {
      std::vector<Chunk> part{srcs[0]};
      const std::uint32_t peer = rank_.remoteBuffers[srcs[i].id].rank;
      for (; i < srcs.size() && rank_.remoteBuffers[srcs[i].id].rank == peer; ++i)
        part.push_back(srcs[i]);
      append(op, OpKind::ReadReduce, ChannelType::Memory, part, in_.dsts(op).subspan(0, 1));
    }
  }

  void send(const Op &op, OpKind kind, std::size_t first) {
    const std::span<const Chunk> dsts = in_.dsts(op);
    for (std::size_t i = first; i < dsts.size(); ++i)
      append(op, kind, ChannelType::Memory, dsts.subspan(0, 1), dsts.subspan(i, 1));
  }

  /// Cuts a fused reduction. Its first destination receives the result. If the reduction also writes its result as
  /// packets, these go to the second destination.
  void cutReduction(const Op &op, const FusedReduction &parts) {
    const std::span<const Chunk> dsts = in_.dsts(op);
    if (parts.reduces == OpKind::ReadReduce)
      cutReads(op);
    else
      append(op, parts.reduces, ChannelType::None, in_.srcs(op), dsts.subspan(0, 1));
    if (parts.copies)
      append(op, OpKind::CopyPacket, ChannelType::None, dsts.subspan(0, 1), dsts.subspan(1, 1));
    if (parts.sends)
      send(op, *parts.sends, parts.copies ? 2 : 1);
  }

  /// Cuts an operation that reduces and broadcasts through a switch. The sum is stored in the chunk that the broadcast
  /// writes on this rank.
  void cutSwitch(const Op &op) {
    const Chunk &far = in_.dsts(op)[0];
    const Chunk near{ir::spaceOf(rank_.switchChannels[far.id].buffer), far.index, far.size, 0};
    const std::span<const std::uint32_t> ids = in_.idsOf(op);
    append(op, OpKind::SwitchReduce, ChannelType::Switch, in_.srcs(op), {&near, 1}, ids.first(1));
    append(op, OpKind::SwitchBroadcast, ChannelType::Switch, {&near, 1}, in_.dsts(op), ids.last(1));
  }

  void cut(const Op &op) {
    if (const auto *parts = std::ranges::find(fusedReductions, op.kind, &FusedReduction::kind);
        parts != std::end(fusedReductions))
      return cutReduction(op, *parts);
    if (op.kind == OpKind::SwitchReduceBroadcast)
      return cutSwitch(op);
    if (op.kind == OpKind::ReadReduce)
      return cutReads(op);
    switch (ir::shapeOf(op.kind).ids) {
    case ir::IdRule::Channels:
    case ir::IdRule::Semaphores:
      return cutIds(op);
    case ir::IdRule::PerRemote:
    case ir::IdRule::PerRemoteIfPort:
      return cutPairs(op);
    case ir::IdRule::None:
    case ir::IdRule::OneSwitch:
    case ir::IdRule::PerSwitch:
      break;
    }
    out_.append(op, in_.srcs(op), in_.dsts(op), in_.idsOf(op));
  }

  const ir::Rank &rank_;
  const ir::ThreadBlock &in_;
  ir::ThreadBlock out_;
};

} // namespace

ir::Program cutIntoCalls(const ir::Program &program) {
  ir::Program cut = program;
  for (ir::Rank &rank : cut.ranks)
    for (ir::ThreadBlock &block : rank.blocks)
      block = Cutter(rank, ir::ThreadBlock(block)).run();
  return cut;
}

bool isMadeOfCalls(const ir::Program &program) {
  const ir::Program cut = cutIntoCalls(program);
  for (std::size_t r = 0; r < program.ranks.size(); ++r)
    for (std::size_t b = 0; b < program.ranks[r].blocks.size(); ++b)
      if (program.ranks[r].blocks[b].ops.size() != cut.ranks[r].blocks[b].ops.size())
        return false;
  return true;
}

} // namespace mscclc::dsl
