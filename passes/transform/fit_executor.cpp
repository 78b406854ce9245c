#include "passes/transform/fit_executor.h"

#include "ir/collectives.h"
#include "passes/analysis/message_limits.h"
#include "passes/diagnostics.h"
#include "passes/transform/name_in_place.h"
#include "passes/transform/split_ops.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::ChannelType;
using ir::Op;
using ir::OpKind;

/// Reports the limits that the program exceeds. In each block, reports a limit only once, at the first place.
class LimitCheck {
public:
  LimitCheck(const ir::Program &program, const Target &target, ir::DiagnosticEngine &diags)
      : program_(program), target_(target.name()), limits_(*target.executor), diags_(diags) {}

  void run() {
    if (program_.threadsPerBlock > limits_.threadsPerBlock)
      diags_.report(diag::limit_threads, "program '" + program_.name + "'",
                    {program_.threadsPerBlock, target_, limits_.threadsPerBlock});
    checkProxies();
    for (rank_ = 0; rank_ < program_.ranks.size(); ++rank_)
      for (block_ = 0; block_ < program_.ranks[rank_].blocks.size(); ++block_)
        checkBlock(program_.ranks[rank_].blocks[block_]);
  }

private:
  /// Reports only the first rank that has too many requests for its proxy, because usually all ranks have too many.
  void checkProxies() {
    const std::vector<std::uint64_t> semaphores = portSemaphores();
    bool isSaidOfIds = false, isSaidOfSemaphores = false;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      const ir::Where where("rank " + std::to_string(r));
      const std::uint64_t reached = static_cast<std::uint64_t>(
          std::ranges::count(program_.ranks[r].remoteBuffers, true, &ir::RemoteBuffer::viaPort));
      if (reached + ownMemories > limits_.memoryIds && !std::exchange(isSaidOfIds, true))
        diags_.report(diag::limit_memory_ids, where, {r, reached + ownMemories, reached, target_, limits_.memoryIds});
      if (semaphores[r] > limits_.portSemaphores && !std::exchange(isSaidOfSemaphores, true))
        diags_.report(diag::limit_port_semaphores, where, {r, semaphores[r], target_, limits_.portSemaphores});
    }
  }

  /// A rank's own memories: input, output and scratch (executor.cc, setupRegisteredMemories).
  static constexpr std::uint64_t ownMemories = 3;

  /// Returns the number of port semaphores of each rank. For two ranks, the executor makes the same number on both
  /// sides: the number of channels of the side that has more (getUnpairedChannelInfos).
  std::vector<std::uint64_t> portSemaphores() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> channels; // [from, to]
    std::vector<std::uint64_t> taken;
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
      taken.push_back(program_.ranks[r].portPeers.size());
      for (const std::uint32_t peer : program_.ranks[r].portPeers)
        ++channels[{r, peer}];
    }
    for (const auto &[ends, count] : channels) {
      const auto back = channels.find({ends.second, ends.first});
      const std::uint64_t own = back == channels.end() ? 0 : back->second;
      taken[ends.second] += count > own ? count - own : 0;
    }
    return taken;
  }

  /// Returns advice for a block that exceeds a limit. In a program of statements, the compiler chose the blocks, and
  /// has already tried to use more blocks.
  std::string_view inOtherBlocks() const {
    return program_.schedule == ir::Schedule::Auto
               ? "statements without '.on' are shared out to more blocks, and a baked kernel (--emit-cuda "
                 "--target=none) "
                 "has no such limit"
               : "give some to another thread block, with a semaphore where one waits for the other, or bake a kernel "
                 "(--emit-cuda --target=none)";
  }

  ir::Where at(std::size_t op) const { return whereIs(program_, {rank_, block_, static_cast<std::uint32_t>(op)}); }

  void checkBlock(const ir::ThreadBlock &block) {
    if (block.ops.size() > limits_.opsPerBlock)
      diags_.report(diag::limit_ops, at(limits_.opsPerBlock),
                    {block_, rank_, block.ops.size(), target_, limits_.opsPerBlock, inOtherBlocks()});
    checkTables(block);
    for (std::size_t i = 0; i < block.ops.size(); ++i)
      if (const Op &op = block.ops[i]; op.kind == OpKind::Barrier && op.imm >= limits_.barriersPerRank)
        diags_.report(diag::limit_barriers, at(i), {op.imm, rank_, block_, target_, limits_.barriersPerRank});
  }

  /// Returns the index of the first operation that uses the table entry `use`; 0 if there is none.
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
                  {block_, rank_, count, ir::toString(type), target_, limit, inOtherBlocks()});
  }

  const ir::Program &program_;
  const std::string target_;
  const ExecutorLimits &limits_;
  ir::DiagnosticEngine &diags_;
  std::uint32_t rank_ = 0, block_ = 0;
};

/// Adds a block that does nothing to each rank that has no blocks, because CUDA refuses a launch without blocks.
std::uint64_t addIdleBlocks(ir::Program &program) {
  std::uint64_t added = 0;
  for (ir::Rank &rank : program.ranks)
    if (rank.blocks.empty()) {
      rank.blocks.emplace_back().append({});
      ++added;
    }
  return added;
}

/// Aligns the halves of double scratch to 16 bytes, because threads move words of 16 bytes. The executor divides
/// scratch into two halves by bytes. The size of a scratch chunk is the size of the user's allocation divided by the
/// rank's number of chunks (executor.cc, setupScratchBuffer). So the second half could begin at any byte. Allocations
/// are multiples of 512 bytes, so the halves are aligned if the number of chunks is a power of two up to 32. For
/// another number, chunks are added until the halves are multiples of 16 bytes, on all ranks.
std::uint64_t alignScratchHalves(ir::Program &program) {
  const auto cutsWell = [](const ir::Rank &rank) {
    const std::uint32_t chunks = ir::chunksOfScale(rank);
    return rank.scratchChunks == 0 || (std::has_single_bit(chunks) && chunks <= 32);
  };
  if (!program.doubleScratch || program.reuseResources || std::ranges::all_of(program.ranks, cutsWell))
    return 0;
  const std::uint32_t step = program.protocol == ir::Protocol::LL ? 8 : 16; // a packet chunk has twice the bytes
  std::uint64_t added = 0;
  for (ir::Rank &rank : program.ranks) {
    const std::uint32_t missing = (step - rank.scratchChunks % step) % step;
    if (rank.scratchChunks + missing < rank.scratchChunks)
      continue; // too many chunks, which limitMessages() refuses
    rank.scratchChunks += missing;
    added += missing;
  }
  return added;
}

void fitExecutor(PassContext &context) {
  if (!context.target.executor)
    return;
  context.stats.count("idle blocks added", addIdleBlocks(context.program));
  context.stats.count("scratch chunks added", alignScratchHalves(context.program));
  context.stats.count("chunks named by the larger buffer", nameInPlace(context.program));
  const SplitCounts counts = splitWideOps(context.program, context.target, context.diags);
  LimitCheck(context.program, context.target, context.diags).run();
  limitMessages(context.program, context.target, context.diags);
  context.stats.count("operations split", counts.split);
  context.stats.count("pieces made", counts.pieces);
  context.stats.count("nops inserted", counts.nops);
}

} // namespace

Pass createFitExecutorPass() {
  return {.needs = Scheduled | DataSyncLowered | SingleInstance, .run = fitExecutor};
}

} // namespace mscclc::passes
