#include "passes/check_executor.h"

#include "ir/op_semantics.h"
#include "passes/diagnostics.h"
#include "passes/op_list.h"

#include <algorithm>
#include <optional>

namespace mscclc::passes {
namespace {

using ir::BufferKind;
using ir::ChunkSpace;
using ir::Op;
using ir::OpKind;

class ExecutorCheck {
public:
  ExecutorCheck(const PassContext &context)
      : program_(context.program), target_(context.target.name()), limits_(*context.target.executor),
        diags_(context.diags) {}

  void run() {
    if (program_.minMessageSize >> 31 != 0)
      diags_.report(diag::executor_min_message, "program '" + program_.name + "'", {target_, program_.minMessageSize});
    for (rank_ = 0; rank_ < program_.ranks.size(); ++rank_) {
      checkChunks();
      for (block_ = 0; block_ < program_.ranks[rank_].blocks.size(); ++block_)
        checkBlock(program_.ranks[rank_].blocks[block_]);
    }
  }

private:
  ir::Where at(std::size_t op) const { return whereIs(program_, {rank_, block_, static_cast<std::uint32_t>(op)}); }

  void checkChunks() {
    for (const BufferKind kind : {BufferKind::Input, BufferKind::Output})
      if (program_.ranks[rank_].chunksOf(kind) == 0)
        diags_.report(diag::executor_no_chunks, "program '" + program_.name + "'",
                      {rank_, ir::toString(kind), target_});
  }

  void checkBlock(const ir::ThreadBlock &block) {
    const Op *loop = nullptr;
    std::uint32_t bodyEnd = 0;
    for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
      const Op &op = block.ops[i];
      if (op.kind == OpKind::Pipeline) {
        loop = &op;
        bodyEnd = nextOp(block, i);
        continue;
      }
      checkOp(block, op, i);
      if (loop && i < bodyEnd)
        checkInLoop(block, op, i, *loop);
    }
  }

  void checkOp(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    const std::string_view name = ir::toString(op.kind);
    if (ir::reduces(op.kind) && op.reduceOp != ir::ReduceOp::Sum)
      diags_.report(diag::executor_reduce_op, at(i), {target_, ir::toString(op.reduceOp)});
    const bool switchStore = op.kind == OpKind::SwitchBroadcast || op.kind == OpKind::SwitchBroadcastPacket;
    if (op.kind == OpKind::SwitchReduce || (switchStore && !limits_.switchStores))
      diags_.report(diag::executor_unknown_op, at(i), {target_, name});
    if (op.kind == OpKind::Flush)
      diags_.report(diag::executor_flush, at(i), {target_});
    if (op.kind == OpKind::Get)
      checkGet(block, op, i);
    if (hasBadTail(op.kind) && program_.bufferAlignment % wordBytes != 0)
      diags_.report(diag::executor_tails, at(i), {target_, name, "a buffer alignment", program_.bufferAlignment});
    if (program_.reuseResources && program_.ranks[rank_].scratchChunks == 0 && reachesScratch(block, op))
      diags_.report(diag::executor_no_own_scratch, at(i), {rank_, target_});
    if (program_.doubleScratch && reachesScratch(block, op, ir::DataForm::Plain))
      diags_.report(diag::executor_double_scratch, at(i), {target_, name});
    if (program_.protocol == ir::Protocol::Simple && ir::isPacketOp(op.kind))
      diags_.report(diag::executor_packets_simple, at(i), {target_, name});
  }

  /// The bytes that the executor's loops move at once; what is left over takes another path.
  static constexpr std::uint32_t wordBytes = 16;
  /// True where that path reads or writes elsewhere (handleReduceSend, handleReadReduceSend,
  /// handleMultiLoadReduceStore).
  static bool hasBadTail(OpKind kind) {
    return kind == OpKind::ReduceSend || kind == OpKind::ReadReduceSend || kind == OpKind::SwitchReduceBroadcast;
  }

  /// The executor adds a source's offset to the local buffer and a destination's to the remote one.
  void checkGet(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    const std::span<const ir::Chunk> srcs = block.srcs(op), dsts = block.dsts(op);
    for (std::size_t k = 0; k < std::min(srcs.size(), dsts.size()); ++k) {
      const ir::RemoteBuffer &remote = program_.ranks[rank_].remoteBuffers[srcs[k].id];
      const bool sameScale =
          !program_.reuseResources || (remote.buffer == BufferKind::Scratch) == (dsts[k].space == ChunkSpace::Scratch);
      if (srcs[k].index == dsts[k].index && (sameScale || srcs[k].index == 0))
        continue;
      diags_.report(diag::executor_get_offsets, at(i),
                    {target_, show(remote.buffer, srcs[k]), show(static_cast<BufferKind>(dsts[k].space), dsts[k])});
      return;
    }
  }

  static std::string show(BufferKind buffer, const ir::Chunk &chunk) {
    return std::string(ir::toString(buffer)) + "[" + std::to_string(chunk.index) + "]";
  }

  /// True if `op` touches scratch of another rank through a channel, as `form` where that is given. A chunk at its
  /// begin counts only then.
  bool reachesScratch(const ir::ThreadBlock &block, const Op &op, std::optional<ir::DataForm> form = {}) const {
    const std::span<const ir::Chunk> operands = block.operands(op);
    for (std::uint32_t i = 0; i < operands.size(); ++i)
      if (operands[i].space == ChunkSpace::Remote &&
          (form ? ir::roleOf(op, i).form == *form : operands[i].index != 0) &&
          program_.ranks[rank_].remoteBuffers[operands[i].id].buffer == BufferKind::Scratch)
        return true;
    return false;
  }

  void checkInLoop(const ir::ThreadBlock &block, const Op &op, std::uint32_t i, const Op &loop) {
    const std::string_view name = ir::toString(op.kind);
    if (ir::isPacketOp(op.kind)) {
      diags_.report(diag::executor_packets_in_loop, at(i), {target_, name});
      return;
    }
    if (hasBadTail(op.kind) && loop.imm % wordBytes != 0)
      diags_.report(diag::executor_tails, at(i), {target_, name, "a pipeline unit", loop.imm});
    for (const ir::Chunk &chunk : block.operands(op)) {
      const std::uint64_t slices = std::max(op.groupSize, 1u);
      if (chunk.size >= loop.count * slices)
        continue;
      std::string moved = ir::plural(chunk.size, "chunk");
      if (slices > 1)
        moved = "1/" + std::to_string(slices) + " of " + moved;
      diags_.report(diag::executor_narrow_op, at(i), {target_, name, moved, ir::plural(loop.count, "chunk")});
      return;
    }
  }

  const ir::Program &program_;
  const std::string target_;
  const ExecutorLimits &limits_;
  ir::DiagnosticEngine &diags_;
  std::uint32_t rank_ = 0, block_ = 0;
};

void checkExecutor(PassContext &context) {
  if (context.target.executor)
    ExecutorCheck(context).run();
}

} // namespace

Pass createCheckExecutorPass() {
  return {.needs = DataSyncLowered | SingleInstance, .run = checkExecutor};
}

} // namespace mscclc::passes
