#include "passes/diagnostics.h"

namespace mscclc::passes {

ir::Where whereIs(const ir::Program &program, ir::OpRef op) {
  const ir::Op &operation = program.ranks[op.rank].blocks[op.block].ops[op.op];
  return {operation.loc, "rank " + std::to_string(op.rank) + ", block " + std::to_string(op.block) + ", operation " +
                             std::to_string(op.op)};
}

} // namespace mscclc::passes
