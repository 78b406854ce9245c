#include "passes/time/folding.h"

#include "ir/op_memory.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mscclc::passes::time {

namespace {

/// True if two operations are the same but for what they name.
bool isSame(const ir::Op &a, const ir::Op &b) {
  return a.kind == b.kind && a.channelType == b.channelType && a.reduceOp == b.reduceOp &&
         a.firstChunk == b.firstChunk && a.numSrcs == b.numSrcs && a.numDsts == b.numDsts && a.firstId == b.firstId &&
         a.numIds == b.numIds && a.groupIndex == b.groupIndex && a.groupSize == b.groupSize && a.count == b.count &&
         a.bodySize == b.bodySize;
}

/// True if of `items` each run of `instances` is the same, from the first on.
template <typename T> bool areRuns(const std::vector<T> &items, std::uint32_t instances) {
  if (items.size() % instances != 0)
    return false;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!(items[i] == items[i - i % instances]))
      return false;
  return true;
}

/// True if what a first instance's block names of its own begins such a run.
bool namesRuns(const ir::ThreadBlock &block, std::uint32_t instances) {
  return std::ranges::all_of(block.ids, [instances](std::uint32_t id) { return id % instances == 0; }) &&
         std::ranges::all_of(block.chunks, [instances](const ir::Chunk &chunk) {
           return chunk.space != ir::ChunkSpace::Switch || chunk.id % instances == 0;
         });
}

/// True if `block` does the same as `first`, and names everything of its own by numbers that are `instance` higher.
bool isInstance(const ir::ThreadBlock &first, const ir::ThreadBlock &block, std::uint32_t instance) {
  const auto isShifted = [instance](auto a, auto b) { return b == a + instance; };
  const auto isOp = [&](const ir::Op &a, const ir::Op &b) {
    return isSame(a, b) && (a.kind == ir::OpKind::Barrier ? isShifted(a.imm, b.imm) : a.imm == b.imm);
  };
  const auto isChunk = [&](const ir::Chunk &a, const ir::Chunk &b) {
    return a.space == b.space && a.size == b.size &&
           (a.space == ir::ChunkSpace::Switch ? isShifted(a.id, b.id) : a.id == b.id);
  };
  return std::ranges::equal(first.ops, block.ops, isOp) && std::ranges::equal(first.chunks, block.chunks, isChunk) &&
         std::ranges::equal(first.ids, block.ids, isShifted);
}

/// Compares what ranks do with what rank 0 does.
class AlikeRanks {
public:
  AlikeRanks(const ir::ProgramIndex &index, const Machine &machine)
      : program_(index.program), index_(index), isMesh_(machine.mesh), nodes_(index.program, machine),
        lastUse_(index.numRanks(), ir::none) {}

  bool run() {
    const ir::Rank &first = program_.ranks[0];
    const bool sameSizes = std::ranges::all_of(program_.ranks, [&](const ir::Rank &rank) {
      return rank.blocks.size() == first.blocks.size() && rank.memoryPeers.size() == first.memoryPeers.size() &&
             rank.portPeers.size() == first.portPeers.size() && rank.switchChannels.empty() &&
             rank.semaphores == first.semaphores;
    });
    if (!sameSizes || isMesh_)
      return false;
    for (const ir::ChannelType type : {ir::ChannelType::Memory, ir::ChannelType::Port})
      for (std::uint32_t id = 0; id < first.peers(type).size(); ++id)
        if (!leadsAlike(type, id))
          return false;
    for (std::size_t block = 0; block < first.blocks.size(); ++block)
      if (!doesAlike(block))
        return false;
    return true;
  }

private:
  /// The number of a channel's other end on its rank, or ir::none.
  std::uint32_t farEnd(ir::ChannelType type, std::uint32_t rank, std::uint32_t id) const {
    const std::uint32_t pair = index_.pairOf(index_.channel(type, rank, id));
    return pair == ir::none ? pair : pair - index_.channel(type, index_.rankOfChannel(pair), 0);
  }
  bool leadsAlike(ir::ChannelType type, std::uint32_t id) {
    ++question_;
    for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
      const ir::Rank &rank = program_.ranks[r];
      const std::uint32_t peer = rank.peers(type)[id];
      if (farEnd(type, r, id) != farEnd(type, 0, id) || !reachesAlike(r, peer))
        return false;
    }
    return true;
  }
  /// True if `rank`, after those before it in the same question, reaches another rank than they do, and one that is as
  /// near as that of rank 0.
  bool reachesAlike(std::uint32_t rank, std::uint32_t peer) {
    if (rank == 0)
      isNear_ = nodes_.areTogether(peer, 0);
    return std::exchange(lastUse_[peer], question_) != question_ && nodes_.areTogether(peer, rank) == isNear_;
  }
  bool doesAlike(std::size_t block) {
    const ir::ThreadBlock &first = program_.ranks[0].blocks[block];
    const auto isOp = [](const ir::Op &a, const ir::Op &b) { return isSame(a, b) && a.imm == b.imm; };
    for (const ir::Rank &rank : program_.ranks)
      if (!std::ranges::equal(first.ops, rank.blocks[block].ops, isOp) || first.ids != rank.blocks[block].ids ||
          first.chunks.size() != rank.blocks[block].chunks.size())
        return false;
    for (const ir::Op &op : first.ops)
      for (std::uint32_t i = 0; i < op.numChunks(); ++i)
        if (!touchesAlike(block, op, i))
          return false;
    return true;
  }
  bool touchesAlike(std::size_t block, const ir::Op &op, std::uint32_t operand) {
    ++question_;
    const auto pieceOn = [&](std::uint32_t r) {
      return ir::pieceOf(program_, r, op, operand, program_.ranks[r].blocks[block].chunks[op.firstChunk + operand]);
    };
    const ir::MemoryPiece first = pieceOn(0);
    for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
      const ir::MemoryPiece piece = pieceOn(r);
      const bool samePlace = piece.buffer == first.buffer && piece.index == first.index;
      if (piece.size != first.size || piece.reach != first.reach || (piece.isPacket() && !samePlace) ||
          !reachesAlike(r, piece.rank))
        return false;
    }
    return true;
  }

  const ir::Program &program_;
  const ir::ProgramIndex &index_;
  const bool isMesh_;
  const RankNodes nodes_;
  std::vector<std::uint32_t> lastUse_; ///< [rank]: the last question in which some rank reached it
  std::uint32_t question_ = 0;
  bool isNear_ = false; ///< what rank 0 reaches in this question
};

} // namespace

bool areInstancesAlike(const ir::Program &program, std::uint32_t instances) {
  if (instances <= 1)
    return instances == 1;
  return std::ranges::all_of(program.ranks, [&](const ir::Rank &rank) {
    if (!rank.portPeers.empty() || rank.blocks.size() % instances != 0 || !areRuns(rank.memoryPeers, instances) ||
        !areRuns(rank.switchChannels, instances) || !areRuns(rank.semaphores, instances))
      return false;
    for (std::size_t b = 0; b < rank.blocks.size(); ++b)
      if ((b % instances == 0 && !namesRuns(rank.blocks[b], instances)) ||
          !isInstance(rank.blocks[b - b % instances], rank.blocks[b], static_cast<std::uint32_t>(b % instances)))
        return false;
    return true;
  });
}

bool areRanksAlike(const ir::ProgramIndex &index, const Machine &machine) {
  return AlikeRanks(index, machine).run();
}

} // namespace mscclc::passes::time
