// Writes JSON text as it goes: lists and objects on one line, or each of their items on a line of its own.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

namespace mscclc::json {

/// Collects text in a buffer of fixed size and hands it to a stream. After a failure of the stream the rest is dropped.
class JsonOutput {
public:
  enum class Items : bool { OnOneLine, OnLines };

  /// `compact`: without line breaks and spaces.
  JsonOutput(std::ostream &stream, bool compact) : stream_(stream), compact_(compact), buffer_(new char[capacity]) {}

  void beginObject(Items items) { begin('{', '}', items); }
  void beginList(Items items) { begin('[', ']', items); }
  /// Ends the innermost object or list.
  void end();
  /// The field that the next value is of. Names and words hold nothing that is escaped, and are short.
  void key(std::string_view name) {
    item();
    quoted(name);
    character(':');
    if (!compact_)
      character(' ');
    afterKey_ = true;
  }
  void word(std::string_view value) {
    beginValue();
    quoted(value);
  }
  void word(char value) { word({&value, 1}); }
  void number(std::uint64_t value) {
    beginValue();
    room();
    used_ = static_cast<std::size_t>(std::to_chars(buffer_.get() + used_, buffer_.get() + capacity, value).ptr -
                                     buffer_.get());
  }
  void boolean(bool value) {
    beginValue();
    raw(value ? "true" : "false");
  }
  /// Any text. Bytes of it that are not UTF-8 become U+FFFD.
  void string(std::string_view value);
  /// Ends the text, which is written then.
  void finish();
  void flush();
  bool failed() const { return stream_.fail(); }

private:
  static constexpr std::size_t capacity = 1 << 16;
  static constexpr std::size_t reserve = 128; ///< room that every single piece may count on

  struct Container {
    char close;
    Items items;
    bool empty = true;
  };

  void begin(char open, char close, Items items) {
    beginValue();
    character(open);
    open_.push_back({close, items});
    depth_ += items == Items::OnLines;
  }
  /// What comes before a value; after its key nothing.
  void beginValue() {
    if (!afterKey_ && !open_.empty())
      item();
    afterKey_ = false;
  }
  /// What comes before an item of the innermost object or list.
  void item() {
    Container &inner = open_.back();
    if (!inner.empty)
      character(',');
    if (inner.items == Items::OnLines)
      line();
    else if (!inner.empty && !compact_)
      character(' ');
    inner.empty = false;
  }
  void line();
  void quoted(std::string_view text) {
    character('"');
    raw(text);
    character('"');
  }
  void character(char c) {
    room();
    buffer_[used_++] = c;
  }
  /// Text of up to `reserve` bytes.
  void raw(std::string_view text) {
    room();
    std::memcpy(buffer_.get() + used_, text.data(), text.size());
    used_ += text.size();
  }
  void room() {
    if (capacity - used_ < reserve) [[unlikely]]
      flush();
  }

  std::ostream &stream_;
  const bool compact_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;
  std::vector<Container> open_;
  std::size_t depth_ = 0; ///< how many of the open ones have their items on lines
  bool afterKey_ = false;
};

} // namespace mscclc::json
