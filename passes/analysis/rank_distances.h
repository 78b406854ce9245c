// Distances between ranks, in a numbering that looks the same from every rank of a symmetric program.
//
// A program is symmetric if its statements stay the same when each rank is replaced by another one: by a fixed number
// of steps around the ring of its node, by a fixed number of nodes, or by flipping fixed bits of its number. The shares
// of buffers that belong to ranks are replaced in the same way. Example with 4 ranks in one node: in an all-gather
// along a ring, rank r sends to r + 1, so the numbering by steps around the ring is symmetric. With recursive doubling,
// rank r exchanges with r ^ 1 and r ^ 2, so the numbering by bits is symmetric.
//
// If items are ordered by distances, the order is the same on all ranks. The numbering of a program is only guessed
// here, by hashes. rank_symmetry.h checks whether symmetry holds.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes {

/// The distances between ranks, according to the symmetry of a program's statements.
class RankDistances {
public:
  /// Finds the distances for the placed statements of `movement`. The ranks of `program` must fill whole nodes. If the
  /// statements are not symmetric, distances are steps around the rings.
  RankDistances(const ir::Program &program, const ir::Movement &movement);

  /// Sets the distances to steps around the rings, for `ranks` ranks with `perNode` ranks in each node.
  RankDistances(std::uint32_t ranks, std::uint32_t perNode)
      : ranks_(ranks), perNode_(perNode), nodes_(ranks / perNode) {}

  /// True if the statements are symmetric by these distances, according to their hashes.
  bool areSymmetric() const { return symmetric_; }
  /// Returns the number of ranks.
  std::uint32_t size() const { return ranks_; }
  /// Returns the distance from `from` to `to`. It is less than the number of ranks, and 0 only for the rank itself.
  /// Ranks of the same node are nearer than others.
  std::uint32_t between(std::uint32_t from, std::uint32_t to) const {
    if (kind_ == Kind::Bits)
      return from ^ to;
    if (nodes_ == 1)
      return to >= from ? to - from : to + ranks_ - from;
    return (to / perNode_ + nodes_ - from / perNode_) % nodes_ * perNode_ +
           (to % perNode_ + perNode_ - from % perNode_) % perNode_;
  }
  /// True if, for each distance, all pairs of ranks of that distance are within a node, or all are between nodes.
  bool keepNodes(const ir::Movement &movement) const;
  friend bool operator==(const RankDistances &, const RankDistances &) = default;
  /// Returns the rank to which share number `share` of an evenly divided buffer belongs.
  std::uint32_t ownerOf(std::uint32_t share) const {
    return localRankFirst_ ? share % nodes_ * perNode_ + share / nodes_ : share;
  }

private:
  enum class Kind : std::uint8_t {
    Rings, ///< steps around the ring of nodes, then around the ring within the node
    Bits,  ///< the bits in which the numbers of the ranks differ
  };

  /// True if the statements are symmetric by the current kind of distances. `statementsOf` [rank]: the statements that
  /// it executes.
  bool isSymmetric(const ir::Program &program, const ir::Movement &movement,
                   std::span<const std::vector<std::uint32_t>> statementsOf) const;

  std::uint32_t ranks_, perNode_, nodes_;
  Kind kind_ = Kind::Rings;
  bool symmetric_ = false;
  bool localRankFirst_ = false; ///< shares are numbered first by the rank within its node, then by the node
};

} // namespace mscclc::passes
