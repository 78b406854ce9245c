// Internal to the text form: a cursor in lines of text, and errors with places in this text.
#pragma once

#include "ir/diagnostics.h"

#include <cstring>
#include <initializer_list>

namespace mscclc::ir {

/// Walks text line by line, and within a line token by token. It skips blanks and `//` comments. A token is within one
/// line. The `accept` functions return whether the token was there, and step past it. The `expect` functions report an
/// error if it was not. After an error the caller continues with the next line.
class TextCursor {
public:
  TextCursor(std::string_view text, std::string_view filename, DiagnosticEngine &diagnostics)
      : text_(text), filename_(filename), diagnostics_(diagnostics), at_(text.data()), lineBegin_(at_), lineEnd_(at_),
        end_(at_ + text.size()) {}

  /// Goes to the next line that holds a token. Returns false at the end of the text, or after too many errors.
  bool nextLine();
  bool atLineEnd();
  /// True if the last character of the line, except blanks, is '{'.
  bool lineOpensBody() const;

  bool accept(char c) {
    skipBlanks();
    if (at_ == lineEnd_ || *at_ != c)
      return false;
    ++at_;
    return true;
  }
  bool at(char c) {
    skipBlanks();
    return at_ != lineEnd_ && *at_ == c;
  }
  bool expect(char c) { return accept(c) || expected(std::string{'\'', c, '\''}); }
  /// Accepts `word` if the next token is this whole word.
  bool accept(std::string_view word) {
    if (!startsWith(word) || (at_ + word.size() != lineEnd_ && continuesWord(at_[word.size()])))
      return false;
    at_ += word.size();
    return true;
  }
  bool expect(std::string_view word) { return accept(word) || expected('\'' + std::string(word) + '\''); }
  /// Accepts `text` even if letters or digits follow directly ("remote" of "remote0").
  bool acceptPrefix(std::string_view text) {
    if (!startsWith(text))
      return false;
    at_ += text.size();
    return true;
  }
  bool expectLineEnd() { return atLineEnd() || expected("end of line"); }

  /// Returns the next word ([A-Za-z_][A-Za-z0-9_]*) and steps past it. Returns an empty text if there is none.
  std::string_view word();
  /// True if the next token begins with a digit.
  bool atNumber();
  /// Reads a decimal number into `value`. It may be at most `most`.
  bool expectNumber(std::uint64_t &value, std::uint64_t most, std::string_view what);
  bool expectNumber(std::uint32_t &value, std::string_view what);
  /// Reads a string in double quotes and stores it unescaped in `value`.
  bool expectString(std::string &value);

  /// The place of the next token, for errors that are reported later. Lines count from 1.
  struct Position {
    const char *at = nullptr;
    const char *lineBegin = nullptr;
    std::uint32_t line = 0;
  };
  Position here() {
    skipBlanks();
    return {at_, lineBegin_, line_};
  }
  /// Goes back to a position on the current line.
  void back(const Position &position) { at_ = position.at; }
  std::uint32_t line() const { return line_; }

  /// Reports an error. Always returns false, for `return error(…)`.
  bool error(const DiagInfo &info, const Position &position, std::initializer_list<DiagArg> args,
             const DiagInfo *note = nullptr, const Position *notePosition = nullptr);
  bool expected(std::string_view what);
  /// Returns a place of this text as diagnostics show it; `column` counts bytes from 1.
  ShownPlace show(const Position &position) const;
  /// Returns the place of the first token of line `line`, as diagnostics show it.
  ShownPlace showLine(std::uint32_t line) const;
  std::size_t numErrors() const { return numErrors_; }
  bool tooManyErrors() const { return numErrors_ >= maxErrors; }

private:
  static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
  static bool isDigit(char c) { return c >= '0' && c <= '9'; }
  static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool continuesWord(char c) { return isLetter(c) || isDigit(c); }
  void skipBlanks() {
    while (at_ != lineEnd_ && isBlank(*at_))
      ++at_;
    if (lineEnd_ - at_ >= 2 && at_[0] == '/' && at_[1] == '/')
      at_ = lineEnd_;
  }
  bool startsWith(std::string_view text) {
    skipBlanks();
    return at_ != lineEnd_ && *at_ == text[0] && static_cast<std::size_t>(lineEnd_ - at_) >= text.size() &&
           std::memcmp(at_, text.data(), text.size()) == 0;
  }
  std::string describeNext();

  static constexpr std::size_t maxErrors = 20;

  std::string_view text_;
  std::string_view filename_;
  DiagnosticEngine &diagnostics_;
  const char *at_, *lineBegin_, *lineEnd_, *end_;
  std::uint32_t line_ = 0;
  std::size_t numErrors_ = 0;
};

} // namespace mscclc::ir
