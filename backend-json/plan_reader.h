// Reads a whole plan, by its levels: gpu_reader.h, block_reader.h, op_reader.h. Used by read_plan.cpp alone.
#pragma once

#include "backend-json/gpu_reader.h"
#include "ir/structure.h"

#include <optional>

namespace mscclc::json {

class PlanReader final : public ObjectReader {
public:
  /// Ranks that the plan names must lie below `rankLimit`. `asRun`: see json::readPlan.
  PlanReader(std::string_view text, std::string_view filename, ir::DiagnosticEngine &engine, std::uint64_t rankLimit,
             bool asRun);

  /// The program, or nothing after errors, which are reported.
  std::optional<ir::Program> read();

  /// True if read() found nothing wrong but that the plan names a rank it has no gpu for. That is not reported: read
  /// again with the number of gpus as limit.
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
