#include "passes/diagnostics.h"

namespace mscclc::passes {

ir::Where whereIs(const ir::Program &program, ir::OpRef op) {
  const ir::Op &operation = ir::opAt(program, op);
  const std::string number = std::to_string(op.op);
  ir::Where where(operation.loc,
                  "rank " + std::to_string(op.rank) + ", block " + std::to_string(op.block) + ", operation " + number);
  where.alike = "operation " + number + ", " + std::string(ir::toString(operation.kind));
  return where;
}

} // namespace mscclc::passes
