// Values of -P that stand for several: `2..16`, `2..16:2`, `1,2,4`.
#pragma once

#include "frontend/frontend.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// The most combinations of values that are tried in one run.
inline constexpr std::uint64_t mostCombinations = 4096;

/// Whether `text` may stand for several values; its parameter's type decides.
bool mayBeSeveral(std::string_view text);

/// What a value of a parameter stands for.
struct ParameterValues {
  std::vector<std::string> values; ///< as -P takes them, each once, in the order in which they are written
  bool isSeveral = false;          ///< written as a list or a range, of one value perhaps
  std::string error;               ///< why `values` cannot be told
};

/// Reads `text`. Integers take ranges, FIRST..LAST or FIRST..LAST:STEP, and lists of values and ranges; bools, enums
/// and doubles take lists. A text is itself, commas and all. More than mostCombinations values are an error.
ParameterValues parameterValues(std::string_view text, frontend::ParameterKind kind);

} // namespace mscclc::driver
