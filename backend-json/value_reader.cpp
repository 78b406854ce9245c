#include "backend-json/value_reader.h"

#include <algorithm>

namespace mscclc::json {

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string out;
  for (const char c : text.substr(0, longest))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  while (text.size() > longest && !out.empty() && (out.back() & 0x80) != 0)
    out.pop_back(); // no part of a character
  return text.size() > longest ? out + "…" : out;
}

bool ValueReader::expect(JsonKind kind) {
  static constexpr std::string_view names[] = {"nothing",  "an object",     "a list", "a string",
                                               "a number", "true or false", "null"};
  const JsonKind found = cursor_.peek();
  if (found == kind)
    return true;
  if (found != JsonKind::Invalid) {
    error(diag::wrong_type, cursor_.offset(),
          {names[static_cast<std::size_t>(kind)], names[static_cast<std::size_t>(found)]});
    cursor_.skipValue();
  }
  return false;
}

bool ValueReader::wholeNumber(std::uint64_t max, std::uint64_t &out) {
  if (!expect(JsonKind::Number))
    return false;
  const std::size_t begin = cursor_.offset();
  NumberFault fault;
  const std::uint64_t value = cursor_.wholeNumber(fault);
  if (cursor_.failed())
    return false;
  if (fault == NumberFault::None && value > max)
    fault = NumberFault::TooLarge;
  if (fault != NumberFault::None) {
    static constexpr std::string_view names[] = {"", "a negative number", "a fraction", "a larger one"};
    error(diag::bad_number, begin, {max, names[static_cast<std::size_t>(fault)]});
    return false;
  }
  out = value;
  return true;
}

bool ValueReader::positive(std::uint32_t &out) {
  cursor_.peek();
  const std::size_t begin = cursor_.offset();
  if (!number(out))
    return false;
  if (out == 0)
    error(diag::zero, begin);
  return out != 0;
}

bool ValueReader::boolean(bool &out) {
  if (!expect(JsonKind::Boolean))
    return false;
  out = cursor_.boolean();
  return !cursor_.failed();
}

bool ValueReader::string(std::string &out) {
  if (!expect(JsonKind::String))
    return false;
  out = cursor_.string();
  return !cursor_.failed();
}

bool ValueReader::wordIndex(std::span<const std::string_view> words, std::size_t &index) {
  if (!expect(JsonKind::String))
    return false;
  const std::size_t begin = cursor_.offset();
  const std::string_view found = cursor_.string();
  if (cursor_.failed())
    return false;
  const auto it = std::find(words.begin(), words.end(), found);
  if (it == words.end()) {
    std::string list;
    for (const std::string_view word : words)
      list.append(list.empty() ? "'" : word == words.back() ? " or '" : ", '").append(word) += '\'';
    error(diag::unknown_word, begin, {list, shown(found)});
    return false;
  }
  index = static_cast<std::size_t>(it - words.begin());
  return true;
}

/// Index of `key` in `fields`, looked for from `hint` on, as fields mostly come in order; fields.size() if absent.
std::size_t ValueReader::find(std::span<const std::string_view> fields, std::string_view key, std::size_t hint) {
  for (std::size_t i = hint; i < fields.size(); ++i)
    if (fields[i] == key)
      return i;
  for (std::size_t i = 0; i < hint; ++i)
    if (fields[i] == key)
      return i;
  return fields.size();
}

void ValueReader::reportMissing(const ObjectSchema &schema, std::uint32_t seen, std::size_t offset) {
  for (std::size_t i = 0; i < schema.fields.size(); ++i)
    if (((seen | schema.optional) >> i & 1) == 0)
      error(diag::missing_field, offset, {schema.fields[i]});
}

/// "plan.json:12:7: $.gpus[0]"; without an offset no line and column.
std::string ValueReader::placeText(const JsonPath &path, std::optional<std::size_t> offset) {
  std::string place = filename_ + ":";
  if (offset) {
    if (*offset < knownOffset_) {
      knownOffset_ = knownLineStart_ = 0;
      knownLine_ = 1;
    }
    const std::string_view before = text_.substr(0, *offset);
    for (std::size_t at = knownOffset_; (at = before.find('\n', at)) != std::string_view::npos;) {
      knownLineStart_ = ++at;
      ++knownLine_;
    }
    knownOffset_ = *offset;
    place += std::to_string(knownLine_) + ":" + std::to_string(*offset - knownLineStart_ + 1) + ":";
  }
  return place + " " + path.text();
}

void ValueReader::report(const ir::DiagInfo &info, const JsonPath &path, std::optional<std::size_t> offset,
                         const std::vector<ir::DiagArg> &args) {
  engine_.report(info, placeText(path, offset), args);
  if (engine_.severityOf(info) == ir::Severity::Error && ++numErrors_ >= maxErrors)
    cursor_.stop();
}

void ValueReader::reportSyntax() {
  if (cursor_.failed() && !full())
    error(diag::json_syntax, cursor_.errorOffset(), {cursor_.error()});
}

} // namespace mscclc::json
