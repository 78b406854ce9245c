// How far apart ranks are, seen from one of them: words that mean the same on every rank of a symmetric program.
#pragma once

#include "ir/program.h"

namespace mscclc::passes::schedule {

class Distances {
public:
  Distances(const ir::Movement &movement, std::uint32_t ranks)
      : perNode_(movement.ranksPerNode == 0 ? ranks : movement.ranksPerNode), nodes_(ranks / perNode_) {}

  /// Ranks from `from` on to `to`, around the ring of all ranks: nodes first, then within the node.
  std::uint32_t between(std::uint32_t from, std::uint32_t to) const {
    return (to / perNode_ + nodes_ - from / perNode_) % nodes_ * perNode_ +
           (to % perNode_ + perNode_ - from % perNode_) % perNode_;
  }

private:
  std::uint32_t perNode_, nodes_;
};

/// How far off what a placed statement deals with is from the rank that executes it.
class StatementDistances {
public:
  explicit StatementDistances(const ir::Program &program)
      : program_(program), ranks_(program.movement, static_cast<std::uint32_t>(program.ranks.size())) {}

  /// To the first rank that the statement reaches; 0 if it is local.
  std::uint32_t ofReach(const ir::Move &statement) const {
    for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i)
      if (const std::uint32_t rank = place(statement, i).rank; rank != *statement.by)
        return ranks_.between(*statement.by, rank);
    return 0;
  }
  /// To the rank whose share of input or output the statement deals with, in chunks of that buffer; 0 where buffers are
  /// not dealt out evenly to ranks.
  std::uint32_t ofShare(const ir::Move &statement) const {
    const auto ranks = static_cast<std::uint32_t>(program_.ranks.size());
    for (std::uint32_t i = 0; i < statement.numSrcs + statement.numDsts; ++i) {
      const ir::RankChunk &chunk = place(statement, i);
      if (chunk.buffer == ir::BufferKind::Scratch)
        continue;
      const std::uint32_t all = program_.ranks[chunk.rank].chunksOf(chunk.buffer), share = all / ranks;
      if (share * ranks == all)
        return ranks_.between(*statement.by, chunk.index / share) * share + chunk.index % share;
    }
    return 0;
  }

private:
  const ir::RankChunk &place(const ir::Move &statement, std::uint32_t index) const {
    return program_.movement.places[statement.firstPlace + index];
  }

  const ir::Program &program_;
  Distances ranks_;
};

} // namespace mscclc::passes::schedule
