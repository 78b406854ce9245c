// Finds the name that a misspelt word may mean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mscclc::ir {

/// Returns the name in `names` that `word` may mean. Such a name differs from `word` by case, `_` and `-` only, or by
/// few letters, or one contains the other. Returns the first of the nearest names; nothing if no name is near.
std::optional<std::string> nearestName(std::string_view word, std::span<const std::string> names);

} // namespace mscclc::ir
