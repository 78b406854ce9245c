// The entries that placed statements need in the tables of an executor's block: channels and remote buffers.
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

/// A set of the needs of a block or of a part of a block: channels for signals (data in memory uses the same channels),
/// channels for puts and gets of ports, and remote buffers by rank and kind. The members are numbered by kind, then by
/// rank.
class BlockNeeds {
public:
  enum Need : std::uint32_t { MemoryChannel, PortChannel, PortPuts, MemoryBuffer, PortBuffer = MemoryBuffer + 3 };

  /// Makes the needs of a block without statements, in a program of `ranks` ranks.
  explicit BlockNeeds(std::uint32_t ranks) : ranks_(ranks), has_(std::size_t{PortBuffer + 3} * ranks, false) {}
  void add(std::span<const std::uint32_t> needs);
  void clear();

  /// True if a block with these needs also has room for `needs`.
  bool fits(std::span<const std::uint32_t> needs, const ExecutorLimits &limits) const;
  bool fits(const ExecutorLimits &limits) const { return fits({}, limits); }
  bool empty() const { return added_.empty(); }
  std::span<const std::uint32_t> needs() const { return added_; }
  /// Returns the number of channels of the type that has most of them.
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
  std::array<std::uint32_t, 4> sizes_{}; ///< numbers of channels (memory, port) and remote buffers (memory, port)
};

/// The needs of each representative statement of a program. Channels are counted before it is known which sync remains.
/// So the count may be too high: for a rank to which a port puts, one channel is for the puts, and one for signals.
class StatementNeeds {
public:
  /// `ranks`: number of ranks of the program.
  StatementNeeds(const ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                 const StatementSymmetry &symmetry);

  /// Returns the needs of `statement` as members of a BlockNeeds. Some may occur twice.
  const std::vector<std::uint32_t> &of(std::uint32_t statement) const { return needs_[statement]; }
  /// Returns the needs of a block without statements.
  BlockNeeds none() const { return BlockNeeds(ranks_); }
  /// Returns the needs of a block with all representative statements of `rank`.
  BlockNeeds ofRank(const ir::Movement &movement, std::uint32_t rank) const;

private:
  std::uint32_t ranks_;
  std::vector<std::vector<std::uint32_t>> needs_; ///< [statement]
};

} // namespace mscclc::passes::schedule
