// Finds the place of nlohmann's parser in a text. The parser's SAX interface gives values without their places. But the
// parser takes bytes from an iterator, which counts them.
#pragma once

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace mscclc::json {

class TokenPlaces {
public:
  /// Parsing begins at byte `begin` of `text`. A value must begin there, or white space before a value.
  explicit TokenPlaces(std::string_view text, std::size_t begin = 0)
      : text_(text), reached_(text.data() + begin), previousEnd_(begin), end_(begin) {}

  /// Runs nlohmann's parser, which sends the events of a value to `events`. Every event must first call next(). Returns
  /// false if an event stopped the parser, or if the text is not JSON. `whole`: only white space may follow the value.
  template <typename Events> bool parse(Events &events, bool whole);

  /// Steps to the token that the parser has just read.
  void next() {
    previousEnd_ = end_;
    end_ = taken();
  }
  /// Returns the byte at which the current token begins. The token is a value or the name of a field. Only white space,
  /// ',' and ':' are between it and the token before. If the token before is a number, the parser has already taken one
  /// of these bytes.
  std::size_t here() const {
    const std::size_t at = text_.find_first_not_of(" \t\r\n,:", previousEnd_);
    return at == std::string_view::npos ? text_.size() : at;
  }
  std::size_t taken() const { return static_cast<std::size_t>(reached_ - text_.data()); }
  std::string_view text() const { return text_; }

private:
  /// Iterates over a text, and stores the place that it has reached.
  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    Iterator(const char *at, const char **reached) : at_(at), reached_(reached) {}
    reference operator*() const { return *at_; }
    Iterator &operator++() {
      *reached_ = ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator &a, const Iterator &b) { return a.at_ == b.at_; }

  private:
    const char *at_;
    const char **reached_;
  };

  std::string_view text_;
  const char *reached_;
  std::size_t previousEnd_, end_;
};

template <typename Events> bool TokenPlaces::parse(Events &events, bool whole) {
  constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";
  if (text_.substr(end_).starts_with(byteOrderMark)) // the parser skips this mark
    end_ += byteOrderMark.size();
  return nlohmann::json::sax_parse(Iterator(reached_, &reached_), Iterator(text_.data() + text_.size(), nullptr),
                                   &events, nlohmann::json::input_format_t::json, whole);
}

} // namespace mscclc::json
