#include "backend-json/json_cursor.h"

#include "backend-json/utf8.h"

#include <array>
#include <bitset>

namespace mscclc::json {

namespace {

constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Bytes of a string that stand for themselves: printable ASCII but quote and backslash.
constexpr auto plainBytes = [] {
  std::array<bool, 256> table{};
  for (int c = 0x20; c < 0x80; ++c)
    table[static_cast<std::size_t>(c)] = c != '"' && c != '\\';
  return table;
}();

void appendUtf8(std::string &out, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

} // namespace

JsonCursor::JsonCursor(std::string_view text) : text_(text) {
  if (text_.starts_with("\xef\xbb\xbf"))
    at_ = 3;
}

bool JsonCursor::fail(std::size_t offset, std::string_view message) {
  if (!failed()) {
    error_ = message;
    errorOffset_ = offset;
  }
  return false;
}

bool JsonCursor::failHere(std::string_view expected) {
  return fail(at_, at_ < text_.size() ? expected : "unexpected end of the text");
}

JsonKind JsonCursor::peek() {
  if (failed())
    return JsonKind::Invalid;
  skipSpace();
  switch (const char c = current()) {
  case '{':
    return JsonKind::Object;
  case '[':
    return JsonKind::Array;
  case '"':
    return JsonKind::String;
  case 't':
  case 'f':
    return JsonKind::Boolean;
  case 'n':
    return JsonKind::Null;
  default:
    if (isDigit(c) || c == '-')
      return JsonKind::Number;
    failHere("expected a value");
    return JsonKind::Invalid;
  }
}

/// Steps over the comma before an item, or over `close`, which ends the list.
bool JsonCursor::nextItem(char close) {
  if (failed())
    return false;
  skipSpace();
  if (current() == close) {
    ++at_;
    fresh_ = false;
    return false;
  }
  if (!fresh_) {
    if (current() != ',')
      return failHere(close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    ++at_;
    skipSpace();
  }
  fresh_ = false;
  return true;
}

bool JsonCursor::nextElement() {
  return nextItem(']');
}

bool JsonCursor::nextMember(std::string_view &key) {
  if (!nextItem('}'))
    return false;
  if (current() != '"')
    return failHere("expected a field name in quotes");
  keyOffset_ = at_;
  key = string();
  if (failed())
    return false;
  skipSpace();
  if (current() != ':')
    return failHere("expected ':'");
  ++at_;
  skipSpace();
  return true;
}

std::string_view JsonCursor::string() {
  const std::size_t begin = ++at_;
  while (at_ < text_.size() && plainBytes[static_cast<unsigned char>(text_[at_])])
    ++at_;
  if (current() == '"')
    return text_.substr(begin, at_++ - begin);
  return decodeRest(begin);
}

/// The string from `begin`, whose first bytes up to at_ are plain; the rest may hold anything.
std::string_view JsonCursor::decodeRest(std::size_t begin) {
  decoded_.assign(text_.substr(begin, at_ - begin));
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return decoded_;
    }
    if (c == '\\') {
      if (!decodeEscape())
        return {};
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      fail(at_, "a control character inside a string");
      return {};
    }
    const std::size_t length = utf8Length(text_, at_);
    if (length == 0) {
      fail(at_, "a string that is not UTF-8");
      return {};
    }
    decoded_.append(text_, at_, length);
    at_ += length;
  }
  failHere({});
  return {};
}

bool JsonCursor::decodeEscape() {
  constexpr std::string_view letters = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
  const std::size_t begin = at_++;
  if (at_ == text_.size())
    return failHere({});
  const char c = text_[at_++];
  if (const std::size_t which = letters.find(c); which != std::string_view::npos) {
    decoded_ += values[which];
    return true;
  }
  std::uint32_t code = 0;
  if (c != 'u' || !hexDigits(code))
    return fail(begin, "an unknown escape inside a string");
  if (code >= 0xd800 && code < 0xe000) {
    std::uint32_t low = 0;
    if (code >= 0xdc00 || text_.substr(at_, 2) != "\\u" || (at_ += 2, !hexDigits(low)) || low < 0xdc00 || low >= 0xe000)
      return fail(begin, "half of a surrogate pair inside a string");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  appendUtf8(decoded_, code);
  return true;
}

bool JsonCursor::hexDigits(std::uint32_t &code) {
  code = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = current(), lower = static_cast<char>(c | 0x20);
    if (isDigit(c))
      code = code * 16 + static_cast<std::uint32_t>(c - '0');
    else if (lower >= 'a' && lower <= 'f')
      code = code * 16 + static_cast<std::uint32_t>(lower - 'a' + 10);
    else
      return false;
  }
  return true;
}

std::size_t JsonCursor::skipDigits() {
  const std::size_t begin = at_;
  while (isDigit(current()))
    ++at_;
  return at_ - begin;
}

std::uint64_t JsonCursor::wholeNumber(NumberFault &fault) {
  const std::size_t begin = at_;
  fault = NumberFault::None;
  if (current() == '-') {
    fault = NumberFault::Negative;
    ++at_;
  }
  const std::size_t first = at_;
  if (skipDigits() == 0 || (text_[first] == '0' && at_ - first > 1)) {
    fail(begin, "a malformed number");
    return 0;
  }
  std::uint64_t value = 0;
  bool overflow = at_ - first > 20;
  for (std::size_t i = first; i < at_ && !overflow; ++i) {
    const auto digit = static_cast<std::uint64_t>(text_[i] - '0');
    overflow = value > (~std::uint64_t{0} - digit) / 10;
    value = value * 10 + digit;
  }
  bool fraction = false;
  if (current() == '.') {
    ++at_;
    fraction = true;
    if (skipDigits() == 0)
      fail(begin, "a malformed number");
  }
  if (current() == 'e' || current() == 'E') {
    ++at_;
    fraction = true;
    if (current() == '+' || current() == '-')
      ++at_;
    if (skipDigits() == 0)
      fail(begin, "a malformed number");
  }
  if (fault == NumberFault::None && (fraction || overflow))
    fault = fraction ? NumberFault::Fraction : NumberFault::TooLarge;
  return value;
}

bool JsonCursor::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word)
    return fail(at_, "expected a value");
  at_ += word.size();
  return true;
}

bool JsonCursor::boolean() {
  const bool value = current() == 't';
  return literal(value ? "true" : "false") && value;
}

void JsonCursor::skipValue() {
  std::bitset<maxDepth> inObject;
  unsigned depth = 0;
  std::string_view key;
  NumberFault fault;
  do {
    switch (const JsonKind kind = peek()) {
    case JsonKind::Object:
    case JsonKind::Array:
      if (depth == maxDepth) {
        fail(at_, "brackets are nested too deeply");
        return;
      }
      inObject[depth++] = kind == JsonKind::Object;
      enter();
      break;
    case JsonKind::String:
      string();
      break;
    case JsonKind::Number:
      wholeNumber(fault);
      break;
    case JsonKind::Boolean:
      boolean();
      break;
    case JsonKind::Null:
      literal("null");
      break;
    case JsonKind::Invalid:
      return;
    }
    while (depth != 0 && !(inObject[depth - 1] ? nextMember(key) : nextElement())) {
      if (failed())
        return;
      --depth;
    }
  } while (depth != 0);
}

bool JsonCursor::atEnd() {
  if (failed())
    return false;
  skipSpace();
  return at_ == text_.size() || fail(at_, "text behind the plan");
}

} // namespace mscclc::json
