// Texts that are made of the table of options: the man page, and completion for shells.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// An option as its users see it.
struct OptionRow {
  std::vector<std::string> names; ///< "-P", "--param", "-MD"
  std::string group;              ///< the heading in --help
  std::string value;              ///< what it takes, "NAME=VALUE"; "[=WHAT]" may be left out; empty: nothing
  std::vector<std::string> words; ///< the words that it takes; empty: any, a file among others
  std::string help;

  bool takesValue() const { return !value.empty(); }
  /// Returns true if its value may be left out. A value then follows `=`.
  bool mayStandAlone() const { return value.starts_with("[="); }
};

/// The shells with completion: bash, zsh and fish.
const std::vector<std::string> &completionShells();

/// Returns a script that completes command lines of mscclc in `shell`, one of completionShells().
std::string completionFor(std::string_view shell, const std::vector<OptionRow> &options);

/// Returns the man page. `footer`: text behind the options, as --help has it.
std::string manPage(const std::vector<OptionRow> &options, std::string_view footer);

} // namespace mscclc::driver
