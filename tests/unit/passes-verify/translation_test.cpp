// Tests the proof after each pass: the pass that breaks a program is named.
#include "algorithms.h"
#include "prove.h"

#include "ir/internal_error.h"
#include "passes/pass_manager.h"
#include "passes/verify/translation_check.h"

using namespace mscclc;

namespace {

/// Runs passes on `program` with the proof behind each; one of them, "vandal", drops the first block's last nop.
void runWithVandal(ir::Program program) {
  passes::PassManagerOptions options;
  options.check = passes::checkTranslation(program);
  passes::PassManager manager(options, passes::propertiesOf(program));
  passes::Pass vandal;
  vandal.name = "vandal";
  vandal.run = [](passes::PassContext &context) {
    auto &ops = context.program.ranks[0].blocks[0].ops;
    for (std::size_t i = ops.size(); i-- > 0;)
      if (ops[i].kind == ir::OpKind::Nop)
        return static_cast<void>(ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i)));
  };
  REQUIRE(manager.add("fuse") == "");
  REQUIRE(manager.add(vandal) == "");
  ir::DiagnosticEngine diags;
  const bool ok = manager.run(program, diags).ok;
  CHECK(ok);
  CHECK(diags.all().empty());
}

TEST_CASE("a pass that makes a proven program unprovable is named, with the findings") {
  CHECK_THROWS_WITH(runWithVandal(plan::allGather(2).program),
                    containsText("pass 'vandal' broke a program that was proven before it:\n") &&
                        containsText("error: "));
}

TEST_CASE("a program that was not proven before is not blamed on a pass") {
  ir::Program program = plan::allGather(2).program;
  program.ranks[1].blocks[0].ops.pop_back();
  REQUIRE_FALSE(plan::prove(program).result.proven);
  CHECK_NOTHROW(runWithVandal(program));
}

} // namespace
