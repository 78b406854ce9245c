// The text that note() prints. It is made inside the sandbox, in memory of fixed size, without allocation.
#pragma once

#include "frontend/trace/record_abi.h"
#include "frontend/trace/trace.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mscclc::frontend {

/// The text of a note. One object serves all notes, one after another.
class NoteText {
public:
  /// A function to call before an integer is printed. `place` is the place of the note.
  using Check = void (*)(std::int64_t value, const Place *place);

  /// Writes the text of a note over that of the previous note.
  void write(const detail::NoteFormat &format, std::span<const detail::NoteArgument> arguments, Check check);

  /// Returns the text; for NoteFault::Brace, only the wrong brace. A text that is too long ends in dots.
  std::string_view text() const { return {text_.data(), size_}; }
  NoteFault fault() const { return fault_; }
  /// Returns the number of places for arguments in the text.
  std::uint32_t numPlaces() const { return numPlaces_; }

private:
  /// Writes the text up to the next place for an argument, and removes both from `rest`. False if there is no such
  /// place.
  bool writePlain(std::string_view &rest);
  void addArgument(const detail::NoteArgument &argument);
  template <typename Element> void addList(std::span<const Element> list);
  void add(const Chunk &chunk) { addChunks(chunk); }
  /// Adds a Chunk or a ChunkRef.
  template <typename Chunks> void addChunks(const Chunks &chunks);
  void add(const Buffer &buffer);
  void add(const Rank &rank);
  void add(const detail::Integer &value);
  void add(std::string_view text);
  void addNumber(double value);
  bool isFull() const { return size_ == text_.size(); }

  std::array<char, 1 << 12> text_{};
  std::size_t size_ = 0;
  std::uint32_t numPlaces_ = 0;
  NoteFault fault_ = NoteFault::None;
};

} // namespace mscclc::frontend
