// Values of -P that mean several: `2..16`, `2..16:2`, `1,2,4`.
#pragma once

#include "frontend/frontend.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// The most combinations of values that are tried in one run.
inline constexpr std::uint64_t mostCombinations = 4096;

/// Returns true if `text` may mean several values. The type of its parameter decides.
bool mayBeSeveral(std::string_view text);

/// The values of a parameter.
struct ParameterValues {
  std::vector<std::string> values; ///< values in the form of -P, each once, in their order
  bool isSeveral = false;          ///< written as a list or a range, perhaps of one value
  std::string error;               ///< the reason if `values` is not valid
};

/// Reads `text`. Integers take ranges, FIRST..LAST or FIRST..LAST:STEP, and lists of values and ranges. Bools, enums
/// and doubles take lists. A text is one value, with its commas. More than mostCombinations values are an error.
ParameterValues parameterValues(std::string_view text, frontend::ParameterKind kind);

} // namespace mscclc::driver
