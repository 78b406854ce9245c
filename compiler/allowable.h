// The findings that --allow turns into warnings, from the tables of all folders.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A name that --allow takes, with its description. Several findings may share a name.
struct Allowable {
  std::string_view name, summary;
};

/// Returns all names that --allow takes, sorted.
const std::vector<Allowable> &allAllowable();

/// True if --allow takes `name`.
bool isAllowable(std::string_view name);

/// Returns all names that --allow takes as a list for an error message: "a, b, c".
std::string allowableNames();

} // namespace mscclc::driver
