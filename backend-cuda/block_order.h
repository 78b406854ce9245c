// Walks through the operations of a block in the order in which its threads reach them.
#pragma once

#include "ir/program.h"

#include <cstddef>

namespace mscclc::cuda {

/// Calls `visit(index)` for each operation except headers of pipelines. The body of a pipeline is visited twice,
/// because its beginning follows its end.
template <class Visit> void forEachInOrder(const ir::ThreadBlock &block, Visit visit) {
  for (std::size_t o = 0; o < block.ops.size(); ++o) {
    const ir::Op &op = block.ops[o];
    if (op.kind != ir::OpKind::Pipeline) {
      visit(o);
      continue;
    }
    for (int iteration = 0; iteration < 2; ++iteration)
      for (std::size_t i = 1; i <= op.bodySize; ++i)
        visit(o + i);
    o += op.bodySize;
  }
}

} // namespace mscclc::cuda
