// Finds the name that a misspelt word may mean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mscclc::ir {

/// Returns the one of `names` that `word` may mean. Such a name differs by case, `_` and `-` only, or by few letters,
/// or one contains the other. Returns the first of the nearest; nothing if none is near.
std::optional<std::string> nearestName(std::string_view word, std::span<const std::string> names);

} // namespace mscclc::ir
