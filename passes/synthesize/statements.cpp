#include "passes/synthesize/statements.h"

#include "ir/collectives.h"

#include <utility>

namespace mscclc::passes::synthesize {

bool Task::sums() const {
  return kind == ir::CollectiveKind::ReduceScatter || kind == ir::CollectiveKind::Reduce ||
         kind == ir::CollectiveKind::AllReduce;
}

bool Task::spreads() const {
  return kind == ir::CollectiveKind::AllGather || kind == ir::CollectiveKind::Broadcast ||
         kind == ir::CollectiveKind::AllReduce;
}

Statements::Statements(const Task &task, const std::string &name, std::uint32_t factor) : task_(task) {
  program_.name = std::string(ir::toString(task.kind)) + "_" + name;
  program_.schedule = ir::Schedule::Auto;
  ir::Collective &collective = program_.collective;
  collective.kind = task.kind;
  collective.name = ir::toString(task.kind);
  collective.inplace = task.kind != ir::CollectiveKind::AllToAll;
  collective.chunkFactor = factor;
  collective.root = task.root;
  program_.ranks.resize(task.ranks);
  const auto chunksOf = [&](ir::Extent extent) { return extent == ir::Extent::Whole ? task.ranks * factor : factor; };
  for (ir::Rank &rank : program_.ranks) {
    rank.inputChunks = chunksOf(ir::info(task.kind).input);
    rank.outputChunks = chunksOf(ir::info(task.kind).output);
  }
  ir::Movement &movement = program_.movement;
  movement.ranksPerNode = task.ranks > task.ranksPerNode ? task.ranksPerNode : 0;
  movement.order = ir::Order::Any;
  movement.chooseProtocol = movement.chooseInstances = true;
}

ir::RankChunk Statements::at(std::uint32_t rank, std::uint32_t index, std::uint32_t size) const {
  return {rank, ir::info(task_.kind).message, index, size};
}

ir::RankChunk Statements::scratch(std::uint32_t rank, std::uint32_t size) {
  std::uint32_t &chunks = program_.ranks[rank].scratchChunks;
  chunks += size;
  return {rank, ir::BufferKind::Scratch, chunks - size, size};
}

void Statements::copy(std::span<const ir::RankChunk> to, const ir::RankChunk &from, std::optional<ir::Via> via) {
  ir::Move move;
  move.kind = ir::MoveKind::Copy;
  move.via = via;
  std::vector<ir::RankChunk> near;
  for (const ir::RankChunk &place : to)
    if (via || program_.movement.sameNode(place.rank, from.rank))
      near.push_back(place);
    else
      program_.movement.append(move, {&from, 1}, {&place, 1});
  if (!near.empty())
    program_.movement.append(move, {&from, 1}, near);
}

void Statements::addTo(const ir::RankChunk &to, std::span<const ir::RankChunk> others, std::optional<ir::Via> via) {
  if (others.empty())
    return;
  std::vector<ir::RankChunk> parts{to};
  parts.insert(parts.end(), others.begin(), others.end());
  sum(to, parts, via);
}

void Statements::sum(const ir::RankChunk &to, std::span<const ir::RankChunk> parts, std::optional<ir::Via> via) {
  ir::Move move;
  move.kind = ir::MoveKind::Reduce;
  move.reduceOp = ir::ReduceOp::Sum;
  move.via = via;
  program_.movement.append(move, parts, {&to, 1});
}

} // namespace mscclc::passes::synthesize
