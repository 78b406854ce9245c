#include "passes/analysis/check_executor.h"

#include "ir/cursor.h"
#include "ir/memory_map.h"
#include "passes/diagnostics.h"

#include <algorithm>
#include <optional>
#include <span>

namespace mscclc::passes {
namespace {

using ir::BufferKind;
using ir::Chunk;
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
    checkContext();
    for (rank_ = 0; rank_ < program_.ranks.size(); ++rank_) {
      checkChunks();
      for (block_ = 0; block_ < program_.ranks[rank_].blocks.size(); ++block_)
        checkBlock(program_.ranks[rank_].blocks[block_]);
    }
  }

private:
  ir::Where at(std::size_t op) const { return whereIs(program_, {rank_, block_, static_cast<std::uint32_t>(op)}); }

  /// Warns about effects that other launches and plans of the executor have on this plan.
  void checkContext() {
    const bool scratch =
        std::ranges::any_of(program_.ranks, [](const ir::Rank &rank) { return rank.scratchChunks != 0; });
    if (!scratch)
      return;
    if (program_.doubleScratch && program_.minMessageSize == 0)
      diags_.report(diag::executor_empty_launch, "program '" + program_.name + "'", {target_});
    if (program_.reuseResources)
      diags_.report(diag::executor_shared_scratch, "program '" + program_.name + "'", {target_});
  }

  void checkChunks() {
    for (const BufferKind kind : {BufferKind::Input, BufferKind::Output})
      if (program_.ranks[rank_].chunksOf(kind) == 0)
        diags_.report(diag::executor_no_chunks, "program '" + program_.name + "'",
                      {rank_, ir::toString(kind), target_});
  }

  void checkBlock(const ir::ThreadBlock &block) {
    ir::forEachOp(block, [&](std::uint32_t i, std::uint32_t header) {
      if (block.ops[i].kind == OpKind::Pipeline)
        return;
      checkOp(block, block.ops[i], i);
      if (header != ir::none)
        checkInLoop(block, block.ops[i], i, block.ops[header]);
    });
  }

  void checkOp(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    if (ir::reduces(op.kind) && op.reduceOp != ir::ReduceOp::Sum)
      diags_.report(diag::executor_reduce_op, at(i), {target_, ir::toString(op.reduceOp)});
    if (op.firstAfter != 0)
      diags_.report(diag::executor_first_after, at(i), {target_, ir::wordOf(program_, op), op.firstAfter});
    const bool switchStore = op.kind == OpKind::SwitchBroadcast || op.kind == OpKind::SwitchBroadcastPacket;
    if (op.kind != OpKind::Apply && (ir::info(op.kind).event.empty() || (switchStore && !limits_.switchStores)))
      diags_.report(diag::executor_unknown_op, at(i), {target_, ir::wordOf(program_, op)});
    const bool isSignal = ir::signalsThroughSwitch(op.kind);
    if ((isSignal && !limits_.switchSignals) ||
        (op.channelType == ir::ChannelType::Switch && op.groupSize != 0 && !limits_.switchSlices))
      diags_.report(diag::executor_next_op, at(i),
                    {target_, ir::wordOf(program_, op),
                     isSignal ? "through a switch channel" : "of a thread-block group through a switch channel"});
    if (op.kind == OpKind::Get)
      checkGet(block, op, i);
    if (program_.bufferAlignment % longestWord != 0 && program_.bufferAlignment % wordOf(op) != 0)
      diags_.report(diag::executor_tails, at(i),
                    {target_, ir::wordOf(program_, op), wordOf(op), "a buffer alignment", program_.bufferAlignment});
    if (program_.reuseResources)
      checkReuse(block, op, i);
    if (program_.doubleScratch && op.channelType != ir::ChannelType::None)
      checkDoubleScratch(block, op, i);
    if (op.channelType == ir::ChannelType::Switch)
      checkSwitch(block, op, i);
    if (program_.protocol == ir::Protocol::Simple && ir::isPacketOp(op.kind))
      diags_.report(diag::executor_packets_simple, at(i), {target_, ir::wordOf(program_, op)});
  }

  /// Returns the length, in bytes, of the words in which the executor moves the data of `op`. If chunks are not
  /// multiples of a word, the executor rounds addresses down (copyHelper for each side, handleReduceSend and others by
  /// a division) or drops the rest. A port moves single bytes. Packets carry eight bytes. handleMultiStore falls back
  /// to words of four bytes.
  static constexpr std::uint32_t longestWord = 16;
  static std::uint32_t wordOf(const Op &op) {
    if (ir::isPacketOp(op.kind))
      return 8;
    if (op.channelType == ir::ChannelType::Port || op.numChunks() == 0)
      return 1;
    return op.kind == OpKind::SwitchBroadcast ? 4 : longestWord;
  }

  /// The executor adds the offset of the source to the local buffer, and that of the destination to the remote buffer.
  void checkGet(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    const std::span<const Chunk> srcs = block.srcs(op), dsts = block.dsts(op);
    for (std::size_t k = 0; k < std::min(srcs.size(), dsts.size()); ++k) {
      const BufferKind from = bufferOf(srcs[k]), to = bufferOf(dsts[k]);
      const bool sameScale = !program_.reuseResources || (from == BufferKind::Scratch) == (to == BufferKind::Scratch);
      if (srcs[k].index == dsts[k].index && (sameScale || srcs[k].index == 0))
        continue;
      diags_.report(diag::executor_get_offsets, at(i), {target_, show(from, srcs[k]), show(to, dsts[k])});
      return;
    }
  }

  static std::string show(BufferKind buffer, const Chunk &chunk) {
    return std::string(ir::toString(buffer)) + "[" + std::to_string(chunk.index) + "]";
  }

  BufferKind bufferOf(const Chunk &chunk) const { return ir::bufferOf(program_.ranks[rank_], chunk); }

  /// With reuse_resources, the executor keeps the setup of the first launch.
  void checkReuse(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    const std::span<const Chunk> operands = block.operands(op);
    for (std::uint32_t k = 0; k < operands.size(); ++k) {
      const Chunk &chunk = operands[k];
      const bool scratch = bufferOf(chunk) == BufferKind::Scratch;
      // For plain data, the executor computes a remainder by the length of a chunk of the rank's own scratch. Without
      // own scratch that length is 0. For packets it computes none.
      if (scratch && chunk.space == ChunkSpace::Remote && program_.ranks[rank_].scratchChunks == 0 &&
          (chunk.index != 0 || ir::roleOf(op, k).form == ir::DataForm::Plain)) {
        diags_.report(diag::executor_no_own_scratch, at(i), {rank_, target_});
        return;
      }
      if (!scratch && (!ir::isLocal(chunk.space) || op.channelType == ir::ChannelType::Port)) {
        diags_.report(diag::executor_first_buffers, at(i), {target_, ir::wordOf(program_, op)});
        return;
      }
    }
  }

  /// Every second launch must use the second half of scratch. The executor switches halves for packets, by the size of
  /// the rank's own scratch. It also does so when the block's threads access the rank's own scratch. It does not do so
  /// for plain data that other ranks, the switch or a port access.
  void checkDoubleScratch(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    const std::uint32_t own = program_.ranks[rank_].scratchChunks;
    bool reported = false;
    ir::forEachMemory(program_, rank_, block, op, [&](const ir::MemoryPiece &piece) {
      const bool sent = piece.reach == ir::Reach::Own && op.channelType == ir::ChannelType::Port;
      if (reported || !piece.inScratch() || (piece.reach == ir::Reach::Own && !sent))
        return;
      const std::uint32_t other = program_.ranks[piece.rank].scratchChunks;
      if (!piece.isPacket() && op.kind != OpKind::PutPacket) {
        diags_.report(diag::executor_double_scratch, at(i), {target_, ir::wordOf(program_, op)});
        reported = true;
      } else if (!program_.reuseResources && other != own) {
        diags_.report(diag::executor_scratch_halves, at(i),
                      {target_, rank_, ir::plural(own, "chunk"), piece.rank, ir::plural(other, "chunk")});
        reported = true;
      }
    });
  }

  /// A switch channel uses the same offset on all ranks. In place, a share has a different offset on each rank.
  void checkSwitch(const ir::ThreadBlock &block, const Op &op, std::uint32_t i) {
    const std::span<const Chunk> operands = block.operands(op);
    for (std::uint32_t k = 0; k < operands.size(); ++k) {
      const Chunk &chunk = operands[k];
      std::optional<std::uint32_t> index; // the chunk's index on the first rank
      bool apart = false;
      ir::forEachPiece(program_, rank_, op, k, chunk, [&](const ir::MemoryPiece &piece) {
        const std::uint32_t here = ir::canonicalPlace(program_, piece).index;
        apart = apart || here != index.value_or(here);
        index = index.value_or(here);
      });
      if (apart)
        diags_.report(diag::executor_switch_in_place, at(i),
                      {target_, ir::wordOf(program_, op), ir::toString(bufferOf(chunk))});
    }
  }

  void checkInLoop(const ir::ThreadBlock &block, const Op &op, std::uint32_t i, const Op &loop) {
    const std::string_view name = ir::wordOf(program_, op);
    if (ir::isPacketOp(op.kind)) {
      diags_.report(diag::executor_packets_in_loop, at(i), {target_, name});
      return;
    }
    if (loop.imm % wordOf(op) != 0)
      diags_.report(diag::executor_tails, at(i), {target_, name, wordOf(op), "a pipeline unit", loop.imm});
    if (op.groupSize > 1 && limits_.unitSlices) {
      diags_.report(diag::executor_unit_slices, at(i), {target_, name});
      return;
    }
    for (const Chunk &chunk : block.operands(op)) {
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
  if (context.target.executor && checkCallsNoFunctions(context.program, context.target.name(), context.diags))
    ExecutorCheck(context).run();
}

} // namespace

bool checkCallsNoFunctions(const ir::Program &program, const std::string &executor, ir::DiagnosticEngine &diags) {
  if (const ir::Hook *const wire = ir::wireOf(program))
    return diags.report(diag::executor_wire, {wire->loc, "program '" + program.name + "'"}, {executor});
  const auto refuse = [&](std::uint32_t hook, ir::LocId loc) {
    return diags.report(diag::executor_hook, loc, {executor, program.hooks[hook].name});
  };
  for (const ir::Move &move : program.movement.statements)
    if (move.kind == ir::MoveKind::Apply)
      return refuse(move.hook, move.loc);
  for (const Op &op : ir::opsOf(program.ranks))
    if (op.kind == OpKind::Apply)
      return refuse(op.imm, op.loc);
  return true;
}

Pass createCheckExecutorPass() {
  return {.needs = Scheduled | DataSyncLowered | SingleInstance, .run = checkExecutor};
}

} // namespace mscclc::passes
