#include "passes/analysis/block_symmetry.h"

#include "ir/op_memory.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes {
namespace {

/// True if two operations are equal except for the things that they name.
bool isSame(const ir::Op &a, const ir::Op &b) {
  return a.kind == b.kind && a.channelType == b.channelType && a.reduceOp == b.reduceOp &&
         a.firstChunk == b.firstChunk && a.numSrcs == b.numSrcs && a.numDsts == b.numDsts && a.firstId == b.firstId &&
         a.numIds == b.numIds && a.groupIndex == b.groupIndex && a.groupSize == b.groupSize && a.count == b.count &&
         a.bodySize == b.bodySize && a.firstAfter == b.firstAfter;
}

/// True if `items` consists of runs of `instances` equal items.
template <typename T> bool areRuns(const std::vector<T> &items, std::uint32_t instances) {
  if (items.size() % instances != 0)
    return false;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!(items[i] == items[i - i % instances]))
      return false;
  return true;
}

/// True if every channel, semaphore and switch channel that `block` names is the first of a run of `instances` equal
/// ones. `block` belongs to a first instance.
bool namesRuns(const ir::ThreadBlock &block, std::uint32_t instances) {
  return std::ranges::all_of(block.ids, [instances](std::uint32_t id) { return id % instances == 0; }) &&
         std::ranges::all_of(block.chunks, [instances](const ir::Chunk &chunk) {
           return chunk.space != ir::ChunkSpace::Switch || chunk.id % instances == 0;
         });
}

/// True if `block` does the same as `first`, and the numbers of its channels, semaphores and barriers are higher by
/// `instance`.
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

/// Compares all ranks with rank 0, and finds the images of rank 0's channels.
class BlockComparison {
public:
  static constexpr std::array channelTypes{ir::ChannelType::Memory, ir::ChannelType::Port};
  static auto &of(auto &ofTypes, ir::ChannelType type) { return ofTypes[type == ir::ChannelType::Port]; }

  BlockComparison(const ir::ProgramIndex &index, const std::function<bool(std::uint32_t, std::uint32_t)> &isNear)
      : program_(index.program), index_(index), isNear_(isNear), lastUse_(index.numRanks(), ir::none),
        onFirst_(index.numChannels(), ir::none) {
    for (const ir::ChannelType type : channelTypes)
      of(images, type).resize(std::size_t{index.numRanks()} * program_.ranks[0].peers(type).size(), ir::none);
  }

  bool run() {
    if (!haveSameSizes())
      return false;
    const ir::Rank &first = program_.ranks[0];
    for (std::uint32_t r = 0; r < index_.numRanks(); ++r)
      for (std::size_t block = 0; block < first.blocks.size(); ++block)
        if (!doesSame(r, block))
          return false;
    for (std::size_t block = 0; block < first.blocks.size(); ++block)
      for (const ir::Op &op : first.blocks[block].ops)
        for (std::uint32_t i = 0; i < op.numChunks(); ++i)
          if (!touchesSame(block, op, i))
            return false;
    for (const ir::ChannelType type : channelTypes)
      for (std::uint32_t id = 0; id < first.peers(type).size(); ++id) {
        if (!leadsSame(type, id))
          return false;
        of(otherEnds, type).push_back(otherEnd(type, 0, id));
      }
    return true;
  }

  /// The image of each channel of rank 0 on each rank: [0: memory, 1: port][rank * (channels of rank 0) + channel].
  std::array<std::vector<std::uint32_t>, 2> images;
  OtherEnds otherEnds;

private:
  bool haveSameSizes() const {
    const ir::Rank &first = program_.ranks[0];
    return std::ranges::all_of(program_.ranks, [&](const ir::Rank &rank) {
      return rank.blocks.size() == first.blocks.size() && rank.memoryPeers.size() == first.memoryPeers.size() &&
             rank.portPeers.size() == first.portPeers.size() && rank.switchChannels.empty() &&
             rank.semaphores == first.semaphores;
    });
  }
  /// Returns the image on rank `r` of channel `id` of rank 0; ir::none if no operation names it.
  std::uint32_t &image(ir::ChannelType type, std::uint32_t r, std::uint32_t id) {
    return of(images, type)[std::size_t{r} * program_.ranks[0].peers(type).size() + id];
  }
  /// Returns the channel of rank 0 whose image is the other end of a rank's channel; ir::none if no operation uses that
  /// end.
  std::uint32_t otherEnd(ir::ChannelType type, std::uint32_t r, std::uint32_t id) const {
    const std::uint32_t pair = index_.pairOf(index_.channel(type, r, id));
    return pair == ir::none ? pair : onFirst_[pair];
  }
  bool leadsSame(ir::ChannelType type, std::uint32_t id) {
    if (image(type, 0, id) == ir::none)
      return true;
    ++question_;
    const std::uint32_t end = otherEnd(type, 0, id);
    for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
      const std::uint32_t own = image(type, r, id);
      if (otherEnd(type, r, own) != end || !reachesAnother(r, program_.ranks[r].peers(type)[own]))
        return false;
    }
    return true;
  }
  /// True if no earlier rank in this question has reached `peer`, and if `peer` is as near to `rank` as the peer of
  /// rank 0 is to rank 0. Notes that `rank` has reached `peer`.
  bool reachesAnother(std::uint32_t rank, std::uint32_t peer) {
    if (rank == 0)
      isFirstNear_ = isNear_(0, peer);
    return std::exchange(lastUse_[peer], question_) != question_ && isNear_(rank, peer) == isFirstNear_;
  }
  /// Makes channel `id` of rank `r` the image of channel `first` of rank 0. Returns false if one of the two already has
  /// another counterpart.
  bool makeImage(ir::ChannelType type, std::uint32_t r, std::uint32_t id, std::uint32_t first) {
    std::uint32_t &there = image(type, r, first), &here = onFirst_[index_.channel(type, r, id)];
    if (there == ir::none && here == ir::none) {
      there = id;
      here = first;
    }
    return there == id && here == first;
  }
  bool doesSame(std::uint32_t r, std::size_t number) {
    const ir::ThreadBlock &first = program_.ranks[0].blocks[number], &block = program_.ranks[r].blocks[number];
    if (first.ops.size() != block.ops.size())
      return false;
    for (std::size_t o = 0; o < first.ops.size(); ++o) {
      const ir::Op &a = first.ops[o], &b = block.ops[o];
      if (!isSame(a, b) || a.imm != b.imm)
        return false;
      const bool isNumbered = a.channelType == ir::ChannelType::Memory || a.channelType == ir::ChannelType::Port;
      const auto ids = first.idsOf(a), others = block.idsOf(b);
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (isNumbered ? !makeImage(a.channelType, r, others[i], ids[i]) : others[i] != ids[i])
          return false;
    }
    return true;
  }
  bool touchesSame(std::size_t block, const ir::Op &op, std::uint32_t operand) {
    ++question_;
    const auto pieceOn = [&](std::uint32_t r) {
      return ir::pieceOf(program_, r, op, operand, program_.ranks[r].blocks[block].chunks[op.firstChunk + operand]);
    };
    const ir::MemoryPiece first = pieceOn(0);
    for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
      const ir::MemoryPiece piece = pieceOn(r);
      const bool isSamePlace = piece.buffer == first.buffer && piece.index == first.index;
      if (piece.size != first.size || piece.reach != first.reach || (piece.isPacket() && !isSamePlace) ||
          !reachesAnother(r, piece.rank))
        return false;
    }
    return true;
  }

  const ir::Program &program_;
  const ir::ProgramIndex &index_;
  const std::function<bool(std::uint32_t, std::uint32_t)> &isNear_;
  std::vector<std::uint32_t> lastUse_; ///< [rank]: the last question in which a rank reached it
  std::vector<std::uint32_t> onFirst_; ///< [channel]: the channel of rank 0 whose image it is
  std::uint32_t question_ = 0;
  bool isFirstNear_ = false; ///< true if the peer of rank 0 in this question is near
};

} // namespace

BlockSymmetry::BlockSymmetry(const ir::ProgramIndex &index,
                             const std::function<bool(std::uint32_t, std::uint32_t)> &isNear) {
  BlockComparison comparison(index, isNear);
  holds_ = comparison.run();
  images_ = std::move(comparison.images);
  otherEnds_ = std::move(comparison.otherEnds);
}

bool areInstancesSymmetric(std::span<const ir::Rank> ranks, std::uint32_t instances) {
  if (instances <= 1)
    return instances == 1;
  return std::ranges::all_of(ranks, [&](const ir::Rank &rank) {
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

} // namespace mscclc::passes
