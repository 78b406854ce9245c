// Functions of hooks: what they look like, and the loops that call them. An emitted kernel with hooks includes this
// file and the headers of their functions. The functions that come with the runtime are in hooks/.
//
// A function is the member `apply` of a class. The function of a hook of elements gets a value, in the type in which it
// is added up, and the index of its element in the rank's output. It returns the new value:
//
//   struct Scale {
//     template <class V> static MSCCLC_DEVICE V apply(V value, uint64_t index, const float *factor);
//   };
//
// The function of a hook of rows or blocks gets a Part. The threads of a team call the function together. Each thread
// has some elements of the part, always the same ones. It may read and write its elements as often as it wants.
// Part::combine() combines the elements of all threads. All threads must call it equally often.
//
//   struct AddRmsNorm {
//     template <class T, class Row>
//     static MSCCLC_DEVICE void apply(const Row &row, T *residual, const T *gamma, const float *epsilon);
//   };
//
// The other parameters are the hook's arrays: first those that it reads, and then those that it only writes. T is the
// type of the message's elements, and Row is a Part<T, …>.
//
// If a function computes only with add(), multiply(), divide(), squareRoot() and combine(), the bits of its results are
// always the same. They depend neither on the number of threads, nor on the addresses, nor on how a compiler contracts
// products and sums.
#pragma once

#include "mscclc/device.cuh"

namespace mscclc::device {

/// Returns a · b + c, rounded once.
MSCCLC_DEVICE float multiplyAdd(float a, float b, float c) {
  return fmaf(a, b, c);
}

/// Neighbouring elements that a thread takes at once: `count` elements, from element `first` of the part on. `count` is
/// 8, or less at the end of a part.
struct Octet {
  uint64_t first;
  unsigned count;
};
constexpr unsigned octetSize = 8;

/// The values of an octet. If it has fewer than 8 elements, the other values are 0.
struct Values {
  float at[octetSize];
};

// Ways to combine all elements of a part. step() includes an element in the result so far, and join() combines two
// results. Both begin with 0.

struct Total {
  static MSCCLC_DEVICE float step(float total, float v) { return add(total, v); }
  static MSCCLC_DEVICE float join(float a, float b) { return add(a, b); }
};
struct TotalOfSquares {
  static MSCCLC_DEVICE float step(float total, float v) { return multiplyAdd(v, v, total); }
  static MSCCLC_DEVICE float join(float a, float b) { return add(a, b); }
};
/// The largest absolute value; NaN if there is a NaN.
struct Amax {
  static MSCCLC_DEVICE float step(float most, float v) { return join(most, fabsf(v)); }
  static MSCCLC_DEVICE float join(float a, float b) { return b > a || b != b ? b : a; }
};

namespace detail {

/// The largest number of partial results of a part, and the number of them that one thread joins.
constexpr unsigned partials = 256, partialsJoined = 16;

/// The threads that work on one Part together. All teams of a block of threads have the same size.
struct Team {
  float *results;              ///< `width` partial results, in shared memory
  unsigned lane, lanes, width; ///< `lane`: number of this thread in the team
};

/// An octet of elements of T in memory, and the words in which it is moved.
template <class T> struct Moved {
  using Word = std::conditional_t<sizeof(T) == 1, Vec8, Vec16>;
  static constexpr unsigned words = octetSize * sizeof(T) / sizeof(Word);
  struct Elements {
    T e[octetSize];
  };
  struct Words {
    Word w[words];
  };
  static MSCCLC_DEVICE bool isWhole(const T *p, unsigned count) {
    return count == octetSize && reinterpret_cast<uint64_t>(p) % sizeof(Word) == 0;
  }
};

template <class T> MSCCLC_DEVICE Values widened(const typename Moved<T>::Elements &elements) {
  typename Number<T>::Sum wide[octetSize];
  Number<T>::widen(elements.e, wide);
  Values values;
  MSCCLC_UNROLL
  for (unsigned i = 0; i < octetSize; ++i)
    values.at[i] = static_cast<float>(wide[i]);
  return values;
}

/// Returns the first `count` elements of an octet at `p`, as floats.
template <class T> MSCCLC_DEVICE Values loadValues(const T *p, unsigned count) {
  typename Moved<T>::Elements in{};
  if (Moved<T>::isWhole(p, count)) {
    typename Moved<T>::Words words;
    MSCCLC_UNROLL
    for (unsigned i = 0; i < Moved<T>::words; ++i)
      words.w[i] = loadWord<typename Moved<T>::Word>(reinterpret_cast<const char *>(p), i);
    in = bitCast<typename Moved<T>::Elements>(words);
  } else {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < octetSize; ++i)
      if (i < count)
        in.e[i] = loadAs<T>(p + i);
  }
  return widened<T>(in);
}
/// Returns values rounded to elements of T.
template <class T> MSCCLC_DEVICE typename Moved<T>::Elements narrowed(const Values &values) {
  typename Moved<T>::Elements out;
  typename Number<T>::Sum wide[octetSize];
  MSCCLC_UNROLL
  for (unsigned i = 0; i < octetSize; ++i)
    wide[i] = static_cast<typename Number<T>::Sum>(values.at[i]);
  Number<T>::narrow(wide, out.e);
  return out;
}
/// Rounds values to elements of T, and stores the first `count`. Returns the rounded values.
template <class T> MSCCLC_DEVICE Values storeValues(T *p, unsigned count, const Values &values) {
  const auto out = narrowed<T>(values);
  if (Moved<T>::isWhole(p, count)) {
    const auto words = bitCast<typename Moved<T>::Words>(out);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < Moved<T>::words; ++i)
      storeWord(reinterpret_cast<char *>(p), i, words.w[i]);
  } else {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < octetSize; ++i)
      if (i < count)
        storeAs<T>(p + i, out.e[i]);
  }
  return widened<T>(out);
}

/// The `Source` of a Part whose elements are already in memory.
struct Stored {};

} // namespace detail

/// A row or a block of the message, to which a function is applied. Its elements are of type T. A team without work has
/// a part without elements. `Source` may make the elements in the function's first pass over the part, by forEach() or
/// combine(). Then source(octet) stores an octet of elements, and returns their values. It is also called for a part
/// without elements that has room for them.
template <class T, class Source = detail::Stored> class Part {
public:
  MSCCLC_DEVICE Part(T *data, uint64_t index, uint64_t size, bool isThere, const detail::Team &team,
                     bool hasRoom = false, const Source &source = {})
      : data_(data), index_(index), size_(size), isThere_(isThere), hasRoom_(hasRoom), team_(team), source_(source) {}
  Part(const Part &) = delete; // a copy would not know which elements are made

  /// Returns the number of this row or block in the rank's output.
  MSCCLC_DEVICE uint64_t index() const { return index_; }
  /// Returns the number of elements.
  MSCCLC_DEVICE uint64_t size() const { return size_; }
  /// True in exactly one thread, if the part has elements. That thread stores the values of which a part has only one.
  MSCCLC_DEVICE bool leads() const { return team_.lane == 0 && isThere_; }
  /// Returns the elements of `array` that belong to this part.
  template <class E> MSCCLC_DEVICE E *of(E *array) const { return array + index_ * size_; }

  /// Calls body(octet) for each octet of this thread. The body may load and store only elements of this octet.
  template <class Body> MSCCLC_DEVICE void forEach(Body body) const {
    for (unsigned i = team_.lane; i < team_.width; i += team_.lanes)
      forOctetsOf(i, body);
    isMade_ = true;
  }
  /// Makes the elements of a part if no pass has made them.
  MSCCLC_DEVICE void makeAll() const {
    if (!isMade_)
      forEach([](const Octet &) {});
  }

  /// Combines the values that body(octet) returns for each octet, by Total, TotalOfSquares or Amax. All threads get the
  /// result.
  ///
  /// There are up to 256 partial results. Partial result i takes the elements of octets i, i + 256, i + 512, … one by
  /// one. Then each 16 consecutive partial results are joined one by one, and then these 16 results.
  template <class How, class Body> MSCCLC_DEVICE float combine(Body body) const {
    constexpr unsigned joined = detail::partialsJoined;
    for (unsigned i = team_.lane; i < team_.width; i += team_.lanes) {
      float partial = 0;
      forOctetsOf(i, [&](const Octet &octet) {
        const Values values = body(octet);
        MSCCLC_UNROLL
        for (unsigned e = 0; e < octetSize; ++e)
          partial = e < octet.count ? How::step(partial, values.at[e]) : partial;
      });
      team_.results[i] = partial;
    }
    isMade_ = true;
    detail::syncBlock();
    const bool twice = team_.width > joined;
    if (twice) {
      for (unsigned i = team_.lane * joined; i < team_.width; i += team_.lanes * joined)
        team_.results[i] = join<How>(i, 1);
      detail::syncBlock();
    }
    const float result = twice ? join<How>(0, joined) : join<How>(0, 1);
    detail::syncBlock(); // before `results` is written again
    return result;
  }

  /// Return the values of this part's elements, or of an array's elements at the same place of a row.
  MSCCLC_DEVICE Values load(const Octet &octet) const { return isMade_ ? load(data_, octet) : made_; }
  template <class E> MSCCLC_DEVICE Values load(const E *row, const Octet &octet) const {
    return detail::loadValues(row + octet.first, octet.count);
  }
  /// Rounds values to the elements' type, and stores them. Returns the rounded values.
  MSCCLC_DEVICE Values store(const Octet &octet, const Values &values) const {
    return made_ = store(data_, octet, values);
  }
  template <class E> MSCCLC_DEVICE Values store(E *row, const Octet &octet, const Values &values) const {
    return detail::storeValues(row + octet.first, octet.count, values);
  }

private:
  template <class Body> MSCCLC_DEVICE void forOctetsOf(unsigned partial, Body body) const {
    const uint64_t end = isThere_ || (hasRoom_ && !isMade_) ? size_ : 0;
    for (uint64_t first = uint64_t{partial} * octetSize; first < end; first += detail::partials * octetSize) {
      const Octet octet{first, end - first < octetSize ? static_cast<unsigned>(end - first) : octetSize};
      if constexpr (isMaking)
        if (!isMade_)
          made_ = source_(octet);
      if (isThere_)
        body(octet);
    }
  }
  /// Joins up to 16 partial results.
  template <class How> MSCCLC_DEVICE float join(unsigned first, unsigned step) const {
    float all = 0;
    for (unsigned i = 0, at = first; i < detail::partialsJoined && at < team_.width; ++i, at += step)
      all = How::join(all, team_.results[at]);
    return all;
  }

  static constexpr bool isMaking = !std::is_same_v<Source, detail::Stored>;

  T *const data_;
  const uint64_t index_, size_;
  const bool isThere_, hasRoom_;
  const detail::Team &team_;
  const Source source_;
  mutable bool isMade_ = !isMaking; ///< true: all elements of this thread are in memory
  mutable Values made_{};           ///< until then: the values of the octet that body() has
};

// ------------------------------------------------------------------------------------------------------------ kernels

/// An array in the list of a hook. `Number` is its number in the kernel.
template <unsigned Number> struct Reads {
  static constexpr unsigned number = Number;
  static constexpr bool isWritten = false;
};
template <unsigned Number> struct Writes {
  static constexpr unsigned number = Number;
  static constexpr bool isWritten = true;
};

namespace detail {

/// An array as an argument: it converts to a pointer of the parameter's type.
template <bool IsWritten> struct ArrayArgument {
  void *at;
  template <class E> MSCCLC_DEVICE operator E *() const {
    static_assert(IsWritten || std::is_const_v<E>, "the hook does not say that the function writes this array");
    return static_cast<E *>(at);
  }
};
template <class Array, class K> MSCCLC_DEVICE ArrayArgument<Array::isWritten> argumentOf(const K &k) {
  return {k.parameters.arrays[Array::number]};
}

/// The common part of hooks of blocks and hooks of rows.
template <class Function, class... Arrays> struct PartHook {
  template <class K, class P> static MSCCLC_DEVICE void apply(const K &k, const P &part) {
    Function::template apply<typename K::Element>(part, argumentOf<Arrays>(k)...);
  }
};

} // namespace detail

/// Hooks as emitted kernels name them: the class of the function, and its arrays. bytes() returns the length of a block
/// or row.
template <class Function, class... Arrays> struct ElementHook {};
template <uint32_t Elements, class Function, class... Arrays> struct BlockHook : detail::PartHook<Function, Arrays...> {
  template <class K> static MSCCLC_DEVICE uint64_t bytes(const K &) { return Elements * sizeof(typename K::Element); }
};
template <class Function, class... Arrays> struct RowHook : detail::PartHook<Function, Arrays...> {
  template <class K> static MSCCLC_DEVICE uint64_t bytes(const K &k) { return k.args.row_bytes; }
};

namespace detail {

/// Returns the byte of the buffer at which byte `at` of a slice lies. The slice is of the chunks from `first` on.
/// Chunks of a message follow each other.
template <class K> MSCCLC_DEVICE uint64_t offsetIn(const K &k, const Slice &slice, uint32_t first, uint64_t at) {
  const uint64_t row = at / slice.nominal, inRow = at % slice.nominal;
  const uint32_t chunk = first + static_cast<uint32_t>(row);
  const uint64_t bytes = inRow == 0 ? 0 : k.layout.bytes(chunk);
  return k.layout.offset(chunk) + (inRow < bytes ? inRow : bytes);
}

/// The bytes of a slice: their address, their number, and their offset in the output.
struct Piece {
  char *data;
  uint64_t bytes, inOutput;
};
template <class K> MSCCLC_DEVICE Piece pieceOf(const K &k, const Slice &slice, const Rows &chunk, int inOutput) {
  const auto first = static_cast<uint32_t>(chunk.first);
  const uint64_t begin = offsetIn(k, slice, first, slice.begin), end = offsetIn(k, slice, first, slice.end);
  return {chunk.base + begin, end - begin, offsetIn(k, slice, static_cast<uint32_t>(inOutput), slice.begin)};
}

/// Divides the block's threads into teams, which take turns at `count` parts of `size` elements. Calls body(number,
/// isThere, team) equally often in all threads. For a team without work, `isThere` is false.
template <class K, class N, class Body> MSCCLC_DEVICE void forParts(const K &k, uint64_t size, N count, Body body) {
  const uint64_t octets = (size + octetSize - 1) / octetSize;
  const unsigned width = octets < partials ? static_cast<unsigned>(octets) : partials;
  const unsigned lanes = k.threads < width ? k.threads : width; // a launch may have few threads
  const unsigned teams = divideSmall(k.threads, lanes), number = divideSmall(k.thread, lanes);
  // A thread that is in no team has no partial results, but it takes part in block-wide syncs.
  const Team team{sharedResults() + number * width, number < teams ? k.thread - number * lanes : width, lanes, width};
  for (N i = 0; i < count; i += teams)
    body(i + number < count ? i + number : i, i + number < count, team);
}

/// Applies the function to the first `count` elements of T in a word, and returns the word. The other elements stay as
/// they are. `index`: the index of the word's first element in the output.
template <class Function, class T, class Word, class... Arguments>
MSCCLC_DEVICE Word appliedTo(const Word &word, uint64_t index, unsigned count, const Arguments &...arguments) {
  using V = typename Number<T>::Sum;
  constexpr unsigned elements = sizeof(Word) / sizeof(T);
  struct Elements {
    T e[elements];
  };
  auto some = bitCast<Elements>(word);
  V wide[elements];
  Number<T>::widen(some.e, wide);
  MSCCLC_UNROLL
  for (unsigned e = 0; e < elements; ++e)
    if (e < count)
      wide[e] = Function::template apply<V>(wide[e], index + e, arguments...);
  Number<T>::narrow(wide, some.e);
  return bitCast<Word>(some);
}

/// Applies the function to the words `first`, `first` + `lanes`, … of `data`, below `count`. `index`: the index of the
/// first element of `data` in the output.
template <class Function, class T, class Word, class... Arguments>
MSCCLC_DEVICE void applyToWords(char *data, uint64_t index, uint64_t first, uint64_t count, unsigned lanes,
                                const Arguments &...arguments) {
  constexpr unsigned elements = sizeof(Word) / sizeof(T);
  for (uint64_t i = first; i < count; i += lanes)
    storeWord(data, i, appliedTo<Function, T>(loadWord<Word>(data, i), index + i * elements, elements, arguments...));
}

/// A row of an operation's target. If the target is the first one, values pass through a hook of elements before they
/// are stored.
template <class K, class Hook> struct HookedRow {
  char *at;
  uint64_t index; ///< index of the row's first element in the output
  const K &k;
  bool isFirst;

  /// Applies the hook to word number `i` of the row if `isFirst`, and returns the word. `count`: see appliedTo().
  template <class Word> MSCCLC_DEVICE Word applied(const Word &word, uint64_t i, unsigned count) const {
    using T = typename K::Element;
    return isFirst ? apply(Hook{}, word, index + i * (sizeof(Word) / sizeof(T)), count) : word;
  }

private:
  template <class F, class... Arrays, class Word>
  MSCCLC_DEVICE Word apply(ElementHook<F, Arrays...>, const Word &word, uint64_t first, unsigned count) const {
    return appliedTo<F, typename K::Element>(word, first, count, argumentOf<Arrays>(k)...);
  }
};
template <class Word, class K, class Hook>
MSCCLC_DEVICE void storeWord(const HookedRow<K, Hook> &row, uint64_t i, const Word &v) {
  storeWord<Word>(row.at, i, row.applied(v, i, sizeof(Word) / sizeof(typename K::Element)));
}
template <class Payload, class T, class K, class Hook>
MSCCLC_DEVICE void storePayload(const PayloadRow<Payload, T> &plain, const HookedRow<K, Hook> &row, unsigned i,
                                const Payload &v) {
  plain.store(row.at, i, row.applied(v, i, plain.elements(i)));
}

/// A list of target chunks. Values for the first chunk pass through a hook of elements before they are stored.
template <class Hook, class L> struct Hooked {
  static constexpr unsigned size = L::size;
  L chunks;
  int inOutput;
  MSCCLC_DEVICE auto operator()(unsigned i) const { return chunks(i); }
};
template <class K, class Hook, class Rows> struct HookedRows {
  using Row = HookedRow<K, Hook>;
  Rows rows;
  uint64_t index;
  const K &k;
  MSCCLC_DEVICE Row operator()(unsigned i) const { return {rows(i), index, k, i == 0}; }
};
template <class K, class Hook, class L>
MSCCLC_DEVICE auto rowsOf(const K &k, const Hooked<Hook, L> &list, unsigned row) {
  const auto rows = rowsOf(k, list.chunks, row);
  const uint64_t at = k.layout.offset(static_cast<uint32_t>(list.inOutput) + row);
  return HookedRows<K, Hook, std::remove_const_t<decltype(rows)>>{rows, at / sizeof(typename K::Element), k};
}

template <class F, class... Arrays, class K>
MSCCLC_DEVICE void applyHook(ElementHook<F, Arrays...>, const K &k, const Piece &piece) {
  using T = typename K::Element;
  const uint64_t index = piece.inOutput / sizeof(T);
  const uint64_t words = reinterpret_cast<uint64_t>(piece.data) % 16 == 0 ? piece.bytes / 16 : 0;
  applyToWords<F, T, Vec16>(piece.data, index, k.thread, words, k.threads, argumentOf<Arrays>(k)...);
  applyToWords<F, T, T>(piece.data, index, words * 16 / sizeof(T) + k.thread, piece.bytes / sizeof(T), k.threads,
                        argumentOf<Arrays>(k)...);
}
template <class Hook, class K> MSCCLC_DEVICE void applyHook(Hook, const K &k, const Piece &piece) {
  using T = typename K::Element;
  const uint64_t bytes = Hook::bytes(k), first = piece.inOutput / bytes;
  forParts(k, bytes / sizeof(T), piece.bytes / bytes, [&](uint64_t i, bool isThere, const Team &team) {
    T *const data = reinterpret_cast<T *>(piece.data + i * bytes);
    Hook::apply(k, Part<T>(data, first + i, bytes / sizeof(T), isThere, team));
  });
}

/// A list of one target chunk. A hook is applied to its rows or blocks as they are made.
template <class Hook, class L> struct HookedParts {
  static constexpr unsigned size = L::size;
  L chunks;
  int inOutput;
};

template <class Hook, class L> struct HookedList {
  using Type = HookedParts<Hook, L>;
};
template <class F, class... Arrays, class L> struct HookedList<ElementHook<F, Arrays...>, L> {
  using Type = Hooked<ElementHook<F, Arrays...>, L>;
};

/// Does packetRows() for whole chunks, and applies a hook to each of their rows or blocks. In the function's first
/// pass, the threads of a team make the octets of a part (Part). So the octets are in registers during this pass, and
/// no sync is needed before it. If octets do not consist of whole payloads, or parts do not consist of whole octets,
/// all elements are made before the pass. They are made before it, too, if elements of 4 bytes come from several ranks:
/// for 8 ranks, a thread of a block of 512 threads would spill 120 bytes.
template <class Op, class K, class PS, class KS, class Hook, class L, class Place>
MSCCLC_DEVICE void packetRows(const K &k, uint32_t operation, const Slice &slice, const PS &plainSource,
                              const KS &packetSources, const HookedParts<Hook, L> &target, const None &, Place place) {
  using T = typename K::Element;
  using Payload = typename K::Packet::Payload;
  using C = Counts<PS::size, KS::size, 1, 0>;
  constexpr unsigned octetBytes = octetSize * sizeof(T), payloads = octetBytes / sizeof(Payload);
  static_assert(payloads <= polledTogether, "a thread polls an octet of one rank at once");
  const uint64_t bytes = Hook::bytes(k);
  // The packets of an empty message are shorter than a row.
  constexpr bool fits = payloads != 0 && (KS::size == 1 || sizeof(T) <= 2);
  const bool isFused = fits && k.wide && bytes % octetBytes == 0 && bytes <= slice.nominal;
  if (!isFused) {
    packetRows<Op>(k, operation, slice, plainSource, packetSources, target.chunks, None{}, place);
    syncBlock();
  }
  const PacketLaunch launch{k.args, operation, k.flag};
  const auto perRow = static_cast<unsigned>(slice.nominal / bytes);
  forParts(k, bytes / sizeof(T), slice.rows * perRow, [&](unsigned number, bool isMine, const Team &team) {
    const unsigned row = number / perRow;
    const uint64_t at = (number - row * perRow) * bytes;
    const PayloadRow<Payload, T> plain(clipRow(k, target.chunks, row, clipRow(k, plainSource, row, slice.nominal)),
                                       true);
    const auto from = rowsOf(k, plainSource, row);
    const auto packets = rowsAs<char *>(k, packetSources, row);
    const auto to = rowsOf(k, target.chunks, row);
    T *const data = reinterpret_cast<T *>(to(0) + at);
    const auto firstPayload = static_cast<unsigned>(at / sizeof(Payload));
    const auto make = [&](const Octet &octet) {
      if constexpr (fits) {
        const unsigned first = firstPayload + static_cast<unsigned>(octet.first / octetSize) * payloads;
        if (isFused)
          return widened<T>(
              bitCast<typename Moved<T>::Elements>(packetPayloads<payloads, T, T, Op, typename K::Packet, C>(
                  launch, place, from, packets, to, None{}, plain, first)));
      }
      return loadValues<T>(data + octet.first, octet.count);
    };
    const uint64_t inOutput = k.layout.offset(static_cast<uint32_t>(target.inOutput) + row) + at;
    // Packets fill the room of the longest chunk, and all of them must be read.
    const Part<T, decltype(make)> part(data, inOutput / bytes, bytes / sizeof(T), isMine && at < plain.bytes, team,
                                       isMine && isFused, make);
    Hook::apply(k, part);
    part.makeAll();
  });
}

} // namespace detail

/// Returns the list of an operation's targets with a hook: each value for the first target passes through the hook
/// before it is stored. The first target lies in the output, from chunk `inOutput` on. For a hook of blocks or rows,
/// the operation must read packets, and work on whole chunks.
template <class Hook, class L>
MSCCLC_DEVICE typename detail::HookedList<Hook, L>::Type hooked(const L &targets, int inOutput) {
  return {targets, inOutput};
}

/// Applies a hook to a slice of a chunk. The chunk lies in the output, from chunk `inOutput` on. All threads of the
/// block call this.
template <class Hook, class K, class C>
MSCCLC_DEVICE void apply(const K &k, const Slice &slice, const C &chunk, int inOutput) {
  if (slice.begin < slice.end)
    detail::applyHook(Hook{}, k, detail::pieceOf(k, slice, chunk(0), inOutput));
}

} // namespace mscclc::device
