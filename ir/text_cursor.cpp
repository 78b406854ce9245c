#include "ir/text_cursor.h"

#include "ir/ir_diagnostics.h"

#include <cstring>
#include <limits>

namespace mscclc::ir {

namespace {

int hexValue(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

} // namespace

bool TextCursor::nextLine() {
  if (tooManyErrors())
    return false;
  do {
    if (line_ != 0) {
      if (lineEnd_ == end_) {
        at_ = end_;
        return false;
      }
      lineBegin_ = lineEnd_ + 1;
    }
    ++line_;
    const auto left = static_cast<std::size_t>(end_ - lineBegin_);
    const void *newline = left == 0 ? nullptr : std::memchr(lineBegin_, '\n', left);
    lineEnd_ = newline ? static_cast<const char *>(newline) : end_;
    at_ = lineBegin_;
  } while (atLineEnd());
  return true;
}

bool TextCursor::atLineEnd() {
  skipBlanks();
  return at_ == lineEnd_;
}

bool TextCursor::lineOpensBody() const {
  const char *last = lineEnd_;
  while (last != lineBegin_ && isBlank(last[-1]))
    --last;
  return last != lineBegin_ && last[-1] == '{';
}

std::string_view TextCursor::word() {
  skipBlanks();
  const char *begin = at_;
  if (at_ != lineEnd_ && isLetter(*at_))
    while (at_ != lineEnd_ && continuesWord(*at_))
      ++at_;
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

bool TextCursor::atNumber() {
  skipBlanks();
  return at_ != lineEnd_ && isDigit(*at_);
}

bool TextCursor::expectNumber(std::uint64_t &value, std::uint64_t most, std::string_view what) {
  if (!atNumber())
    return expected(what);
  const Position position = here();
  std::uint64_t result = 0;
  bool fits = true; // true if the number fits in 64 bits
  for (; at_ != lineEnd_ && isDigit(*at_); ++at_) {
    const auto digit = static_cast<std::uint64_t>(*at_ - '0');
    fits = fits && result <= (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    result = result * 10 + digit;
  }
  if (!fits || result > most)
    return error(diag::ir_number_too_large, position, {what, most});
  if (at_ != lineEnd_ && isLetter(*at_)) {
    at_ = position.at;
    return expected(what);
  }
  value = result;
  return true;
}

bool TextCursor::expectNumber(std::uint32_t &value, std::string_view what) {
  std::uint64_t wide = 0;
  if (!expectNumber(wide, std::numeric_limits<std::uint32_t>::max(), what))
    return false;
  value = static_cast<std::uint32_t>(wide);
  return true;
}

bool TextCursor::expectString(std::string &value) {
  skipBlanks();
  const Position begin = here();
  if (at_ == lineEnd_ || *at_ != '"')
    return expected("a string in double quotes");
  value.clear();
  for (++at_; at_ != lineEnd_ && *at_ != '"'; ++at_) {
    if (*at_ != '\\') {
      value += *at_;
      continue;
    }
    const Position escape{at_, lineBegin_, line_};
    ++at_;
    const char c = at_ == lineEnd_ ? '\0' : *at_;
    if (c == '"' || c == '\\') {
      value += c;
    } else if (c == 'n') {
      value += '\n';
    } else if (c == 't') {
      value += '\t';
    } else if (c == 'x' && lineEnd_ - at_ > 2 && hexValue(at_[1]) >= 0 && hexValue(at_[2]) >= 0) {
      value += static_cast<char>(hexValue(at_[1]) * 16 + hexValue(at_[2]));
      at_ += 2;
    } else {
      return error(diag::ir_bad_escape, escape, {});
    }
  }
  if (at_ == lineEnd_)
    return error(diag::ir_unterminated_string, begin, {});
  ++at_;
  return true;
}

std::string TextCursor::describeNext() {
  skipBlanks();
  if (at_ == lineEnd_)
    return at_ == end_ && lineBegin_ == end_ ? "end of file" : "end of line";
  const char *last = at_;
  while (last != lineEnd_ && continuesWord(*last))
    ++last;
  const auto c = static_cast<unsigned char>(*at_);
  if (last == at_ && (c < 0x20 || c >= 0x7f)) {
    constexpr std::string_view hex = "0123456789abcdef";
    return {'b', 'y', 't', 'e', ' ', '0', 'x', hex[c >> 4], hex[c & 15]};
  }
  constexpr std::ptrdiff_t longest = 40;
  if (last - at_ > longest)
    return '\'' + std::string(at_, longest) + "...'";
  return '\'' + std::string(at_, last == at_ ? at_ + 1 : last) + '\'';
}

bool TextCursor::expected(std::string_view what) {
  std::string found = describeNext(); // describeNext() also moves to the next token
  return error(diag::ir_expected, here(), {what, found});
}

bool TextCursor::error(const DiagInfo &info, const Position &position, std::initializer_list<DiagArg> args,
                       const DiagInfo *note, const Position *notePosition) {
  if (tooManyErrors())
    return false;
  const auto make = [&](const DiagInfo &kind, const Position &place) {
    Diagnostic d;
    d.severity = kind.severity;
    d.id = kind.id;
    d.message = formatDiag(kind.format, args);
    d.place = show(place);
    return d;
  };
  Diagnostic d = make(info, position);
  if (note)
    d.notes.push_back(make(*note, *notePosition));
  diagnostics_.add(std::move(d));
  if (++numErrors_ == maxErrors)
    diagnostics_.add(make(diag::ir_too_many_errors, position));
  return false;
}

ShownPlace TextCursor::show(const Position &position) const {
  // A long excerpt would hide the message, so only the beginning of a long line is shown.
  constexpr std::size_t longest = 240;
  ShownPlace shown;
  shown.file = filename_;
  shown.line = position.line;
  const auto column = static_cast<std::size_t>(position.at - position.lineBegin);
  shown.column = static_cast<std::uint32_t>(column + 1);
  if (column < longest) {
    std::string_view line(position.lineBegin, std::min(longest, static_cast<std::size_t>(end_ - position.lineBegin)));
    line = line.substr(0, line.find('\n'));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    shown.excerpt = printable(line, "\t");
  }
  return shown;
}

ShownPlace TextCursor::showLine(std::uint32_t line) const {
  const char *at = text_.data();
  for (std::uint32_t l = 1; l < line; ++l)
    at = static_cast<const char *>(std::memchr(at, '\n', static_cast<std::size_t>(end_ - at))) + 1;
  Position position{at, at, line};
  while (position.at != end_ && isBlank(*position.at))
    ++position.at;
  return show(position);
}

} // namespace mscclc::ir
