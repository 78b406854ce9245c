// note(): prints text for the author of an algorithm.
#ifndef MSCCLC_NOTE_HPP
#define MSCCLC_NOTE_HPP

#include "rank.hpp"

namespace mscclc {

class ChunkRef;

namespace detail {
/// The text of a note and its place. The literal carries the place, because no parameter can follow a pack of
/// arguments.
struct NoteFormat {
  NoteFormat(const char *given, Place at = Place::here()) : text(given), place(at) {}
  template <typename T>
    requires requires(const T &t) { Text(t); }
  NoteFormat(const T &given, Place at = Place::here()) : text(given), place(at) {}

  Text text;
  Place place;
};

/// A value that a note prints. It refers to its argument, so it is valid only during the call.
struct NoteArgument {
  enum class Kind : std::uint8_t {
    Truth,    ///< `integer`, 0 or 1
    Letter,   ///< `integer`
    Integer,  ///< `integer`
    Number,   ///< `number`
    Text,     ///< `size` characters at `data`
    Integers, ///< `integers`
    Chunk,    ///< one Chunk at `data`; likewise for Buffer, Rank and Ref
    Buffer,
    Rank,
    Ref,
    Chunks, ///< `size` Chunks at `data`; likewise for Buffers and Ranks
    Buffers,
    Ranks,
  };

  template <typename T>
    requires __is_same
  (T, bool) NoteArgument(const T &v) : kind(Kind::Truth), integer(v) {}
  template <typename T>
    requires __is_same
  (T, char) NoteArgument(const T &v) : kind(Kind::Letter), integer(v) {}
  template <typename T>
    requires(!__is_same(T, bool) && !__is_same(T, char) && requires(const T &t) { detail::Integer(t); })
  NoteArgument(const T &v) : kind(Kind::Integer), integer(v) {}
  NoteArgument(const double &v) : kind(Kind::Number), number(v) {}
  NoteArgument(const float &v) : kind(Kind::Number), number(v) {}
  template <typename T>
    requires requires(const T &t) { detail::Text(t); }
  NoteArgument(const T &v) : NoteArgument(detail::Text(v)) {}
  NoteArgument(const detail::Text &v) : kind(Kind::Text), data(v.data()), size(v.size()) {}
  NoteArgument(const ThreadBlock &v) : kind(Kind::Integer), integer(v.id) {}
  NoteArgument(const mscclc::Chunk &v) : kind(Kind::Chunk), data(&v) {}
  NoteArgument(const mscclc::Buffer &v) : kind(Kind::Buffer), data(&v) {}
  NoteArgument(const mscclc::Rank &v) : kind(Kind::Rank), data(&v) {}
  NoteArgument(const mscclc::ChunkRef &v) : kind(Kind::Ref), data(&v) {}
  template <typename T>
    requires requires(const T &t) { IntegerList(t); }
  NoteArgument(const T &v) : kind(Kind::Integers), integers(IntegerList(v).array()) {}
  template <typename T>
    requires requires(const T &t) { ElementList<mscclc::Chunk>(t); } && (!__is_same(T, mscclc::Chunk))
  NoteArgument(const T &v) : NoteArgument(Kind::Chunks, ElementList<mscclc::Chunk>(v)) {}
  template <typename T>
    requires requires(const T &t) { ElementList<mscclc::Buffer>(t); } && (!__is_same(T, mscclc::Buffer))
  NoteArgument(const T &v) : NoteArgument(Kind::Buffers, ElementList<mscclc::Buffer>(v)) {}
  template <typename T>
    requires requires(const T &t) { ElementList<mscclc::Rank>(t); } && (!__is_same(T, mscclc::Rank))
  NoteArgument(const T &v) : NoteArgument(Kind::Ranks, ElementList<mscclc::Rank>(v)) {}

  Kind kind;
  detail::Integer integer = {};
  double number = 0;
  const void *data = nullptr;
  std::size_t size = 0;
  IntegerArray integers = {};

private:
  template <typename List>
  NoteArgument(Kind listKind, const List &list) : kind(listKind), data(list.data()), size(list.size()) {}
};

template <typename T>
concept Printable = requires(const T &t) { NoteArgument(t); };
} // namespace detail

/// Prints `format` as a note at this line while the algorithm is compiled, with one argument in place of each `{}`:
/// integers, floating-point numbers, bool, text, chunks, refs, buffers, ranks, thread blocks, and ranges of integers,
/// chunks, buffers or ranks. `{{` and `}}` print one brace. The program does not change. A library that takes a Place
/// writes `note({"…", at}, …)`. Python: print.
template <typename... T> void note(detail::NoteFormat format, const T &...arguments) {
  constexpr bool allPrintable = (detail::Printable<T> && ...);
  static_assert(allPrintable, "note() prints numbers, bool, text, chunks, refs, buffers, ranks, thread blocks, and "
                              "ranges of integers, chunks, buffers or ranks");
  if constexpr (allPrintable) {
    const detail::NoteArgument list[sizeof...(T) + 1] = {detail::NoteArgument(arguments)..., detail::NoteArgument(0)};
    detail::__mscclc_note(&format, list, sizeof...(T));
  }
}

} // namespace mscclc

#endif // MSCCLC_NOTE_HPP
