// Thread blocks that talk to more ranks than an executor's block can, made into several.
#pragma once

#include "passes/executor_limits.h"
#include "passes/schedule/rank_distances.h"
#include "passes/schedule/statement_graph.h"

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
  BlockSplitter(ir::Movement &movement, const StatementGraph &graph, const StatementDistances &distances,
                const ExecutorLimits &limits);

  /// Numbers the blocks anew, in the same order. `clusterOf` [statement]: those of one cluster go to one block if it
  /// can take them; ir::none: the statement stays in its block.
  void run(std::span<const std::uint32_t> clusterOf);

private:
  /// What a block needs entries of its tables for, through memory or through ports: numbers in order, each once, those
  /// of ports last.
  using Entries = std::vector<std::uint64_t>;
  struct Reach {
    Entries channels, buffers;
    void addSignals(bool port, std::uint32_t rank);
    void addPuts(std::uint32_t rank);
    void addBuffer(bool port, const ir::RankChunk &place);
    void add(const Reach &other);
  };
  struct Part {
    Reach reach;
    std::vector<std::uint32_t> statements;
  };

  void findReaches();
  bool fits(const Reach &reach, const Reach &other = {}) const;
  /// What statements of a block are sorted by; the last is the statement.
  using Key = std::array<std::uint32_t, 4>;
  Key keyOf(std::uint32_t statement) const;
  /// Statements of one block, each in its part. `fixed`: of the block's statements that stay in its first part.
  std::vector<Part> split(std::span<const std::uint32_t> statements, const Reach &fixed,
                          std::span<const std::uint32_t> clusterOf) const;

  ir::Movement &movement_;
  const StatementGraph &graph_;
  const StatementDistances &distances_;
  const ExecutorLimits &limits_;
  std::vector<std::uint32_t> levels_; ///< [statement]
  std::vector<Reach> reaches_;        ///< [statement]
};

} // namespace mscclc::passes::schedule
