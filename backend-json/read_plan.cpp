#include "backend-json/read_plan.h"

#include "backend-json/plan_reader.h"

namespace mscclc::json {

std::optional<ir::Program> readPlan(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine,
                                    bool asRun) {
  constexpr std::uint64_t anyRank = std::numeric_limits<std::uint64_t>::max();
  PlanReader reader(text, filename, engine, anyRank, asRun);
  auto program = reader.read();
  // The number of ranks is known only at the end. So a second reading finds the places that name ranks without a gpu.
  if (reader.namesUnknownRank())
    PlanReader(text, filename, engine, reader.numGpus(), false).read();
  return program;
}

} // namespace mscclc::json
