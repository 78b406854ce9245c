#include "passes/analysis/message_limits.h"

#include "ir/collectives.h"
#include "ir/cursor.h"
#include "ir/op_memory.h"
#include "passes/diagnostics.h"

#include <algorithm>

namespace mscclc::passes {
namespace {

using ir::ChunkSpace;
using ir::Op;
using ir::OpKind;

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// Returns the product; `unlimited` if it overflows.
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? unlimited : product;
}

/// The division of a rank's message into chunks. All its buffers have the same scale (ir::chunksOfScale). The executor
/// accepts only messages whose chunks are equal and multiples of the alignment.
struct MessageCut {
  std::uint64_t alignment;
  std::uint64_t chunks = 0;        ///< chunks of the buffer whose length gives the scale; 0: the rank has no scale
  std::uint64_t messageChunks = 0; ///< chunks of the buffer that is as long as the message

  MessageCut(const ir::Program &program, const ir::Rank &rank) : alignment(program.bufferAlignment) {
    chunks = ir::chunksOfScale(rank);
    messageChunks = ir::chunksOfMessage(program, rank);
  }
  /// Returns the bytes of a chunk in the largest message of at most `bytes` bytes.
  std::uint64_t chunkOfMessage(std::uint64_t bytes) const { return bytes / alignment / messageChunks * alignment; }
  /// Returns the bytes of a chunk in the smallest message of at least `bytes` bytes whose chunks are not empty.
  std::uint64_t chunkFromMessage(std::uint64_t bytes) const {
    const std::uint64_t unit = times(alignment, messageChunks);
    return std::max<std::uint64_t>(bytes / unit + (bytes % unit != 0), 1) * alignment;
  }
  /// Returns the bytes of the largest message whose chunks have at most `bytes` bytes.
  std::uint64_t messageOfChunk(std::uint64_t bytes) const {
    return times(bytes / alignment * alignment, messageChunks);
  }
};

/// Finds the largest message. Each check limits the length of a chunk for one operation. The smallest of these limits
/// gives the largest message.
class MessageLimits {
public:
  /// `stated`: true if the program states its largest message size. Then errors are about a message of this size,
  /// otherwise about the smallest message.
  MessageLimits(const ir::Program &program, bool stated, const Target &target, ir::DiagnosticEngine &diags)
      : program_(program), target_(target.name()), limits_(*target.executor), diags_(diags), stated_(stated) {}

  /// Returns the size, in bytes, of the largest message that is executed correctly.
  std::uint64_t run() {
    std::uint64_t largest = unlimited;
    for (rank_ = 0; rank_ < program_.ranks.size(); ++rank_) {
      const MessageCut cut(program_, program_.ranks[rank_]);
      if (cut.chunks == 0)
        continue; // check-executor reports ranks without a scale
      cut_ = &cut;
      longest_ = unlimited;
      goodEnd_ = goodSize_ = 0;
      const std::uint64_t leastChunk = cut.chunkFromMessage(program_.minMessageSize);
      chunk_ = stated_ ? cut.chunkOfMessage(program_.maxMessageSize) : leastChunk;
      shownMessage_ = (stated_ ? "the maximum message size of " + std::to_string(program_.maxMessageSize)
                               : "the smallest message, of " + std::to_string(cut.messageOfChunk(leastChunk))) +
                      " bytes";
      checkDoubleScratch();
      for (block_ = 0; block_ < program_.ranks[rank_].blocks.size(); ++block_)
        checkBlock(program_.ranks[rank_].blocks[block_]);
      largest = std::min(largest, cut.messageOfChunk(longest_));
    }
    return largest;
  }

private:
  ir::Where at(std::size_t op) const { return whereIs(program_, {rank_, block_, static_cast<std::uint32_t>(op)}); }

  /// Limits chunks of the rank to `limit` bytes. True if the checked chunks are not longer.
  bool fits(std::uint64_t limit) {
    longest_ = std::min(longest_, limit);
    return chunk_ <= limit;
  }

  void checkBlock(const ir::ThreadBlock &block) {
    ir::forEachOp(block, [&](std::uint32_t i, std::uint32_t header) {
      const Op &op = block.ops[i];
      if (op.kind == OpKind::Pipeline)
        return checkLoop(op, i);
      checkBytes(block, op, i);
      checkSlices(block, op, i);
      if (program_.reuseResources)
        checkReusedScratch(block, op, i, header == ir::none ? nullptr : &block.ops[header]);
    });
  }

  void checkLoop(const Op &loop, std::uint32_t index) {
    if (loop.imm >> limits_.byteBits != 0)
      diags_.report(diag::limit_unit, at(index), {loop.imm, block_, rank_, target_, limits_.byteBits});
    else if (loop.count != 0 && !fits(times(limits_.iterationsPerLoop, loop.imm) / loop.count))
      diags_.report(diag::limit_iterations, at(index),
                    {(times(loop.count, chunk_) - 1) / loop.imm + 1, block_, rank_, shownMessage_, target_,
                     limits_.iterationsPerLoop});
  }

  /// Checks that the executor can represent the offset of every byte that an operation accesses. All bytes count,
  /// because a slice or an iteration may begin anywhere in a chunk. Packets need twice the bytes.
  void checkBytes(const ir::ThreadBlock &block, const Op &op, std::uint32_t index) {
    std::uint64_t farthest = 0, longest = 0;
    const bool isPacketOp = ir::isPacketOp(op.kind);
    const std::span<const ir::Chunk> operands = block.operands(op);
    for (std::uint32_t i = 0; i < operands.size(); ++i) {
      const std::uint64_t scale = isPacketOp && ir::roleOf(op, i).form == ir::DataForm::Packet ? 2 : 1;
      const std::uint64_t size = operands[i].size * scale, end = operands[i].index * scale + size;
      farthest = std::max(farthest, size == 0 ? 0 : end);
      longest = std::max(longest, size);
    }
    if (farthest <= goodEnd_ && longest <= goodSize_)
      return; // returns here also if there are no operands
    const std::uint64_t range = std::uint64_t{1} << limits_.byteBits;
    if (fits(std::min(range / farthest, (range - 1) / longest))) {
      goodEnd_ = std::max(goodEnd_, farthest);
      goodSize_ = std::max(goodSize_, longest);
    } else {
      diags_.report(
          diag::limit_bytes, at(index),
          {ir::wordOf(program_, op), block_, rank_, times(farthest, chunk_), shownMessage_, target_, limits_.byteBits});
    }
  }

  /// Checks that no operation has more slices than its data has units, if the executor divides such data wrongly.
  void checkSlices(const ir::ThreadBlock &block, const Op &op, std::uint32_t index) {
    if (limits_.smallSlices || op.groupSize < 2 || op.numChunks() == 0)
      return;
    const std::uint64_t chunks = block.operands(op)[0].size;
    if (times(chunks, cut_->chunkFromMessage(program_.minMessageSize)) >= op.groupSize * cut_->alignment)
      return;
    const std::uint64_t needed = (op.groupSize + chunks - 1) / chunks * cut_->alignment;
    diags_.report(diag::limit_slices, at(index),
                  {target_, ir::wordOf(program_, op), op.groupSize, cut_->alignment, cut_->messageOfChunk(needed)});
  }

  /// Checks double scratch. The executor adds the offset of the second half in 32 bits. The size of scratch depends on
  /// the user's allocation, which may be a whole message for any of the rank's buffers (executor.cc,
  /// setupScratchBuffer). With reuse_resources it is fixed.
  void checkDoubleScratch() {
    const std::uint64_t scratch = program_.ranks[rank_].scratchChunks;
    if (!program_.doubleScratch || program_.reuseResources || scratch == 0)
      return;
    const std::uint64_t copies = program_.protocol == ir::Protocol::LL ? 4 : 2;
    const std::uint64_t most =
        (std::uint64_t{1} << limits_.byteBits) / (scratch * copies); // bytes of a chunk of scratch
    if (fits(times(most, cut_->chunks) / cut_->messageChunks))
      return;
    const std::uint64_t bytes = times(times(chunk_, cut_->messageChunks) / cut_->chunks, scratch * copies);
    diags_.report(diag::limit_double_scratch, "program '" + program_.name + "'",
                  {rank_, bytes, shownMessage_, target_, limits_.byteBits,
                   cut_->messageOfChunk(times(most, cut_->chunks) / cut_->messageChunks)});
  }

  /// Checks scratch with reuse_resources, which has a fixed size. Chunks that are longer than their share of scratch
  /// overlap (execution_plan.cc, getOffset). In a pipeline, only one unit of each chunk is in scratch at a time.
  void checkReusedScratch(const ir::ThreadBlock &block, const Op &op, std::uint32_t index, const Op *loop) {
    const std::uint32_t own = program_.ranks[rank_].scratchChunks, touched = mostScratchChunks(block, op);
    // A rank without scratch has shares of 0 bytes.
    const char *fault = loop || own == 0 ? wrapFault(block, op) : nullptr;
    if (touched == 0 && !fault)
      return;
    const std::uint32_t chunks = std::max(own, touched);
    const std::uint64_t bytes = limits_.reusedScratch / (program_.doubleScratch ? 2 : 1), unit = cut_->alignment;
    const std::uint64_t share = own == 0 && fault ? 0 : ((bytes + chunks - 1) / chunks + unit - 1) / unit * unit;
    if (fault && !fits(share))
      diags_.report(
          diag::limit_wrapped, at(index),
          {ir::wordOf(program_, op), share, chunk_, shownMessage_, target_, fault, cut_->messageOfChunk(share)});
    else if (touched != 0 && (!loop || loop->imm > share) && !fits(share))
      diags_.report(diag::limit_scratch, at(index),
                    {ir::wordOf(program_, op), block_, rank_, loop ? std::min(loop->imm, chunk_) : chunk_,
                     shownMessage_, target_, share, chunks, loop ? "units" : "messages",
                     loop ? share : cut_->messageOfChunk(share)});
  }

  /// Returns the fault of the executor in a pipeline whose chunks are longer than their share of scratch; null if there
  /// is none.
  const char *wrapFault(const ir::ThreadBlock &block, const Op &op) const {
    const ir::Rank &rank = program_.ranks[rank_];
    const std::span<const ir::Chunk> srcs = block.srcs(op), dsts = block.dsts(op);
    if (op.kind == OpKind::Reduce || op.kind == OpKind::ReduceSend) {
      // handleReduceSend takes the kind of source i from the slot of destination i. For a remote destination, this slot
      // holds the destination's position in the block's table. Without a destination, it holds zero.
      for (std::size_t i = 1; i < srcs.size(); ++i) {
        const bool taken = i < dsts.size() && memoryPosition(block, dsts[i].id) == scratchCode;
        if (taken != (srcs[i].space == ChunkSpace::Scratch))
          return "takes the kind of its sources from its destinations";
      }
    }
    for (std::size_t i = 0; op.kind == OpKind::Get && i < std::min(srcs.size(), dsts.size()); ++i)
      if ((ir::bufferOf(rank, srcs[i]) == ir::BufferKind::Scratch) != (dsts[i].space == ChunkSpace::Scratch))
        return "swaps the offsets of source and destination";
    bool alike = true; // a rank without scratch is reported by check-executor
    forEachScratch(block, op, [&](const ir::Rank &of) {
      alike &= rank.scratchChunks == 0 || of.scratchChunks == rank.scratchChunks;
    });
    return alike ? nullptr : "takes the scratch of another rank to be cut like its own";
  }

  /// BufferType::SCRATCH, execution_common.hpp.
  static constexpr std::uint32_t scratchCode = 2;

  static std::uint32_t memoryPosition(const ir::ThreadBlock &block, std::uint32_t remote) {
    std::uint32_t position = 0;
    for (const ir::ResourceUse &use : block.remoteBuffers)
      if (use.type == ir::ChannelType::Memory && use.id != remote)
        ++position;
      else if (use.type == ir::ChannelType::Memory)
        break;
    return position;
  }

  /// Calls `visit(rank)` for each rank whose scratch `op` accesses.
  template <typename Visit> void forEachScratch(const ir::ThreadBlock &block, const Op &op, Visit visit) const {
    ir::forEachMemory(program_, rank_, block, op, [&](const ir::MemoryPiece &piece) {
      if (piece.inScratch())
        visit(program_.ranks[piece.rank]);
    });
  }

  /// Returns the largest number of chunks of a scratch buffer that `op` accesses. 0: it accesses none.
  std::uint32_t mostScratchChunks(const ir::ThreadBlock &block, const Op &op) const {
    std::uint32_t most = 0;
    forEachScratch(block, op, [&](const ir::Rank &of) { most = std::max(most, of.scratchChunks); });
    return most;
  }

  const ir::Program &program_;
  const std::string target_;
  const ExecutorLimits &limits_;
  ir::DiagnosticEngine &diags_;
  const bool stated_;
  std::uint32_t rank_ = 0, block_ = 0;
  const MessageCut *cut_ = nullptr; ///< the division of the current rank's message
  std::uint64_t chunk_ = 0;         ///< bytes of a chunk of the checked message
  std::string shownMessage_;
  std::uint64_t longest_ = 0;                ///< the most bytes that a chunk of the rank may have
  std::uint64_t goodEnd_ = 0, goodSize_ = 0; ///< the largest end and size known to fit, in chunks
};

} // namespace

void limitMessages(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags) {
  const bool stated = program.maxMessageSize != unlimited;
  const std::uint64_t largest = MessageLimits(program, stated, target, diags).run();
  if (!stated)
    program.maxMessageSize = largest;
}

std::uint64_t largestMessage(const ir::Program &program, const Target &target) {
  ir::DiagnosticEngine unheard;
  return MessageLimits(program, false, target, unheard).run();
}

} // namespace mscclc::passes
