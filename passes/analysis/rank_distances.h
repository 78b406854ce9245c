// How far apart ranks are, in a numbering that is the same seen from every rank of a symmetric program.
//
// A program is symmetric if its statements stay the same when each rank takes the place of another: one so far around
// the ring of its node, one so many nodes on, or the one whose number differs in these bits. The share of a buffer
// that belongs to a rank takes the place of the other's share. What is ordered by distances is then ordered in the same
// way on all ranks. Which numbering a program has is guessed by hashes; rank_symmetry.h finds out whether it holds.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes {

/// Distances between ranks, by the symmetry that the statements of a program have.
class RankDistances {
public:
  /// Of the placed statements of `movement`, whose ranks are those of `program` and make whole nodes. Where they are
  /// not symmetric, ranks are counted around the rings.
  RankDistances(const ir::Program &program, const ir::Movement &movement);

  /// True if the statements are symmetric by these distances, as far as their hashes tell.
  bool areSymmetric() const { return symmetric_; }
  /// The number of ranks.
  std::uint32_t size() const { return ranks_; }
  /// From `from` to `to`, less than there are ranks; 0 for itself alone. Ranks of one node are nearer than others.
  std::uint32_t between(std::uint32_t from, std::uint32_t to) const {
    if (kind_ == Kind::Bits)
      return from ^ to;
    if (nodes_ == 1)
      return to >= from ? to - from : to + ranks_ - from;
    return (to / perNode_ + nodes_ - from / perNode_) % nodes_ * perNode_ +
           (to % perNode_ + perNode_ - from % perNode_) % perNode_;
  }
  /// True if ranks are of one node with those that are as far away.
  bool keepNodes(const ir::Movement &movement) const;
  friend bool operator==(const RankDistances &, const RankDistances &) = default;
  /// The rank that share number `share` of an evenly dealt buffer belongs to.
  std::uint32_t ownerOf(std::uint32_t share) const {
    return localRankFirst_ ? share % nodes_ * perNode_ + share / nodes_ : share;
  }

private:
  enum class Kind : std::uint8_t {
    Rings, ///< steps around the ring of nodes, and around the ring of the node
    Bits,  ///< the bits in which the numbers of the ranks differ
  };

  /// Whether statements are, by the present kind of distances. `statementsOf` [rank]: those that it executes.
  bool isSymmetric(const ir::Program &program, const ir::Movement &movement,
                   std::span<const std::vector<std::uint32_t>> statementsOf) const;

  std::uint32_t ranks_, perNode_, nodes_;
  Kind kind_ = Kind::Rings;
  bool symmetric_ = false;
  bool localRankFirst_ = false; ///< shares are numbered by the rank within its node first, then by the node
};

} // namespace mscclc::passes
