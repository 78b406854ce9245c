// Integers of any type, as an algorithm passed them: see WideInteger.
#pragma once

#include "frontend/trace/trace.h"

#include <cstdint>
#include <string>

namespace mscclc::frontend {

/// Returns the value in decimal digits.
inline std::string textOf(WideInteger value) {
  return value.negative != 0 ? std::to_string(static_cast<std::int64_t>(value.bits)) : std::to_string(value.bits);
}

/// True if `low` ≤ `value` ≤ `high`.
inline bool inRange(WideInteger value, std::uint64_t low, std::uint64_t high) {
  return value.negative == 0 && value.bits >= low && value.bits <= high;
}

} // namespace mscclc::frontend
