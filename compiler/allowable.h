// The findings that --allow turns into warnings, from the tables of all rooms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A name for --allow with its description. Several findings may share it.
struct Allowable {
  std::string_view name, summary;
};

/// Returns all of them, by name.
const std::vector<Allowable> &allAllowable();

/// True if --allow takes `name`.
bool isAllowable(std::string_view name);

/// Returns all names for an error: "a, b, c".
std::string allowableNames();

} // namespace mscclc::driver
