// Facts that all block programs of a kernel share.
#pragma once

#include "backend-cuda/earlier_reads.h"
#include "ir/rows.h"

#include <array>
#include <string>

namespace mscclc::cuda {

struct KernelFacts {
  const ir::Program &program;
  /// Template argument of each reduction. It is "Op" if the plan has only one kind of reduction.
  std::array<std::string, ir::reduceOpCount> reduceOp;
  EarlierReads earlierReads;
  bool hasPackets = false;            ///< some block accesses packets
  const ir::RowSlots *rows = nullptr; ///< the rows that operands hold; null: not known, or the program has none
};

} // namespace mscclc::cuda
