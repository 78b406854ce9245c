#include "frontend/trace/note_text.h"

#include <algorithm>
#include <charconv>

namespace mscclc::frontend {

using detail::NoteArgument;

namespace {

constexpr std::string_view ellipsis = "…";

std::string_view nameOf(BufferType type) {
  switch (type) {
  case BufferType::Input:
    return "input";
  case BufferType::Output:
    return "output";
  case BufferType::Scratch:
    return "scratch";
  }
  return "buffer";
}

template <typename Element> std::span<const Element> elements(const NoteArgument &argument) {
  return {static_cast<const Element *>(argument.data), argument.size};
}

void check(const NoteArgument &argument, const Place *place, NoteText::Check check) {
  if (argument.kind == NoteArgument::Kind::Integer)
    check(static_cast<std::int64_t>(argument.integer.bits), place);
  for (std::size_t i = 0; i < argument.integers.size; ++i)
    check(argument.integers[i], place);
}

} // namespace

void NoteText::write(const detail::NoteFormat &format, std::span<const NoteArgument> arguments, Check check) {
  size_ = 0;
  numPlaces_ = 0;
  fault_ = NoteFault::None;
  std::string_view rest(format.text.data(), format.text.size());
  for (; writePlain(rest); ++numPlaces_)
    if (numPlaces_ < arguments.size()) {
      frontend::check(arguments[numPlaces_], &format.place, check);
      addArgument(arguments[numPlaces_]);
    }
  if (fault_ == NoteFault::None && numPlaces_ != arguments.size())
    fault_ = NoteFault::Count;
}

bool NoteText::writePlain(std::string_view &rest) {
  while (!rest.empty()) {
    const std::size_t plain = std::min(rest.find_first_of("{}"), rest.size());
    add(rest.substr(0, plain));
    rest.remove_prefix(plain);
    if (rest.empty())
      return false;
    const bool isPlace = rest.starts_with("{}");
    if (!isPlace && !rest.starts_with("{{") && !rest.starts_with("}}")) {
      size_ = 0;
      add(rest.substr(0, 1));
      fault_ = NoteFault::Brace;
      return false;
    }
    if (!isPlace)
      add(rest.substr(0, 1));
    rest.remove_prefix(2);
    if (isPlace)
      return true;
  }
  return false;
}

void NoteText::add(std::string_view text) {
  const std::size_t limit = text_.size() - ellipsis.size();
  if (isFull())
    return;
  const std::string_view fitting = text.substr(0, limit - size_);
  std::ranges::copy(fitting, text_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += fitting.size();
  if (fitting.size() == text.size())
    return;
  std::ranges::copy(ellipsis, text_.begin() + static_cast<std::ptrdiff_t>(limit));
  size_ = text_.size();
}

void NoteText::add(const detail::Integer &value) {
  std::array<char, 24> digits;
  const auto [end, _] = value.negative
                            ? std::to_chars(digits.begin(), digits.end(), static_cast<std::int64_t>(value.bits))
                            : std::to_chars(digits.begin(), digits.end(), value.bits);
  add(std::string_view(digits.begin(), end));
}

void NoteText::addNumber(double value) {
  std::array<char, 32> digits;
  add(std::string_view(digits.begin(), std::to_chars(digits.begin(), digits.end(), value).ptr));
}

void NoteText::add(const Rank &rank) {
  add("rank ");
  add(detail::Integer(rank.id()));
}

void NoteText::add(const Buffer &buffer) {
  if (buffer.rank() < 0)
    return add("no buffer");
  add(nameOf(buffer.type()));
  add(" of rank ");
  add(detail::Integer(buffer.rank()));
}

template <typename Chunks> void NoteText::addChunks(const Chunks &chunks) {
  if (chunks.size() == 0)
    return add("no chunk");
  add(nameOf(chunks.buffer()));
  add("[");
  add(detail::Integer(chunks.index()));
  if (chunks.size() != 1) {
    add(":");
    // If the ref is out of range, the sum may wrap around.
    add(detail::Integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(chunks.index()) +
                                                  static_cast<std::uint64_t>(chunks.size()))));
  }
  add("] of rank ");
  add(detail::Integer(chunks.rank()));
}

template <typename Element> void NoteText::addList(std::span<const Element> list) {
  add("[");
  for (const Element &element : list) {
    if (&element != list.data())
      add(", ");
    add(element);
    if (isFull())
      return;
  }
  add("]");
}

void NoteText::addArgument(const NoteArgument &argument) {
  switch (argument.kind) {
  case NoteArgument::Kind::Truth:
    return add(argument.integer.bits != 0 ? std::string_view("true") : "false");
  case NoteArgument::Kind::Letter: {
    const char letter = static_cast<char>(argument.integer.bits);
    return add(std::string_view(&letter, 1));
  }
  case NoteArgument::Kind::Integer:
    return add(argument.integer);
  case NoteArgument::Kind::Number:
    return addNumber(argument.number);
  case NoteArgument::Kind::Text:
    return add(std::string_view(static_cast<const char *>(argument.data), argument.size));
  case NoteArgument::Kind::Integers: {
    add("[");
    for (std::size_t i = 0; i < argument.integers.size && !isFull(); ++i) {
      add(i == 0 ? std::string_view() : ", ");
      add(detail::Integer(argument.integers[i]));
    }
    return add("]");
  }
  case NoteArgument::Kind::Chunk:
    return add(*static_cast<const Chunk *>(argument.data));
  case NoteArgument::Kind::Buffer:
    return add(*static_cast<const Buffer *>(argument.data));
  case NoteArgument::Kind::Rank:
    return add(*static_cast<const Rank *>(argument.data));
  case NoteArgument::Kind::Ref:
    return addChunks(*static_cast<const ChunkRef *>(argument.data));
  case NoteArgument::Kind::Chunks:
    return addList(elements<Chunk>(argument));
  case NoteArgument::Kind::Buffers:
    return addList(elements<Buffer>(argument));
  case NoteArgument::Kind::Ranks:
    return addList(elements<Rank>(argument));
  }
}

} // namespace mscclc::frontend
