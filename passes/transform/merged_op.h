// An operation of a block together with the neighbours that are merged into it. It is the other half of fusion
// (fuse.h).
#pragma once

#include "ir/containers.h"
#include "passes/transform/fusion_rules.h"

#include <span>
#include <vector>

namespace mscclc::passes {

class MergedOp {
public:
  explicit MergedOp(ir::Program &program) : program_(program) {}

  /// Begins `block`, one of `rank`.
  void enter(std::uint32_t rank, const ir::ThreadBlock &block);
  /// Begins with `op` alone.
  void start(const ir::Op &op);
  /// Returns the rule by which `next` may be merged into it, or null.
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
  // The block's own lists, until another operation is merged into them.
  std::span<const ir::Chunk> srcs_, dsts_;
  std::span<const std::uint32_t> ids_;
  std::vector<ir::Chunk> srcStore_, dstStore_;
  std::vector<std::uint32_t> idStore_;
  ir::StampSet seen_; ///< its ids, if idsSeen_
  bool idsSeen_ = false, othersChecked_ = false;
};

} // namespace mscclc::passes
