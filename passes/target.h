// The target of a plan: an executor with its limits, or none.
#pragma once

#include "passes/executor_limits.h"

#include <optional>
#include <string>
#include <string_view>

namespace mscclc::passes {

/// The target of a compilation.
struct Target {
  /// The limits and faults of the executor; null for --target=none.
  const ExecutorLimits *executor = nullptr;
  /// True if reductions combine their sources in the listed order, as executors and calls of the language do. Otherwise
  /// the rank's own source may come after others (ir::Op::firstAfter).
  bool listedOrder = false;

  /// Returns the target's name: "mscclpp-0.9", or "none".
  std::string name() const;
};

/// Returns the target with this name: "mscclpp" (the newest known version), "mscclpp-VERSION" or "none".
std::optional<Target> findTarget(std::string_view name);
/// Returns all names that findTarget accepts: "mscclpp, mscclpp-1f5f065d, mscclpp-0.9, none".
std::string targetNames();

} // namespace mscclc::passes
