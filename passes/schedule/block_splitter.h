// Thread blocks that talk to more ranks than an executor's block can, made into several.
#pragma once

#include "passes/executor_limits.h"
#include "passes/schedule/rank_distances.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_orbits.h"

#include <array>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Splits the blocks of placed statements that pass the channels or remote buffers of an executor's block. What goes to
/// or comes from the same ranks stays together. Channels are counted before anybody knows which syncs are left, so
/// a block may be split that would have fitted: towards a rank that a port puts to, one takes what is put, and one the
/// signals.
class BlockSplitter {
public:
  /// `ranks`: of the program.
  BlockSplitter(ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                const StatementDistances &distances, const StatementOrbits &orbits, const ExecutorLimits &limits);

  /// Numbers the blocks of planned statements anew, in the same order. `clusterOf` [statement]: those of one cluster go
  /// to one block if it can take them; ir::none: the statement stays in its block.
  void run(std::span<const std::uint32_t> clusterOf);

private:
  /// What a block has entries of its tables for. Channels for signals (in memory, data goes the same way), and for what
  /// ports put or get; buffers by rank and kind. They are numbered by kind, then by rank.
  enum Need : std::uint32_t { MemoryChannel, PortChannel, PortPuts, MemoryBuffer, PortBuffer = MemoryBuffer + 3 };
  static constexpr std::uint32_t numNeeds = PortBuffer + 3;

  /// A set of needs, of a block or a part of it.
  class Reach {
  public:
    explicit Reach(std::uint32_t ranks) : ranks_(ranks), has_(std::size_t{numNeeds} * ranks, false) {}
    void add(std::span<const std::uint32_t> needs);
    /// True if a block can have these, too.
    bool fits(std::span<const std::uint32_t> needs, const ExecutorLimits &limits) const;
    bool fits(const ExecutorLimits &limits) const { return fits({}, limits); }
    bool empty() const { return added_.empty(); }
    std::span<const std::uint32_t> needs() const { return added_; }
    void clear();

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
  struct Part {
    Reach reach;
    std::vector<std::uint32_t> statements;
  };

  void eachNeed(auto &&visit) const;
  void findNeeds();
  std::span<const std::uint32_t> needsOf(std::uint32_t statement) const {
    return std::span(needs_).subspan(firstNeed_[statement], firstNeed_[statement + 1] - firstNeed_[statement]);
  }
  /// Statements of one block, each in its part. `fixed`: of the block's statements that stay in its first part.
  std::vector<Part> split(std::span<const std::uint32_t> statements, const Reach &fixed,
                          std::span<const std::uint32_t> clusterOf) const;

  ir::Movement &movement_;
  const StatementGraph &graph_;
  const StatementDistances &distances_;
  const StatementOrbits &orbits_;
  const ExecutorLimits &limits_;
  const std::uint32_t ranks_;
  std::vector<std::uint32_t> needs_;   ///< of all statements; some twice
  std::vector<std::size_t> firstNeed_; ///< [statement], and the end: into needs_
};

} // namespace mscclc::passes::schedule
