// Tests that everything that works on thread blocks refuses a program of statements that move data. Such a program
// would look empty there.
#include "catch.h"

#include "backend-cuda/emit_kernel.h"
#include "backend-json/write_plan.h"
#include "ir/internal_error.h"
#include "ir/text.h"
#include "passes/analysis/dependences.h"
#include "passes/simulate/simulate.h"
#include "passes/time/estimate.h"
#include "passes/verify/translation_check.h"
#include "passes/verify/verify.h"

#include <sstream>

using namespace mscclc;

namespace {

ir::Program programOf(const std::string &ranks) {
  ir::DiagnosticEngine diags;
  auto program = ir::parse("mscclc.ir 1\nprogram \"t\" {\nschedule auto\n" + ranks + "}\n", "t.ir", diags);
  INFO(diags.render(false));
  REQUIRE(program);
  return std::move(*program);
}

ir::Program statements() {
  return programOf("rank 0 {\nbuffers input 1 output 1\n}\nmove {\ncopy 0.output[0:1] <- 0.input[0:1]\n}\n");
}

TEST_CASE("what works on thread blocks refuses statements") {
  const ir::Program program = statements();
  ir::DiagnosticEngine diags;
  std::ostringstream plan;
  std::string kernel;
  CHECK_THROWS_AS(passes::verify(program, diags, {}), ir::InternalError);
  CHECK_THROWS_AS(passes::simulate(program, diags, {}), ir::InternalError);
  CHECK_THROWS_AS(passes::time::estimate(program, {}, {}, 1024), ir::InternalError);
  CHECK_THROWS_AS(passes::dependences(program), ir::InternalError);
  CHECK_THROWS_AS(json::writePlan(program, plan), ir::InternalError);
  CHECK_THROWS_AS(cuda::emitKernel(program, {}, kernel, diags), ir::InternalError);
  CHECK(plan.str() + kernel == "");
  CHECK(diags.all().empty());
}

TEST_CASE("a pass is not blamed for thread blocks that it makes of statements, but one after it is") {
  const std::string right = "rank 0 {\nbuffers input 1 output 1\nblock 0 {\ncopy output[0:1] <- input[0:1]\n}\n}\n";
  const ir::Program blocks = programOf("collective allreduce\n" + right),
                    wrong = programOf("collective allreduce\nrank 0 {\nbuffers input 1 output 1\n}\n");
  ir::DiagnosticEngine diags;
  const auto check = passes::checkTranslation(statements());
  CHECK(check("order", statements(), diags));
  CHECK(check("synchronise", wrong, diags));
  CHECK(check("fuse", blocks, diags));
  CHECK_THROWS_AS(check("vandal", wrong, diags), ir::InternalError);
}

} // namespace
