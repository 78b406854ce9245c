// Texts that are generated from the table of options: the man page, and shell completions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// An option, as --help shows it to users.
struct OptionRow {
  std::vector<std::string> names; ///< "-P", "--param", "-MD"
  std::string group;              ///< the heading in --help
  std::string value; ///< form of the value: "NAME=VALUE", or "[=WHAT]" if it may be omitted; empty: no value
  std::vector<std::string> words; ///< words that the option takes; empty: it takes any word or file
  std::string help;

  bool takesValue() const { return !value.empty(); }
  /// Returns true if the value may be omitted. Such a value is written behind `=`.
  bool mayStandAlone() const { return value.starts_with("[="); }
};

/// The shells with completion: bash, zsh and fish.
const std::vector<std::string> &completionShells();

/// Returns a script that completes command lines of mscclc in `shell`, one of completionShells().
std::string completionFor(std::string_view shell, const std::vector<OptionRow> &options);

/// Returns the man page. `footer`: the text behind the options in --help.
std::string manPage(const std::vector<OptionRow> &options, std::string_view footer);

} // namespace mscclc::driver
