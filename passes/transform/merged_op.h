// An operation of a block, with the neighbours that are merged into it. This is one half of fusion (fuse.h); the other
// half removes sync.
#pragma once

#include "ir/containers.h"
#include "passes/transform/fusion_rules.h"

#include <span>
#include <vector>

namespace mscclc::passes {

class MergedOp {
public:
  explicit MergedOp(ir::Program &program) : program_(program) {}

  /// Prepares for the operations of `block`, which belongs to `rank`.
  void enter(std::uint32_t rank, const ir::ThreadBlock &block);
  /// Begins a new merged operation with `op` alone.
  void start(const ir::Op &op);
  /// Returns the rule that merges `next` into the operation; null if there is none.
  const FusionRule *ruleFor(const ir::Op &next);
  void merge(const FusionRule &rule, const ir::Op &next);

  ir::Op &op() { return op_; }
  std::span<const ir::Chunk> srcs() const { return srcs_; }
  std::span<const ir::Chunk> dsts() const { return dsts_; }
  std::span<const std::uint32_t> ids() const { return ids_; }

private:
  bool operandsAllow(const FusionRule &rule, const ir::Op &next);
  bool landsInPlace(const ir::Chunk &chunk, const ir::Chunk &target) const;
  bool accumulates(const ir::Op &next);
  void markOwn();
  bool disjointIds(std::span<const std::uint32_t> ids);

  ir::Program &program_;
  std::uint32_t rank_ = 0;
  const ir::ThreadBlock *block_ = nullptr;
  ir::Op op_;
  // The operand lists and ids. They refer to the block's lists until another operation is merged.
  std::span<const ir::Chunk> srcs_, dsts_;
  std::span<const std::uint32_t> ids_;
  std::vector<ir::Chunk> srcStore_, dstStore_;
  std::vector<std::uint32_t> idStore_;
  ir::StampSet seen_; ///< the ids of the operation; only valid if idsSeen_
  bool idsSeen_ = false, othersChecked_ = false;
};

} // namespace mscclc::passes
