// Reads a whole plan with the readers of its levels: gpu_reader.h, block_reader.h, op_reader.h. Only read_plan.cpp uses
// it.
#pragma once

#include "backend-json/gpu_reader.h"
#include "ir/structure.h"

#include <optional>

namespace mscclc::json {

class PlanReader final : public ObjectReader {
public:
  /// Ranks in the plan must be less than `rankLimit`. `asRun`: see json::readPlan.
  PlanReader(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine, std::uint64_t rankLimit,
             bool asRun);

  /// Returns the program. After errors, reports them and returns nothing.
  std::optional<ir::Program> read();

  /// True if the plan names a rank without a gpu, and read() found no other fault. read() does not report this fault.
  /// To report it, read the plan again with the number of gpus as `rankLimit`.
  bool namesUnknownRank() const { return in_.numErrors() == 0 && numGpus() != 0 && plan_.largestRank >= numGpus(); }
  std::size_t numGpus() const { return gpus_.ids().size(); }

private:
  Expected field(std::size_t k) override;
  void end(const ReadObject &object) override;
  ir::ShownPlace placeOf(const ir::ProgramPlace &place);
  ValueReader::Anchor gpu(std::size_t index) const;

  ValueReader in_;
  PlanContext plan_;
  GpuReader gpus_;
  ir::Program program_;
};

} // namespace mscclc::json
