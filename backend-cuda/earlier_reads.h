// Finds the relaxed signals that must release.
//
// A relaxed signal carries no data of its launch, but it orders: a block that has waited for it may overwrite memory
// that was read before it. PTX orders a read before another thread's later write only by a release (PTX ISA, causality
// order). So a relaxed signal releases if reads of this launch may precede it. They may precede it in its own block, or
// in blocks that reach it by signals, semaphores and barriers. Taking packets counts as reading. If a signal only
// announces that its rank has begun the launch, no reads precede it, and it stays relaxed.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

class EarlierReads {
public:
  explicit EarlierReads(const ir::Program &program);

  /// True if reads of this launch may precede operation `op` of a block.
  bool mayPrecede(std::size_t rank, std::size_t block, std::size_t op) const { return op >= first_[rank][block]; }

private:
  std::vector<std::vector<std::size_t>> first_; ///< [rank][block]: the first operation that reads may precede
};

} // namespace mscclc::cuda
