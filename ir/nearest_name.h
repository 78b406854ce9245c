// What a misspelt name may stand for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mscclc::ir {

/// The one of `names` that `word` may stand for: it is the same but for case, `_` and `-`, or few letters differ, or
/// one holds the other. Of several the first that is nearest; nothing where none is near.
std::optional<std::string> nearestName(std::string_view word, std::span<const std::string> names);

} // namespace mscclc::ir
