// What the readers of all levels of one plan share.
#pragma once

#include "backend-json/value_reader.h"
#include "ir/program.h"

#include <optional>

namespace mscclc::json {

struct PlanContext {
  ValueReader &in;
  /// Ranks that the plan names must lie below it.
  const std::uint64_t rankLimit;
  /// See json::readPlan.
  const bool asRun;

  /// Of the program: each gpu, thread block and operation as listed.
  ir::SourceMap sources{};
  ir::LocId planLoc = ir::noLoc, gpuLoc = ir::noLoc;
  std::uint32_t opsLabel = 0; ///< of the lists of operations
  std::uint64_t largestRank = 0;
  /// The gpu that is being read, and its id once that is known.
  ValueReader::Anchor gpu{};
  std::optional<std::uint64_t> gpuId{};

  /// A rank that the plan names.
  Expected rank(std::uint32_t &out);
  /// The gpu's id, wherever among its fields it stands; nothing if it has none.
  std::optional<std::uint64_t> idOfGpu();
};

} // namespace mscclc::json
