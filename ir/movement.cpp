#include "ir/movement.h"

#include <utility>

namespace mscclc::ir {

void Movement::append(Move move, std::span<const RankChunk> srcs, std::span<const RankChunk> dsts) {
  move.firstPlace = static_cast<std::uint32_t>(places.size());
  move.numSrcs = static_cast<std::uint32_t>(srcs.size());
  move.numDsts = static_cast<std::uint32_t>(dsts.size());
  places.insert(places.end(), srcs.begin(), srcs.end());
  places.insert(places.end(), dsts.begin(), dsts.end());
  statements.push_back(move);
}

Movement Movement::takeStatements() {
  return {.statements = std::exchange(statements, {}), .places = std::exchange(places, {})};
}

void Movement::putStatements(Movement other) {
  statements = std::move(other.statements);
  places = std::move(other.places);
}

std::string_view toString(MoveKind kind) {
  constexpr std::string_view names[] = {"copy", "reduce", "apply"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view toString(Via via) {
  constexpr std::string_view names[] = {"memory", "port", "switch"};
  return names[static_cast<std::size_t>(via)];
}

} // namespace mscclc::ir
