// Data that the readers of all levels of a plan share.
#pragma once

#include "backend-json/value_reader.h"
#include "ir/program.h"

#include <optional>

namespace mscclc::json {

struct PlanContext {
  ValueReader &in;
  /// Ranks in the plan must be less than this.
  const std::uint64_t rankLimit;
  /// See json::readPlan.
  const bool asRun;

  /// The locations of the program: one for each gpu, thread block and operation in the plan.
  ir::SourceMap sources{};
  ir::LocId planLoc = ir::noLoc, gpuLoc = ir::noLoc;
  std::uint32_t opsLabel = 0; ///< label of the plan's lists of operations
  std::uint64_t largestRank = 0;
  /// The gpu that is being read, and its id once it is known.
  ValueReader::Anchor gpu{};
  std::optional<std::uint64_t> gpuId{};

  /// Expects a rank.
  Expected rank(std::uint32_t &out);
  /// Finds the gpu's id, which may be anywhere among its fields. Returns nothing if it has no id.
  std::optional<std::uint64_t> idOfGpu();
};

} // namespace mscclc::json
