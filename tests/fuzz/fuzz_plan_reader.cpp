// For any text, the plan reader reports errors, or returns a program that is the same after writing and reading it
// again. Any text that it accepts must also be JSON for the parser that the executor uses.
#include "backend-json/compare_plans.h"
#include "backend-json/read_plan.h"
#include "backend-json/write_plan.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace mscclc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  ir::DiagnosticEngine engine;
  const auto program = json::readPlan(text, "plan.json", engine);
  if (program.has_value() == engine.hasErrors())
    std::abort();
  if (!program)
    return 0;
  if (!nlohmann::json::accept(text))
    std::abort();
  std::ostringstream out;
  json::writePlan(*program, out);
  ir::DiagnosticEngine again;
  const auto back = json::readPlan(out.str(), "plan.json", again);
  if (!back || !json::comparePlans(*program, *back).equal())
    std::abort();
  return 0;
}
