// Catch2, whichever major version is installed.
#pragma once

#ifdef MSCCLC_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>

/// Matches text with `part` in it.
inline auto containsText(const std::string &part) {
#ifdef MSCCLC_CATCH2_V3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}
