#include "compiler/parameter_values.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace mscclc::driver {
namespace {

constexpr std::string_view rangeMark = "..";

/// Parses a decimal or hexadecimal signed 64-bit integer.
std::optional<std::int64_t> integer(std::string_view text) {
  const bool isNegative = text.starts_with('-');
  if (isNegative || text.starts_with('+'))
    text.remove_prefix(1);
  const bool isHex = text.starts_with("0x") || text.starts_with("0X");
  if (isHex)
    text.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, isHex ? 16 : 10);
  constexpr std::uint64_t most = INT64_MAX;
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || magnitude > most + isNegative)
    return std::nullopt;
  return static_cast<std::int64_t>(isNegative ? ~magnitude + 1 : magnitude);
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// Adds the values of one range. Returns an error message, empty if there is none.
std::string addRange(std::string_view item, std::vector<std::string> &values) {
  const std::size_t mark = item.find(rangeMark), colon = item.find(':');
  const std::string_view last = item.substr(mark + rangeMark.size(), colon - mark - rangeMark.size());
  const auto from = integer(item.substr(0, mark)), to = integer(last);
  const auto step = colon == item.npos ? 1 : integer(item.substr(colon + 1));
  if (!from || !to || !step || *step < 1)
    return quoted(item) + " is no range: write FIRST..LAST or FIRST..LAST:STEP with integers, the step at least 1";
  if (*from > *to)
    return "the range " + quoted(item) + " is empty: it goes up, from the smaller value to the larger";
  const std::uint64_t more =
      (static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(*from)) / static_cast<std::uint64_t>(*step);
  if (more >= mostCombinations)
    return "the range " + quoted(item) + " has more than " + std::to_string(mostCombinations) + " values";
  for (std::uint64_t i = 0; i <= more; ++i)
    values.push_back(std::to_string(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(*from) + i * static_cast<std::uint64_t>(*step))));
  return {};
}

} // namespace

bool mayBeSeveral(std::string_view text) {
  return text.find(',') != text.npos || text.find(rangeMark) != text.npos;
}

ParameterValues parameterValues(std::string_view text, frontend::ParameterKind kind) {
  using frontend::ParameterKind;
  ParameterValues result;
  const bool hasRanges = kind == ParameterKind::Integer && text.find(rangeMark) != text.npos;
  result.isSeveral = hasRanges || (kind != ParameterKind::Text && text.find(',') != text.npos);
  if (!result.isSeveral) {
    result.values.emplace_back(text);
    return result;
  }
  std::vector<std::string> all;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    if (item.empty())
      result.error = "an empty value in the list " + quoted(text);
    else if (kind == ParameterKind::Integer && item.find(rangeMark) != item.npos)
      result.error = addRange(item, all);
    else
      all.emplace_back(item);
    if (result.error.empty() && all.size() > mostCombinations)
      result.error = "more than " + std::to_string(mostCombinations) + " values";
    if (!result.error.empty() || comma == rest.npos)
      break;
    rest.remove_prefix(comma + 1);
  }
  for (std::string &value : all)
    if (std::ranges::find(result.values, value) == result.values.end())
      result.values.push_back(std::move(value));
  return result;
}

} // namespace mscclc::driver
