#include "passes/schedule/peers.h"

#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {
namespace {

/// Who takes the place of whom when one rank takes that of rank 0.
struct Exchange {
  std::vector<std::uint32_t> ranks;  ///< [rank]: whose place it takes
  std::vector<std::uint32_t> shares; ///< [share]: which one's it takes

  /// `by` takes the place of rank 0. `sharesOf` [rank]: the share that belongs to it.
  Exchange(const Distances &distances, std::uint32_t by, std::span<const std::uint32_t> sharesOf)
      : ranks(sharesOf.size()), shares(sharesOf.size()) {
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      ranks[rank] = distances.between(by, rank);
    for (std::uint32_t share = 0; share < shares.size(); ++share)
      shares[share] = sharesOf[ranks[distances.ownerOf(share)]];
  }
};

/// Where the chunk comes to lie; nothing if its parts part. The places of scratch are not looked at: they follow from
/// distances. `share`: chunks of a rank's share of the buffer; 0 if it is not dealt out evenly, or the chunk is none.
std::optional<ir::RankChunk> moved(const ir::RankChunk &chunk, const Exchange &exchange, std::uint32_t share) {
  ir::RankChunk to = chunk;
  to.rank = exchange.ranks[chunk.rank];
  if (chunk.buffer == ir::BufferKind::Scratch)
    to.index = 0;
  if (share == 0)
    return to;
  const std::uint32_t first = chunk.index / share, rest = chunk.index % share;
  if (rest + chunk.size <= share) {
    to.index = exchange.shares[first] * share + rest;
    return to;
  }
  if (rest != 0 || chunk.size % share != 0)
    return std::nullopt;
  const std::uint32_t count = chunk.size / share;
  std::uint32_t low = exchange.shares[first], high = low;
  for (std::uint32_t i = 1; i < count; ++i) {
    low = std::min(low, exchange.shares[first + i]);
    high = std::max(high, exchange.shares[first + i]);
  }
  if (high - low + 1 != count)
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

/// A number for the statement as it is after the exchange; nothing if there is no such.
std::optional<std::uint64_t> numberOf(const ir::Movement &movement, const ir::Move &statement, const Shares &shares,
                                      const Exchange &exchange) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(statement.kind), static_cast<std::uint64_t>(statement.reduceOp));
  hash = mix(hash, statement.via ? static_cast<std::uint64_t>(*statement.via) + 1 : 0);
  hash = mix(hash, std::uint64_t{statement.packets.value_or(false)} << 32 | statement.numSrcs);
  for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
    const ir::RankChunk &chunk = movement.places[statement.firstPlace + i];
    const auto place = moved(chunk, exchange, shares.sizeFor(chunk));
    if (!place)
      return std::nullopt;
    hash = mix(hash, std::uint64_t{place->rank} << 32 | static_cast<std::uint64_t>(place->buffer));
    hash = mix(hash, std::uint64_t{place->index} << 32 | place->size);
  }
  return hash;
}

} // namespace

Distances::Distances(const ir::Program &program, const ir::Movement &movement)
    : ranks_(static_cast<std::uint32_t>(program.ranks.size())),
      perNode_(movement.ranksPerNode == 0 ? ranks_ : movement.ranksPerNode), nodes_(ranks_ / perNode_) {
  struct Way {
    Kind kind;
    bool byPlace;
  };
  for (const Way &way : {Way{Kind::Around, false}, {Kind::Around, true}, {Kind::Exclusive, false}}) {
    if ((way.byPlace && (nodes_ == 1 || perNode_ == 1)) ||
        (way.kind == Kind::Exclusive && !std::has_single_bit(ranks_)))
      continue;
    kind_ = way.kind;
    byPlace_ = way.byPlace;
    if (isSymmetric(program, movement))
      return;
  }
  kind_ = Kind::Around;
  byPlace_ = false;
}

/// Exchanges are a group, as distances are: each rank takes the place of rank 0 in just one, and that of any other in
/// one after another. So statements are symmetric if those of each rank become those of rank 0 when it takes its place.
bool Distances::isSymmetric(const ir::Program &program, const ir::Movement &movement) const {
  std::vector<std::uint32_t> sharesOf(ranks_);
  for (std::uint32_t share = 0; share < ranks_; ++share)
    sharesOf[ownerOf(share)] = share;
  const Shares shares(program);
  std::vector<std::vector<const ir::Move *>> statementsOf(ranks_);
  for (const ir::Move &statement : movement.statements)
    statementsOf[*statement.by].push_back(&statement);
  std::uint64_t first = 0; // a number for the statements of rank 0, whatever their order
  for (std::uint32_t by = 0; by < ranks_; ++by) {
    const Exchange exchange(*this, by, sharesOf);
    std::uint64_t sum = 0;
    for (const ir::Move *statement : statementsOf[by]) {
      const auto number = numberOf(movement, *statement, shares, exchange);
      if (!number)
        return false;
      sum += *number;
    }
    if (by == 0)
      first = sum;
    if (sum != first)
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
