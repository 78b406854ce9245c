// The findings that --allow makes warnings, from the tables of all rooms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A name that --allow takes, perhaps of several findings, and what it is of.
struct Allowable {
  std::string_view name, summary;
};

/// All of them, by name.
const std::vector<Allowable> &allAllowable();

/// True if --allow takes `name`.
bool isAllowable(std::string_view name);

/// "a, b, c": all names, for an error.
std::string allowableNames();

} // namespace mscclc::driver
