// Splits thread blocks that exchange data with more ranks than an executor's block supports.
#pragma once

#include "passes/executor_limits.h"
#include "passes/schedule/block_needs.h"
#include "passes/schedule/statement_distances.h"
#include "passes/schedule/statement_graph.h"
#include "passes/schedule/statement_symmetry.h"

#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// Splits the blocks of placed statements that exceed the channels or remote buffers of an executor's block. Statements
/// that exchange data with the same ranks stay together. The counted needs may be too high (block_needs.h), so a block
/// may be split although it would have fitted.
class BlockSplitter {
public:
  /// `ranks`: number of ranks of the program.
  BlockSplitter(ir::Movement &movement, std::size_t ranks, const StatementGraph &graph,
                const StatementDistances &distances, const StatementSymmetry &symmetry, const ExecutorLimits &limits);

  /// Numbers the blocks of planned statements anew, in the same order. `clusterOf`[statement]: its cluster. The
  /// statements of a cluster go to one block if the block has room for them. With ir::none, the statement stays in its
  /// block.
  void run(std::span<const std::uint32_t> clusterOf);

private:
  struct Part {
    BlockNeeds reach;
    std::vector<std::uint32_t> statements;
  };

  /// Divides the statements of a block into parts. `fixed`: the needs of further statements, which stay in the first
  /// part.
  std::vector<Part> split(std::span<const std::uint32_t> statements, const BlockNeeds &fixed,
                          std::span<const std::uint32_t> clusterOf) const;

  ir::Movement &movement_;
  const StatementGraph &graph_;
  const StatementDistances &distances_;
  const StatementSymmetry &symmetry_;
  const ExecutorLimits &limits_;
  const StatementNeeds needs_;
};

} // namespace mscclc::passes::schedule
