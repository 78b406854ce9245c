// What a plan is made for: an executor with its limits, or nothing in particular.
#pragma once

#include "passes/executor_limits.h"

#include <optional>
#include <string>
#include <string_view>

namespace mscclc::passes {

struct Target {
  /// Limits and faults to respect; null for --target=none.
  const ExecutorLimits *executor = nullptr;

  /// "mscclpp-0.9", or "none".
  std::string name() const;
};

/// The target that `name` means: "mscclpp" (the newest version known), "mscclpp-VERSION" or "none".
std::optional<Target> findTarget(std::string_view name);
/// All names that findTarget takes: "mscclpp, mscclpp-1f5f065d, mscclpp-0.9, none".
std::string targetNames();

} // namespace mscclc::passes
