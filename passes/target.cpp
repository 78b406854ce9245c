#include "passes/target.h"

namespace mscclc::passes {

static constexpr std::string_view prefix = "mscclpp-";

std::string Target::name() const {
  return executor ? std::string(prefix) += executor->version : "none";
}

std::optional<Target> findTarget(std::string_view name) {
  if (name == "none")
    return Target{};
  if (name == "mscclpp")
    return Target{&executorLimits.front(), true};
  if (name.starts_with(prefix))
    for (const ExecutorLimits &limits : executorLimits)
      if (name.substr(prefix.size()) == limits.version)
        return Target{&limits, true};
  return std::nullopt;
}

std::string targetNames() {
  std::string names = "mscclpp";
  for (const ExecutorLimits &limits : executorLimits)
    names.append(", ").append(prefix).append(limits.version);
  return names + ", none";
}

} // namespace mscclc::passes
