// Buffered writing of JSON text: fixed text as compile-time literals, numbers and strings by value.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string_view>

namespace mscclc::json {

/// A string literal as a template argument.
template <std::size_t N> struct FixedText {
  char data[N]{};
  consteval FixedText(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i)
      data[i] = text[i];
  }
};

namespace detail {
/// `Text` without its terminator and, if Compact, without spaces. Such text holds only punctuation and plain names.
template <FixedText Text, bool Compact> struct Literal {
  static consteval std::size_t length() {
    std::size_t n = 0;
    for (std::size_t i = 0; Text.data[i] != '\0'; ++i)
      n += !(Compact && Text.data[i] == ' ');
    return n;
  }
  static constexpr std::size_t size = length();
  struct Chars {
    char data[size + 1]{};
  };
  static consteval Chars strip() {
    Chars out;
    std::size_t n = 0;
    for (std::size_t i = 0; Text.data[i] != '\0'; ++i)
      if (!(Compact && Text.data[i] == ' '))
        out.data[n++] = Text.data[i];
    return out;
  }
  static constexpr Chars chars = strip();
};
} // namespace detail

/// Collects text in a buffer of fixed size and hands it to a stream. After a failure of the stream the rest is dropped.
class JsonOutput {
public:
  explicit JsonOutput(std::ostream &stream) : stream_(stream), buffer_(new char[capacity]) {}

  /// Writes fixed text; spaces in it are left out if Compact.
  template <FixedText Text, bool Compact> void literal() {
    using L = detail::Literal<Text, Compact>;
    static_assert(L::size < reserve);
    room();
    std::memcpy(buffer_.get() + used_, L::chars.data, L::size);
    used_ += L::size;
  }
  void character(char c) {
    room();
    buffer_[used_++] = c;
  }
  void number(std::uint64_t value) {
    room();
    used_ = static_cast<std::size_t>(std::to_chars(buffer_.get() + used_, buffer_.get() + capacity, value).ptr -
                                     buffer_.get());
  }
  /// Plain text of any length.
  void text(std::string_view piece) {
    if (piece.size() > reserve) {
      flush();
      stream_.write(piece.data(), static_cast<std::streamsize>(piece.size()));
      return;
    }
    room();
    std::memcpy(buffer_.get() + used_, piece.data(), piece.size());
    used_ += piece.size();
  }
  /// A JSON string: quoted and escaped. UTF-8 passes through; each byte that is not UTF-8 becomes U+FFFD.
  void string(std::string_view value);
  void flush() {
    stream_.write(buffer_.get(), static_cast<std::streamsize>(used_));
    used_ = 0;
  }
  bool failed() const { return stream_.fail(); }

private:
  static constexpr std::size_t capacity = 1 << 16;
  static constexpr std::size_t reserve = 128; ///< room that every single piece may count on

  void room() {
    if (capacity - used_ < reserve) [[unlikely]]
      flush();
  }

  std::ostream &stream_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
};

} // namespace mscclc::json
