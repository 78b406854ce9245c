#include "passes/schedule/peers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace mscclc::passes::schedule {
namespace {

/// Which rank takes the place of each, and which share that of each.
struct Exchange {
  std::vector<std::uint32_t> ranks, shares;
};

/// Where the chunk comes to lie; nothing if its parts part. The places of scratch are not looked at: they follow from
/// distances.
std::optional<ir::RankChunk> moved(const ir::Program &program, const ir::RankChunk &chunk, const Exchange &exchange) {
  ir::RankChunk to = chunk;
  to.rank = exchange.ranks[chunk.rank];
  if (chunk.buffer == ir::BufferKind::Scratch) {
    to.index = 0;
    return to;
  }
  const auto ranks = static_cast<std::uint32_t>(exchange.ranks.size());
  const std::uint32_t all = program.ranks[chunk.rank].chunksOf(chunk.buffer), share = all / ranks;
  if (share * ranks != all || chunk.size == 0 || chunk.index + chunk.size > all)
    return to;
  const std::uint32_t first = chunk.index / share, rest = chunk.index % share;
  if (rest + chunk.size <= share) {
    to.index = exchange.shares[first] * share + rest;
    return to;
  }
  if (rest != 0 || chunk.size % share != 0)
    return std::nullopt;
  const std::uint32_t count = chunk.size / share;
  const auto [low, high] =
      std::minmax_element(exchange.shares.begin() + first, exchange.shares.begin() + first + count);
  if (*high - *low + 1 != count)
    return std::nullopt;
  to.index = *low * share;
  return to;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

/// A number for the statements as they are after the exchange, whatever their order; nothing if there is no such.
std::optional<std::uint64_t> numberOf(const ir::Program &program, const ir::Movement &movement,
                                      const Exchange &exchange) {
  std::uint64_t sum = 0;
  for (const ir::Move &statement : movement.statements) {
    std::uint64_t hash =
        mix(static_cast<std::uint64_t>(statement.kind), static_cast<std::uint64_t>(statement.reduceOp));
    hash = mix(hash, statement.via ? static_cast<std::uint64_t>(*statement.via) + 1 : 0);
    hash = mix(hash, statement.packets.value_or(false));
    hash = mix(hash, std::uint64_t{exchange.ranks[*statement.by]} << 32 | statement.numSrcs);
    for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
      const auto place = moved(program, movement.places[statement.firstPlace + i], exchange);
      if (!place)
        return std::nullopt;
      hash = mix(hash, std::uint64_t{place->rank} << 32 | static_cast<std::uint64_t>(place->buffer));
      hash = mix(hash, std::uint64_t{place->index} << 32 | place->size);
    }
    sum += hash;
  }
  return sum;
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

bool Distances::isSymmetric(const ir::Program &program, const ir::Movement &movement) const {
  const auto exchanged = [&](auto &&other) {
    Exchange exchange{std::vector<std::uint32_t>(ranks_), std::vector<std::uint32_t>(ranks_)};
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      exchange.ranks[rank] = other(rank);
    std::vector<std::uint32_t> shareOf(ranks_);
    for (std::uint32_t share = 0; share < ranks_; ++share)
      shareOf[ownerOf(share)] = share;
    for (std::uint32_t share = 0; share < ranks_; ++share)
      exchange.shares[share] = shareOf[other(ownerOf(share))];
    return numberOf(program, movement, exchange);
  };
  const auto asIs = exchanged([](std::uint32_t rank) { return rank; });
  if (kind_ == Kind::Exclusive) {
    for (std::uint32_t bit = 1; bit < ranks_; bit *= 2)
      if (exchanged([bit](std::uint32_t rank) { return rank ^ bit; }) != asIs)
        return false;
    return true;
  }
  return exchanged([&](std::uint32_t rank) { return (rank + perNode_) % ranks_; }) == asIs &&
         exchanged([&](std::uint32_t rank) { return rank / perNode_ * perNode_ + (rank + 1) % perNode_; }) == asIs;
}

} // namespace mscclc::passes::schedule
