// Reads JSON text from front to back, value by value, without building a document.
//
// A pull reader of our own because a plan's reader needs the place of every value and the fields of an object in the
// order of its schema, at the speed of the disk. It is strict RFC 8259; after a syntax error every call says "no more".
// Memory does not grow with the text, and nesting of skipped values is bounded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mscclc::json {

enum class JsonKind : std::uint8_t { Invalid, Object, Array, String, Number, Boolean, Null };

enum class NumberFault : std::uint8_t { None, Negative, Fraction, TooLarge };

class JsonCursor {
public:
  /// Reads `text`, which must outlive the cursor. A leading UTF-8 byte order mark is skipped.
  explicit JsonCursor(std::string_view text);

  bool failed() const { return !error_.empty(); }
  /// What is wrong with the text, and at which byte.
  std::string_view error() const { return error_; }
  std::size_t errorOffset() const { return errorOffset_; }
  /// Makes every later call say "no more", as a syntax error would.
  void stop() { fail(at_, "stopped"); }

  /// Kind of the value that comes next; Invalid after an error.
  JsonKind peek();
  /// Byte at which the next value, or after nextMember the key, begins.
  std::size_t offset() const { return at_; }
  std::size_t keyOffset() const { return keyOffset_; }

  /// Each of these consumes the value of the kind that peek() named.
  void enterObject() { enter(); }
  void enterArray() { enter(); }
  /// Goes to the next member's value and sets `key`, which holds until the next string is read. False at the end.
  bool nextMember(std::string_view &key);
  bool nextElement();
  std::string_view string(); ///< decoded; holds until the next string is read
  std::uint64_t wholeNumber(NumberFault &fault);
  bool boolean();
  void skipValue();

  /// True if nothing but white space is left; otherwise a syntax error.
  bool atEnd();

  static constexpr unsigned maxDepth = 512; ///< of a value that is skipped

private:
  char current() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skipSpace() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ' && isSpace(text_[at_]))
      ++at_;
  }
  static constexpr bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void enter() {
    ++at_;
    fresh_ = true;
  }
  bool nextItem(char close);
  bool fail(std::size_t offset, std::string_view message);
  bool failHere(std::string_view expected);
  bool literal(std::string_view word);
  std::size_t skipDigits();
  bool decodeEscape();
  bool hexDigits(std::uint32_t &code);
  std::string_view decodeRest(std::size_t begin);

  std::string_view text_;
  std::size_t at_ = 0, keyOffset_ = 0, errorOffset_ = 0;
  bool fresh_ = false; ///< just behind an opening bracket
  std::string_view error_;
  std::string decoded_;
};

} // namespace mscclc::json
