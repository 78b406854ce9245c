#include "passes/schedule/statement_distances.h"

#include "ir/chunk_cells.h"
#include "ir/program_index.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>

namespace mscclc::passes::schedule {
namespace {

/// The data from which packets in scratch were made, if packets are passed on.
class PacketSources {
public:
  explicit PacketSources(const ir::Program &program) : movement_(program.movement) {
    const auto isRelay = [this](const ir::Move &s) { return relaysPackets(movement_, s); };
    if (std::ranges::none_of(movement_.statements, isRelay))
      return;
    madeOf_ = ir::forScratch(program, ir::none);
    for (const ir::Move &statement : movement_.statements) {
      if (!sendsPackets(movement_, statement))
        continue;
      const std::uint32_t data = isRelay(statement) ? at(statement.firstPlace) : statement.firstPlace;
      for (const ir::RankChunk &packets : movement_.dsts(statement))
        if (std::uint32_t &known = madeOf_[packets.rank][packets.index]; known == ir::none)
          known = data;
    }
  }

  /// Returns the place of the data from which packets were made; null if it is not known. `place`: the place of the
  /// packets, as an index into Movement::places.
  const ir::RankChunk *of(std::uint32_t place) const {
    const std::uint32_t data = at(place);
    return data == ir::none ? nullptr : &movement_.places[data];
  }

private:
  std::uint32_t at(std::uint32_t place) const {
    const ir::RankChunk &packets = movement_.places[place];
    return madeOf_[packets.rank][packets.index];
  }

  const ir::Movement &movement_;
  std::vector<std::vector<std::uint32_t>> madeOf_; ///< [rank][chunk of scratch]: place of the data, or none
};

} // namespace

StatementDistances::StatementDistances(const ir::Program &program) : ranks_(program, program.movement) {
  const ir::Movement &movement = program.movement;
  const auto ranks = static_cast<std::uint32_t>(program.ranks.size());
  const PacketSources sources(program);
  const auto shareAt = [&](std::uint32_t by, const ir::RankChunk &chunk) {
    const std::uint32_t all = program.ranks[chunk.rank].chunksOf(chunk.buffer), share = all / ranks;
    if (share * ranks != all)
      return chunk.index;
    return ranks_.between(by, ranks_.ownerOf(chunk.index / share)) * share + chunk.index % share;
  };
  reaches_.reserve(movement.statements.size());
  shares_.reserve(movement.statements.size());
  for (const ir::Move &statement : movement.statements) {
    const std::uint32_t by = *statement.by;
    const std::span<const ir::RankChunk> places = movement.placesOf(statement);
    const auto far = std::ranges::find_if(places, [&](const ir::RankChunk &place) { return place.rank != by; });
    reaches_.push_back(far == places.end() ? 0 : ranks_.between(by, far->rank));
    const auto isData = [](const ir::RankChunk &place) { return place.buffer != ir::BufferKind::Scratch; };
    if (const auto data = std::ranges::find_if(places, isData); data != places.end()) {
      shares_.push_back(shareAt(by, *data));
      continue;
    }
    const ir::RankChunk *madeOf = relaysPackets(movement, statement) ? sources.of(statement.firstPlace) : nullptr;
    shares_.push_back(madeOf && isData(*madeOf) ? shareAt(by, *madeOf) : 0);
  }
}

StatementDistances StatementDistances::inOrder(std::span<const std::uint32_t> order) const {
  StatementDistances ordered = *this;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    ordered.reaches_[i] = reaches_[order[i]];
    ordered.shares_[i] = shares_[order[i]];
  }
  return ordered;
}

} // namespace mscclc::passes::schedule
