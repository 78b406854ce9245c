#include "passes/analysis/rank_distances.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes {
namespace {

/// A renumbering of ranks, and of the shares that belong to them, that preserves distances.
struct Renumbering {
  std::vector<std::uint32_t> ranks;  ///< [rank]: its new number
  std::vector<std::uint32_t> shares; ///< [share]

  /// Makes rank `first` rank 0. `shareOf` [rank]: the share that belongs to it.
  Renumbering(const RankDistances &distances, std::uint32_t first, std::span<const std::uint32_t> shareOf)
      : ranks(shareOf.size()), shares(shareOf.size()) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      ranks[rank] = distances.between(first, rank);
    for (std::uint32_t share = 0; share < shares.size(); ++share)
      shares[share] = shareOf[ranks[distances.ownerOf(share)]];
  }
};

/// Returns the index of `chunk` in its buffer after `renumbering`; nothing if its parts are no longer adjacent.
/// `share`: number of chunks in a rank's share of the buffer.
std::optional<std::uint32_t> renumbered(const ir::RankChunk &chunk, const Renumbering &renumbering,
                                        std::uint32_t share) {
  const std::uint32_t first = chunk.index / share, rest = chunk.index % share;
  if (rest + chunk.size <= share)
    return renumbering.shares[first] * share + rest;
  if (rest != 0 || chunk.size % share != 0)
    return std::nullopt;
  const auto shares = std::span(renumbering.shares).subspan(first, chunk.size / share);
  const auto [low, high] = std::ranges::minmax(shares);
  if (high - low + 1 != shares.size())
    return std::nullopt;
  return low * share;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

/// The division of buffers into shares of ranks.
class Shares {
public:
  explicit Shares(const ir::Program &program) : ranks_(static_cast<std::uint32_t>(program.ranks.size())) {
    for (const ir::Rank &rank : program.ranks)
      for (const ir::BufferKind buffer : {ir::BufferKind::Input, ir::BufferKind::Output}) {
        const std::uint32_t all = rank.chunksOf(buffer), share = all / ranks_;
        sizes_.push_back(share * ranks_ == all ? share : 0);
      }
  }

  /// Returns the number of chunks in a rank's share of the buffer that contains `chunk`; 0 if the buffer has no shares.
  std::uint32_t sizeFor(const ir::RankChunk &chunk) const {
    if (chunk.buffer == ir::BufferKind::Scratch)
      return 0;
    const std::uint32_t share = sizes_[2 * std::size_t{chunk.rank} + (chunk.buffer == ir::BufferKind::Output ? 1 : 0)];
    return chunk.size == 0 || chunk.index + chunk.size > share * ranks_ ? 0 : share;
  }

private:
  std::uint32_t ranks_;
  std::vector<std::uint32_t> sizes_; ///< [rank][input, output]: chunks of a share; 0: it cannot be divided evenly
};

/// Returns a hash of the statement after `renumbering`; nothing if no such statement can exist. All places in scratch
/// have the same hash, because they follow from distances.
std::optional<std::uint64_t> hashOf(const ir::Movement &movement, const ir::Move &statement, const Shares &shares,
                                    const Renumbering &renumbering) {
  const std::uint64_t kind = std::uint64_t{statement.hook} << 32 | static_cast<std::uint64_t>(statement.kind) << 8 |
                             static_cast<std::uint64_t>(statement.reduceOp),
                      via = statement.via ? static_cast<std::uint64_t>(*statement.via) + 1 : 0;
  std::uint64_t hash = mix(kind << 16 | via << 8 | statement.packets.value_or(false),
                           std::uint64_t{movement.places[statement.firstPlace].size} << 32 | statement.numSrcs);
  hash = mix(hash, statement.firstAfter);
  for (const ir::RankChunk &chunk : movement.placesOf(statement)) {
    const std::uint64_t at =
        std::uint64_t{renumbering.ranks[chunk.rank]} << 34 | static_cast<std::uint64_t>(chunk.buffer) << 32;
    if (chunk.buffer == ir::BufferKind::Scratch) {
      hash = mix(hash, at);
      continue;
    }
    const std::uint32_t share = shares.sizeFor(chunk);
    const auto index = share == 0 ? std::optional(chunk.index) : renumbered(chunk, renumbering, share);
    if (!index)
      return std::nullopt;
    hash = mix(hash, at | *index);
  }
  return hash;
}

} // namespace

RankDistances::RankDistances(const ir::Program &program, const ir::Movement &movement)
    : ranks_(static_cast<std::uint32_t>(program.ranks.size())),
      perNode_(movement.ranksPerNode == 0 ? ranks_ : movement.ranksPerNode), nodes_(ranks_ / perNode_) {
  std::vector<std::vector<std::uint32_t>> statementsOf(ranks_);
  for (std::uint32_t s = 0; s < movement.statements.size(); ++s)
    statementsOf[*movement.statements[s].by].push_back(s);
  struct Attempt {
    Kind kind;
    bool localRankFirst;
  };
  for (const Attempt &attempt : {Attempt{Kind::Rings, false}, {Kind::Rings, true}, {Kind::Bits, false}}) {
    if ((attempt.localRankFirst && (nodes_ == 1 || perNode_ == 1)) ||
        (attempt.kind == Kind::Bits && !std::has_single_bit(ranks_)))
      continue;
    kind_ = attempt.kind;
    localRankFirst_ = attempt.localRankFirst;
    symmetric_ = isSymmetric(program, movement, statementsOf);
    if (symmetric_)
      return;
  }
  kind_ = Kind::Rings;
  localRankFirst_ = false;
}

/// The renumberings that preserve distances form a group. For each rank, exactly one of them makes it rank 0. So a
/// comparison with rank 0 is sufficient. A program is symmetric if, for each rank, the renumbering that makes it rank 0
/// maps its statements to those of rank 0.
///
/// Sets of statements are compared by the sum of their hashes, so their order does not matter. If two different sets
/// have the same sum, the schedule may lose symmetry, but its result stays right.
bool RankDistances::isSymmetric(const ir::Program &program, const ir::Movement &movement,
                                std::span<const std::vector<std::uint32_t>> statementsOf) const {
  if (std::ranges::any_of(statementsOf, [&](const auto &its) { return its.size() != statementsOf[0].size(); }))
    return false;
  std::vector<std::uint32_t> shareOf(ranks_);
  for (std::uint32_t share = 0; share < ranks_; ++share)
    shareOf[ownerOf(share)] = share;
  const Shares shares(program);
  std::uint64_t sumOfFirst = 0;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const Renumbering renumbering(*this, rank, shareOf);
    std::uint64_t sum = 0;
    for (const std::uint32_t s : statementsOf[rank]) {
      const auto hash = hashOf(movement, movement.statements[s], shares, renumbering);
      if (!hash)
        return false;
      sum += *hash;
    }
    if (rank == 0)
      sumOfFirst = sum;
    if (sum != sumOfFirst)
      return false;
  }
  return true;
}

bool RankDistances::keepNodes(const ir::Movement &movement) const {
  for (std::uint32_t from = 1; movement.ranksPerNode != 0 && from < ranks_; ++from)
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      if (movement.sameNode(from, rank) != movement.sameNode(0, between(from, rank)))
        return false;
  return true;
}

} // namespace mscclc::passes
