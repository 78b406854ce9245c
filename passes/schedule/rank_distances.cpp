#include "passes/schedule/rank_distances.h"

#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// A renumbering of ranks, and with them of shares, that leaves distances as they are.
struct Renumbering {
  std::vector<std::uint32_t> ranks;  ///< [rank]: its new number
  std::vector<std::uint32_t> shares; ///< [share]

  /// Rank `first` becomes rank 0. `shareOf` [rank]: the share that belongs to it.
  Renumbering(const RankDistances &distances, std::uint32_t first, std::span<const std::uint32_t> shareOf)
      : ranks(shareOf.size()), shares(shareOf.size()) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      ranks[rank] = distances.between(first, rank);
    for (std::uint32_t share = 0; share < shares.size(); ++share)
      shares[share] = shareOf[ranks[distances.ownerOf(share)]];
  }
};

/// The chunk after `renumbering`; nothing if its parts do not stay together. Places in scratch count as one: they
/// follow from distances. `share`: chunks of a rank's share of the buffer; 0 if it is not dealt out evenly.
std::optional<ir::RankChunk> renumbered(const ir::RankChunk &chunk, const Renumbering &renumbering,
                                        std::uint32_t share) {
  ir::RankChunk to = chunk;
  to.rank = renumbering.ranks[chunk.rank];
  if (chunk.buffer == ir::BufferKind::Scratch)
    to.index = 0;
  if (share == 0)
    return to;
  const std::uint32_t first = chunk.index / share, rest = chunk.index % share;
  if (rest + chunk.size <= share) {
    to.index = renumbering.shares[first] * share + rest;
    return to;
  }
  if (rest != 0 || chunk.size % share != 0)
    return std::nullopt;
  const auto shares = std::span(renumbering.shares).subspan(first, chunk.size / share);
  const auto [low, high] = std::ranges::minmax(shares);
  if (high - low + 1 != shares.size())
    return std::nullopt;
  to.index = low * share;
  return to;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

/// How buffers are dealt out to ranks.
class Shares {
public:
  explicit Shares(const ir::Program &program) : ranks_(static_cast<std::uint32_t>(program.ranks.size())) {
    for (const ir::Rank &rank : program.ranks)
      for (const ir::BufferKind buffer : {ir::BufferKind::Input, ir::BufferKind::Output}) {
        const std::uint32_t all = rank.chunksOf(buffer), share = all / ranks_;
        sizes_.push_back(share * ranks_ == all ? share : 0);
      }
  }

  /// Chunks of a rank's share of the buffer that the chunk is in; 0 where that has no shares.
  std::uint32_t sizeFor(const ir::RankChunk &chunk) const {
    if (chunk.buffer == ir::BufferKind::Scratch)
      return 0;
    const std::uint32_t share = sizes_[2 * std::size_t{chunk.rank} + (chunk.buffer == ir::BufferKind::Output ? 1 : 0)];
    return chunk.size == 0 || chunk.index + chunk.size > share * ranks_ ? 0 : share;
  }

private:
  std::uint32_t ranks_;
  std::vector<std::uint32_t> sizes_; ///< [rank][input, output]: chunks; 0: not dealt out evenly
};

/// A hash of the statement after `renumbering`; nothing if there is no such statement.
std::optional<std::uint64_t> hashOf(const ir::Movement &movement, const ir::Move &statement, const Shares &shares,
                                    const Renumbering &renumbering) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(statement.kind), static_cast<std::uint64_t>(statement.reduceOp));
  hash = mix(hash, statement.via ? static_cast<std::uint64_t>(*statement.via) + 1 : 0);
  hash = mix(hash, std::uint64_t{statement.packets.value_or(false)} << 32 | statement.numSrcs);
  for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
    const ir::RankChunk &chunk = movement.places[statement.firstPlace + i];
    const auto place = renumbered(chunk, renumbering, shares.sizeFor(chunk));
    if (!place)
      return std::nullopt;
    hash = mix(hash, std::uint64_t{place->rank} << 32 | static_cast<std::uint64_t>(place->buffer));
    hash = mix(hash, std::uint64_t{place->index} << 32 | place->size);
  }
  return hash;
}

} // namespace

RankDistances::RankDistances(const ir::Program &program, const ir::Movement &movement)
    : ranks_(static_cast<std::uint32_t>(program.ranks.size())),
      perNode_(movement.ranksPerNode == 0 ? ranks_ : movement.ranksPerNode), nodes_(ranks_ / perNode_) {
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
    symmetric_ = isSymmetric(program, movement);
    if (symmetric_)
      return;
  }
  kind_ = Kind::Rings;
  localRankFirst_ = false;
}

/// The renumberings that leave distances as they are make a group: just one of them makes a given rank rank 0, and each
/// is one of these after the inverse of another. So it is enough to compare with rank 0: a program is symmetric if the
/// statements that a rank executes become those of rank 0 in the renumbering that makes it rank 0, for each rank.
/// Statements are compared by a sum of hashes, whatever their order. Two that differ and have one sum cost symmetry in
/// the schedule, not its result.
bool RankDistances::isSymmetric(const ir::Program &program, const ir::Movement &movement) const {
  std::vector<std::uint32_t> shareOf(ranks_);
  for (std::uint32_t share = 0; share < ranks_; ++share)
    shareOf[ownerOf(share)] = share;
  const Shares shares(program);
  std::vector<std::vector<const ir::Move *>> statementsOf(ranks_);
  for (const ir::Move &statement : movement.statements)
    statementsOf[*statement.by].push_back(&statement);
  std::uint64_t sumOfFirst = 0;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const Renumbering renumbering(*this, rank, shareOf);
    std::uint64_t sum = 0;
    for (const ir::Move *statement : statementsOf[rank]) {
      const auto hash = hashOf(movement, *statement, shares, renumbering);
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

StatementDistances::StatementDistances(const ir::Program &program)
    : program_(program), ranks_(program, program.movement) {
  const ir::Movement &movement = program.movement;
  if (std::ranges::none_of(movement.statements, [&](const ir::Move &s) { return relaysPackets(movement, s); }))
    return;
  for (const ir::Move &statement : movement.statements) {
    if (!sendsPackets(movement, statement))
      continue;
    ir::RankChunk data = movement.srcs(statement)[0];
    if (const auto found = madeOf_.find({data.rank, data.index}); relaysPackets(movement, statement)) {
      if (found == madeOf_.end())
        continue;
      data = found->second;
    }
    for (const ir::RankChunk &packets : movement.dsts(statement))
      madeOf_.try_emplace({packets.rank, packets.index}, data);
  }
}

std::uint32_t StatementDistances::ofShare(const ir::Move &statement) const {
  const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
  const auto of = [&](const ir::RankChunk &chunk) -> std::optional<std::uint32_t> {
    if (chunk.buffer == ir::BufferKind::Scratch)
      return std::nullopt;
    const std::uint32_t all = program_.ranks[chunk.rank].chunksOf(chunk.buffer), share = all / ranks;
    if (share * ranks != all)
      return chunk.index;
    return ranks_.between(*statement.by, ranks_.ownerOf(chunk.index / share)) * share + chunk.index % share;
  };
  for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i)
    if (const auto share = of(place(statement, i)))
      return *share;
  if (!relaysPackets(program_.movement, statement))
    return 0;
  const auto found = madeOf_.find({place(statement, 0).rank, place(statement, 0).index});
  return found == madeOf_.end() ? 0 : of(found->second).value_or(0);
}

} // namespace mscclc::passes::schedule
