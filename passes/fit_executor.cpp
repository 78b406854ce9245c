#include "passes/fit_executor.h"

#include "passes/byte_layout.h"
#include "passes/diagnostics.h"
#include "passes/op_list.h"
#include "passes/split_ops.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

using ir::ChannelType;
using ir::Op;
using ir::OpKind;

/// Reports each limit that the program passes, where it first does so in a block.
class LimitCheck {
public:
  LimitCheck(const ir::Program &program, const Target &target, ir::DiagnosticEngine &diags)
      : program_(program), target_(target.name()), limits_(*target.executor), diags_(diags) {}

  void run() {
    if (program_.threadsPerBlock > limits_.threadsPerBlock)
      diags_.report(diag::limit_threads, "program '" + program_.name + "'",
                    {program_.threadsPerBlock, target_, limits_.threadsPerBlock});
    for (rank_ = 0; rank_ < program_.ranks.size(); ++rank_)
      for (block_ = 0; block_ < program_.ranks[rank_].blocks.size(); ++block_)
        checkBlock(program_.ranks[rank_].blocks[block_]);
  }

private:
  ir::Where at(std::size_t op) const { return whereIs(program_, {rank_, block_, static_cast<std::uint32_t>(op)}); }

  void checkBlock(const ir::ThreadBlock &block) {
    if (block.ops.size() > limits_.opsPerBlock)
      diags_.report(diag::limit_ops, at(limits_.opsPerBlock),
                    {block_, rank_, block.ops.size(), target_, limits_.opsPerBlock});
    checkTables(block);
    const ByteLayout layout(program_, rank_);
    loop_ = nullptr;
    std::size_t bodyEnd = 0;
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      const Op &op = block.ops[i];
      if (op.kind == OpKind::Pipeline) {
        loop_ = &op;
        bodyEnd = nextOp(block, static_cast<std::uint32_t>(i));
      } else if (i >= bodyEnd) {
        loop_ = nullptr;
      }
      if (op.kind == OpKind::Barrier && op.imm >= limits_.barriersPerRank)
        diags_.report(diag::limit_barriers, at(i), {op.imm, rank_, block_, target_, limits_.barriersPerRank});
      if (op.kind == OpKind::Pipeline) {
        checkLoop(op, i, layout);
      } else if (layout.known()) {
        checkBytes(block, op, i, layout);
        checkReusedScratch(block, op, i, layout);
      }
    }
  }

  /// The first operation that shows use `use` of a table, or the block's first.
  std::size_t firstUser(const ir::ThreadBlock &block, const ir::ResourceUse &use, bool remote) const {
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      const Op &op = block.ops[i];
      if (op.channelType != use.type)
        continue;
      const auto uses = [&](const ir::Chunk &chunk) {
        return chunk.space == ir::ChunkSpace::Remote && chunk.id == use.id;
      };
      if (remote ? std::ranges::any_of(block.operands(op), uses) : std::ranges::count(block.idsOf(op), use.id) != 0)
        return i;
    }
    return 0;
  }

  void checkTables(const ir::ThreadBlock &block) {
    for (const ChannelType type : {ChannelType::Memory, ChannelType::Port, ChannelType::Switch}) {
      checkTable(block, block.channels, type, limits_.channelsPerBlock, false);
      checkTable(block, block.remoteBuffers, type, limits_.remotesPerBlock, true);
    }
  }

  void checkTable(const ir::ThreadBlock &block, std::span<const ir::ResourceUse> table, ChannelType type,
                  std::uint32_t limit, bool remote) {
    std::uint32_t count = 0;
    const ir::ResourceUse *tooMuch = nullptr;
    for (const ir::ResourceUse &use : table)
      if (use.type == type && count++ == limit)
        tooMuch = &use;
    if (!tooMuch)
      return;
    const ir::Where where = block.ops.empty()
                                ? ir::Where("block " + std::to_string(block_) + " of rank " + std::to_string(rank_))
                                : at(firstUser(block, *tooMuch, remote));
    diags_.report(remote ? diag::limit_remotes : diag::limit_channels, where,
                  {block_, rank_, count, ir::toString(type), target_, limit});
  }

  void checkLoop(const Op &op, std::size_t index, const ByteLayout &layout) {
    if (op.imm >> limits_.byteBits != 0)
      diags_.report(diag::limit_unit, at(index), {op.imm, block_, rank_, target_, limits_.byteBits});
    else if (layout.known() && op.imm != 0)
      if (const std::uint64_t iterations = layout.iterations(op); iterations > limits_.iterationsPerLoop)
        diags_.report(diag::limit_iterations, at(index),
                      {iterations, block_, rank_, program_.maxMessageSize, target_, limits_.iterationsPerLoop});
  }

  void checkBytes(const ir::ThreadBlock &block, const Op &op, std::size_t index, const ByteLayout &layout) {
    std::uint64_t largest = 0;
    const std::span<const ir::Chunk> operands = block.operands(op);
    for (std::uint32_t i = 0; i < operands.size(); ++i)
      largest = std::max(largest, layout.largestNumber(operands[i], ir::roleOf(op, i).form));
    if (largest >> limits_.byteBits != 0)
      diags_.report(
          diag::limit_bytes, at(index),
          {ir::toString(op.kind), block_, rank_, largest, program_.maxMessageSize, target_, limits_.byteBits});
  }

  /// With reuse_resources scratch has one size, whatever the message: its chunks lie closer together than they are long
  /// once they are longer than their share of it (execution_plan.cc, getOffset). A pipeline moves a unit at a time.
  void checkReusedScratch(const ir::ThreadBlock &block, const Op &op, std::size_t index, const ByteLayout &layout) {
    const std::uint32_t chunks = program_.reuseResources ? mostScratchChunks(block, op) : 0;
    if (chunks == 0)
      return;
    const std::uint64_t bytes = limits_.reusedScratch / (program_.doubleScratch ? 2 : 1),
                        alignment = program_.bufferAlignment;
    const std::uint64_t share = ((bytes + chunks - 1) / chunks + alignment - 1) / alignment * alignment;
    const std::uint64_t moved = loop_ ? std::min(loop_->imm, layout.chunkBytes()) : layout.chunkBytes();
    if (moved > share)
      diags_.report(diag::limit_scratch, at(index),
                    {ir::toString(op.kind), block_, rank_, moved, program_.maxMessageSize, target_, share, chunks,
                     loop_ ? "units" : "messages", loop_ ? share : layout.messageOfChunks(share)});
  }

  /// Of the scratch buffers that `op` touches, this rank's own being one of them: the most chunks. 0: it touches none.
  std::uint32_t mostScratchChunks(const ir::ThreadBlock &block, const Op &op) const {
    const ir::Rank &rank = program_.ranks[rank_];
    std::uint32_t most = 0;
    const auto touch = [&](std::uint32_t of) {
      most = std::max({most, rank.scratchChunks, program_.ranks[of].scratchChunks});
    };
    for (const ir::Chunk &chunk : block.operands(op)) {
      if (chunk.space == ir::ChunkSpace::Scratch)
        touch(rank_);
      else if (chunk.space == ir::ChunkSpace::Remote && rank.remoteBuffers[chunk.id].buffer == ir::BufferKind::Scratch)
        touch(rank.remoteBuffers[chunk.id].rank);
      else if (chunk.space == ir::ChunkSpace::Switch && rank.switchChannels[chunk.id].buffer == ir::BufferKind::Scratch)
        for (const std::uint32_t of : rank.switchChannels[chunk.id].ranks)
          touch(of);
    }
    return most;
  }

  const ir::Program &program_;
  const std::string target_;
  const ExecutorLimits &limits_;
  ir::DiagnosticEngine &diags_;
  std::uint32_t rank_ = 0, block_ = 0;
  const Op *loop_ = nullptr; ///< the pipeline around the operation
};

void fitExecutor(PassContext &context) {
  if (!context.target.executor)
    return;
  const SplitCounts counts = splitWideOps(context.program, context.target, context.diags);
  LimitCheck(context.program, context.target, context.diags).run();
  context.stats.count("operations split", counts.split);
  context.stats.count("pieces made", counts.pieces);
  context.stats.count("nops inserted", counts.nops);
}

} // namespace

Pass createFitExecutorPass() {
  return {.needs = DataSyncLowered | SingleInstance, .run = fitExecutor};
}

} // namespace mscclc::passes
