// Writes JSON text piece by piece. The items of a list or an object are on one line, or each on a line of its own.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

namespace mscclc::json {

/// Collects text in a buffer of fixed size and sends it to a stream. After the stream has failed, the rest is dropped.
class JsonOutput {
public:
  enum class Items : bool { OnOneLine, OnLines };

  /// `compact`: without line breaks and spaces.
  JsonOutput(std::ostream &stream, bool compact) : stream_(stream), compact_(compact), buffer_(new char[capacity]) {}

  void beginObject(Items items) { begin('{', '}', items); }
  void beginList(Items items) { begin('[', ']', items); }
  /// Ends the innermost object or list.
  void end();
  /// Writes the field name of the next value. Names and words are short and need no escapes.
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
  /// Writes any text. Bytes that are not UTF-8 become U+FFFD.
  void string(std::string_view value);
  /// Ends the text and writes it to the stream.
  void finish();
  void flush();
  bool failed() const { return stream_.fail(); }

private:
  static constexpr std::size_t capacity = 1 << 16;
  static constexpr std::size_t reserve = 128; ///< every piece of text may rely on this room in the buffer

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
  /// Writes the text before a value. After a key, this is empty.
  void beginValue() {
    if (!afterKey_ && !open_.empty())
      item();
    afterKey_ = false;
  }
  /// Writes the text before an item of the innermost object or list.
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
  /// Writes text of up to `reserve` bytes.
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
  std::size_t depth_ = 0; ///< number of open objects and lists that have each item on its own line
  bool afterKey_ = false;
};

} // namespace mscclc::json
