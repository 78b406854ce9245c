// Values of -P that stand for several values: `2..16`, `2..16:2`, `1,2,4`.
#pragma once

#include "frontend/frontend.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// The maximum number of combinations of values in one run.
inline constexpr std::uint64_t mostCombinations = 4096;

/// Returns true if `text` may stand for several values. Whether it does depends on the type of its parameter.
bool mayBeSeveral(std::string_view text);

/// The values of a parameter.
struct ParameterValues {
  std::vector<std::string> values; ///< values in the form of -P, in the order of the text, without repetitions
  bool isSeveral = false;          ///< `text` is a list or a range, even if of only one value
  std::string error;               ///< why the text is wrong; empty: it is right
};

/// Parses `text`. An integer parameter takes ranges (FIRST..LAST or FIRST..LAST:STEP) and lists of values and ranges. A
/// bool, enum or double takes lists. For a string, the whole text is one value, even if it contains commas. More than
/// mostCombinations values are an error.
ParameterValues parameterValues(std::string_view text, frontend::ParameterKind kind);

} // namespace mscclc::driver
