#include "compiler/option_values.h"

#include "backend-json/write_plan.h"
#include "compiler/allowable.h"
#include "compiler/explain_error.h"
#include "ir/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

namespace mscclc::driver {
namespace {

/// Returns a validator. `error` returns what is wrong with a value, or an empty text. It may change the spelling of the
/// value.
CLI::Validator validator(std::function<std::string(std::string &)> error) {
  return CLI::Validator(std::move(error), "");
}

} // namespace

std::string didYouMean(const std::string &word, const std::vector<std::string> &names) {
  const auto near = ir::nearestName(word, names);
  return near ? "; did you mean '" + *near + "'?" : std::string();
}

std::optional<std::uint64_t> parseByteSize(const std::string &text) {
  std::uint64_t value = 0;
  const char *const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc())
    return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  if (unit.empty() || unit == "B")
    return value;
  const std::string_view letters = "KMGT";
  const auto power = letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  const std::string_view rest = unit.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "iB"))
    return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (value > (UINT64_MAX >> shift))
    return std::nullopt;
  return value << shift;
}

CLI::Validator byteSize(std::uint64_t least, std::string tooSmall) {
  return validator([least, tooSmall = std::move(tooSmall)](std::string &text) -> std::string {
    const auto bytes = parseByteSize(text);
    if (!bytes)
      return "'" + text + "' is not a size in bytes; write digits with an optional K, M, G or T";
    if (*bytes < least)
      return tooSmall;
    text = std::to_string(*bytes);
    return {};
  });
}

CLI::Validator wholeNumber(std::uint64_t most) {
  return validator([most](std::string &text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > most)
      return "'" + text + "' is no number from 0 to " + std::to_string(most);
    text = std::to_string(value); // CLI11 would read a number with leading zeros as octal
    return {};
  });
}

CLI::Validator notZero(std::string zero) {
  return validator([zero = std::move(zero)](const std::string &text) {
    std::uint64_t value = 0;
    const bool isZero = text.empty() || (CLI::detail::lexical_cast(text, value) && value == 0);
    return isZero ? zero : std::string();
  });
}

CLI::Validator seconds() {
  return validator([](const std::string &text) -> std::string {
    double value = 0;
    const bool isGood = !text.empty() && CLI::detail::lexical_cast(text, value) && value > 0 && value <= 86400;
    return isGood ? "" : "'" + text + "' is no number of seconds above 0, and up to 86400";
  });
}

CLI::Validator oneOf(std::vector<std::string> words) {
  return validator([words = std::move(words)](const std::string &text) -> std::string {
    const bool isThere = std::ranges::find(words, text) != words.end();
    return isThere ? "" : "'" + text + "' is none of " + CLI::detail::join(words, ", ") + didYouMean(text, words);
  });
}

CLI::Validator folder() {
  return validator([](const std::string &name) -> std::string {
    std::error_code ignored;
    return std::filesystem::is_directory(name, ignored) ? "" : "'" + name + "' is no folder";
  });
}

CLI::Validator notEmpty() {
  return validator([](const std::string &text) { return std::string(text.empty() ? "an empty name" : ""); });
}

CLI::Validator planName() {
  return validator([](const std::string &text) {
    return std::string(text.empty() || !json::isUtf8(text) ? "a name is UTF-8, and not empty" : "");
  });
}

CLI::Validator allowableFinding() {
  return validator([](const std::string &name) {
    if (isAllowable(name))
      return std::string();
    std::vector<std::string> names;
    for (const Allowable &allowable : allAllowable())
      names.emplace_back(allowable.name);
    return "'" + name + "' is no finding to allow; known: " + allowableNames() + didYouMean(name, names);
  });
}

CLI::Validator diagnosticName() {
  return validator([](const std::string &name) {
    return pageOf(name).empty() ? "there is no diagnostic '" + name + "'" + didYouMean(name, diagnosticNames())
                                : std::string();
  });
}

} // namespace mscclc::driver
