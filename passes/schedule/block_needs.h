// What thread blocks of placed statements need of the tables of an executor's block: channels and remote buffers.
#pragma once

#include "passes/executor_limits.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_symmetry.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// What one block needs, or a part of it: a set. Its members are channels for signals (in memory, data goes the same
/// way), channels for what ports put or get, and buffers by rank and kind. They are numbered by kind, then by rank.
class BlockNeeds {
public:
  enum Need : std::uint32_t { MemoryChannel, PortChannel, PortPuts, MemoryBuffer, PortBuffer = MemoryBuffer + 3 };

  /// Of a block without statements, in a program of so many ranks.
  explicit BlockNeeds(std::uint32_t ranks) : ranks_(ranks), has_(std::size_t{PortBuffer + 3} * ranks, false) {}
  void add(std::span<const std::uint32_t> needs);
  void clear();

  /// True if a block can have `needs`, too.
  bool fits(std::span<const std::uint32_t> needs, const ExecutorLimits &limits) const;
  bool fits(const ExecutorLimits &limits) const { return fits({}, limits); }
  bool empty() const { return added_.empty(); }
  std::span<const std::uint32_t> needs() const { return added_; }
  /// Of the type that has most of them.
  std::uint32_t channels() const { return std::max(sizes_[0], sizes_[1]); }
  std::uint32_t remoteBuffers() const { return std::max(sizes_[2], sizes_[3]); }

private:
  std::size_t tableOf(std::uint32_t need) const {
    const std::uint32_t kind = need / ranks_;
    return kind >= PortBuffer ? 3 : kind >= MemoryBuffer ? 2 : kind >= PortChannel ? 1 : 0;
  }

  std::uint32_t ranks_;
  std::vector<bool> has_;                ///< [need]
  std::vector<std::uint32_t> added_;     ///< each once
  std::array<std::uint32_t, 4> sizes_{}; ///< channels and buffers, each through memory and through ports
};

/// What each representative statement of a program needs. Channels are counted before anybody knows which syncs are
/// left. So they may be too many: towards a rank that a port puts to, one takes what is put, and one the signals.
class StatementNeeds {
public:
  /// `ranks`: of the program.
  StatementNeeds(const ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                 const StatementSymmetry &symmetry);

  /// Members of a BlockNeeds; some twice.
  std::span<const std::uint32_t> of(std::uint32_t statement) const {
    return std::span(needs_).subspan(first_[statement], first_[statement + 1] - first_[statement]);
  }
  /// Of a block without statements.
  BlockNeeds none() const { return BlockNeeds(ranks_); }
  /// Of all representative statements that `rank` executes, as if they were in one block.
  BlockNeeds ofRank(const ir::Movement &movement, std::uint32_t rank) const;

private:
  std::uint32_t ranks_;
  std::vector<std::uint32_t> needs_; ///< of all statements
  std::vector<std::size_t> first_;   ///< [statement], and the end: into needs_
};

} // namespace mscclc::passes::schedule
