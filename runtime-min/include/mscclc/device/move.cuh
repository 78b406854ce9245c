// Operations on plain chunks. Each keeps a value in registers from its first load to its last store. Where chunks begin
// at multiples of 16 bytes, a thread moves 16 bytes at a time, and single elements at the end of a row.
//
// In a short program everything is inlined. In a long program (Plan::outlined), the loops over a row are functions, so
// that the program does not become one huge function. There is one such function for each number of operands, and it
// takes the addresses of the rows.
#pragma once

namespace mscclc::device {
namespace detail {

/// The largest number of operands for which a loop is unrolled.
constexpr unsigned maxUnrolled = 8;
/// The largest number of operands whose row pointers are kept in registers. If there are more, the pointers are
/// computed at each use. In a kernel with inlined loops, 8 pointers would need more registers than sm_100 has for a
/// block of 512 threads.
template <class K> constexpr unsigned maxHeld = K::Outlined::value ? maxUnrolled : 6;
/// The largest number of rows whose addresses are passed to a function. More addresses would be passed through memory.
constexpr unsigned maxPassed = 9;
/// The number of loads that a thread of a Plan's kernel has in flight, if there is enough to load. In a block of 1,024
/// threads, a thread has 64 registers. From sm_100 on, they are enough for three loads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
template <class Plan> constexpr unsigned loadsInFlight = Plan::threads > 896 ? 3 : 4;
#else
template <class Plan> constexpr unsigned loadsInFlight = 4;
#endif

/// The addresses of N rows, in registers.
template <unsigned N, class R = char *> struct Pointers {
  using Row = R;
  R at[N];
  MSCCLC_DEVICE R operator()(unsigned i) const { return at[i]; }
};
template <class R> struct Pointers<0, R> {
  using Row = R;
};

/// Returns the same rows. Makes the compiler compute their addresses here, and not again at each use.
template <unsigned N> MSCCLC_DEVICE Pointers<N> apartRows(Pointers<N> rows) {
  MSCCLC_UNROLL
  for (unsigned i = 0; i < N; ++i)
    rows.at[i] = apart(rows.at[i]);
  return rows;
}
MSCCLC_DEVICE Pointers<0> apartRows(const Pointers<0> &rows) {
  return rows;
}
template <class W> MSCCLC_DEVICE const W &apartRows(const W &rows) {
  return rows;
}

/// The addresses of a list's rows, computed at each use.
template <class K, class L, class R> struct Computed {
  using Row = R;
  const K &k;
  const L &chunks;
  unsigned row;
  MSCCLC_DEVICE R operator()(unsigned i) const { return addressOf<R>(k, chunks(i), row); }
};

/// Returns the addresses of row `row` of each operand in a list, as type R.
template <class R, class K, class L> MSCCLC_DEVICE auto rowsAs(const K &k, const L &chunks, unsigned row) {
  if constexpr (L::size == 0) {
    return Pointers<0, R>{};
  } else if constexpr (L::size <= maxHeld<K>) {
    Pointers<L::size, R> rows;
    MSCCLC_UNROLL
    for (unsigned i = 0; i < L::size; ++i)
      rows.at[i] = addressOf<R>(k, chunks(i), row);
    return rows;
  } else {
    return Computed<K, L, R>{k, chunks, row};
  }
}
template <class K, class L> MSCCLC_DEVICE auto rowsOf(const K &k, const L &chunks, unsigned row) {
  return rowsAs<RowAddress<K>>(k, chunks, row);
}

/// Returns `end`, or the end of the shortest row of these operands if that is less. Chunks may differ in length by a
/// unit, and slots in the number of their live rows.
template <class K, class L> MSCCLC_DEVICE uint64_t clipRow(const K &k, const L &chunks, unsigned row, uint64_t end) {
  if (k.layout.exact && !hasSlots<typename K::Plan>)
    return end;
  for (unsigned i = 0; i < L::size; ++i) {
    const uint64_t bytes = k.bytesOf(chunks(i), row);
    end = bytes < end ? bytes : end;
  }
  return end;
}

/// The rows of an operation's sources, and the rows of its targets.
template <class S, class D> struct RowsOfBoth {
  S from;
  D to;
};
/// Returns the addresses of row `row` of each operand, and shortens `end` as clipRow() does. For rows of slots, it
/// waits for the count of each row only once.
template <class K, class L> MSCCLC_DEVICE auto liveRowsOf(const K &k, const L &chunks, unsigned row, uint64_t &end) {
  Pointers<L::size> rows;
  MSCCLC_UNROLL
  for (unsigned i = 0; i < L::size; ++i) {
    const Rows chunk = chunks(i);
    const Extent extent = k.extentOf(chunk, row);
    rows.at[i] = chunk.base + extent.begin;
    end = extent.bytes < end ? extent.bytes : end;
  }
  return rows;
}
/// Returns rowsOf() of the sources and of the targets, and shortens `end` as clipRow() does. If rows hold slots,
/// targets come first, so that no addresses of sources are in registers while a target waits for a count. Sources
/// mostly need only the rank's own counts.
template <class K, class S, class D>
MSCCLC_DEVICE auto clippedRowsOf(const K &k, const S &sources, const D &targets, unsigned row, uint64_t &end) {
  if constexpr (hasSlots<typename K::Plan> && S::size <= maxHeld<K> && D::size <= maxHeld<K>) {
    const auto to = liveRowsOf(k, targets, row, end);
    const auto from = liveRowsOf(k, sources, row, end);
    return RowsOfBoth<Pointers<S::size>, Pointers<D::size>>{from, to};
  } else {
    end = clipRow(k, targets, row, clipRow(k, sources, row, end));
    const auto from = rowsOf(k, sources, row);
    const auto to = rowsOf(k, targets, row);
    return RowsOfBoth<std::remove_const_t<decltype(from)>, std::remove_const_t<decltype(to)>>{from, to};
  }
}

/// A thread's part of the bytes [begin, end) of a row: every `lanes`-th word, starting from word number `lane`. `wide`:
/// the rows begin at multiples of 16 bytes.
struct Span {
  uint64_t begin, end;
  unsigned lane, lanes;
  bool wide;
  MSCCLC_DEVICE bool inWords() const { return wide && begin % 16 == 0; }
};

/// The elements that this thread processes at the end of a row, after its last whole word. `done` is the end of the
/// whole words, in bytes. All elements of an incomplete word go to the thread that would process the whole word. So the
/// thread of an element does not depend on the end of the row.
struct Tail {
  uint64_t first;
  unsigned step;
};
template <class T> MSCCLC_DEVICE Tail tailOf(const Span &s, uint64_t done, uint64_t end) {
  if (!s.inWords())
    return {done / sizeof(T) + s.lane, s.lanes};
  const unsigned word = static_cast<unsigned>((done - s.begin) / 16);
  return {word % s.lanes == s.lane ? done / sizeof(T) : end / sizeof(T), 1};
}

template <class Word> MSCCLC_DEVICE Word loadWord(const char *p, uint64_t i) {
  return loadAs<Word>(p + i * sizeof(Word));
}
template <class Word> MSCCLC_DEVICE void storeWord(char *p, uint64_t i, const Word &v) {
  storeAs<Word>(p + i * sizeof(Word), v);
}

template <unsigned N, class W, class Word> MSCCLC_DEVICE void storeToAll(const W &target, uint64_t i, const Word &v) {
  MSCCLC_UNROLL_FEW
  for (unsigned d = 0; d < N; ++d)
    storeWord<Word>(target(d), i, v);
}

template <class T, class Op, class Word, unsigned N, class Place>
using AccumulatorFor =
    std::conditional_t<N == 1, Passing<Word>,
                       std::conditional_t<std::is_same_v<Place, AddedFirst>, Accumulator<T, Op, Word>,
                                          DelayedFirst<Accumulator<T, Op, Word>, Word>>>;

/// The part of a word that is added up at a time. It is the whole word if there is only one source, or if the word has
/// at most 4 bytes. Otherwise it has 4 bytes, or 8 bytes if an element has 8.
template <class T, class Word, unsigned N>
using PartOf =
    std::conditional_t<N == 1 || sizeof(Word) <= 4, Word, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;

/// Processes `Together` words, at positions `at`, `at` + `lanes`, …: reduces the sources, and stores the result to
/// every target. All loads of a batch of sources are in flight at once. `place`: the place of the first source in the
/// order of addition. If the first source is added after others, the sum is in the order of ranks, the same on all
/// ranks. Then loads begin behind the rank's own place in this order, so that ranks do not all read from one peer at
/// the same time. The loaded words wait in registers.
///
/// The parts of a word are added up one after another, so a thread holds the sum of only one part beside the words of a
/// batch. Sums of narrow floats take twice as many registers as their elements. With the sums of whole words, a thread
/// that has 80 registers would spill some of 8 words of bf16.
template <class T, class Op, class Word, unsigned InFlight, unsigned N, unsigned D, unsigned Together, class Place,
          class S, class W>
MSCCLC_DEVICE void reduceSome(Place place, const S &source, const W &target, uint64_t at, unsigned lanes) {
  constexpr bool staggers = std::is_same_v<Place, AddedAfter> && N <= maxUnrolled;
  constexpr unsigned wanted = N > maxUnrolled ? 2 * InFlight : InFlight, batch = staggers || N < wanted ? N : wanted;
  using Part = PartOf<T, Word, N>;
  constexpr unsigned parts = sizeof(Word) / sizeof(Part);
  struct Parts {
    Part at[parts];
  };
  AccumulatorFor<T, Op, Part, N, Place> acc[Together][parts];
  MSCCLC_UNROLL_FEW
  for (unsigned from = 0; from < N; from += batch) {
    Word in[batch][Together];
    const auto load = [&](unsigned i) {
      MSCCLC_UNROLL
      for (unsigned u = 0; u < Together; ++u)
        in[i][u] = loadWord<Word>(source(from + i), at + u * uint64_t{lanes});
    };
    if constexpr (staggers) {
      MSCCLC_UNROLL
      for (unsigned i = 0; i < N; ++i)
        if (i > place.others)
          load(i);
      MSCCLC_UNROLL
      for (unsigned i = 0; i < N; ++i)
        if (i <= place.others)
          load(i);
    } else {
      MSCCLC_UNROLL
      for (unsigned i = 0; i < batch; ++i)
        if (N % batch == 0 || from + i < N)
          load(i);
    }
    MSCCLC_UNROLL
    for (unsigned u = 0; u < Together; ++u) {
      MSCCLC_UNROLL
      for (unsigned p = 0; p < parts; ++p) {
        MSCCLC_UNROLL
        for (unsigned i = 0; i < batch; ++i) {
          if (N % batch == 0 || from + i < N) {
            const Part part = bitCast<Parts>(in[i][u]).at[p];
            if (from + i == 0)
              startSum(acc[u][p], place, part);
            else
              acc[u][p].add(part);
          }
        }
      }
    }
  }
  MSCCLC_UNROLL
  for (unsigned u = 0; u < Together; ++u) {
    Parts out;
    MSCCLC_UNROLL
    for (unsigned p = 0; p < parts; ++p)
      out.at[p] = acc[u][p].result();
    storeToAll<D>(target, at + u * uint64_t{lanes}, bitCast<Word>(out));
  }
}

/// Processes the words `first`, `first` + `lanes`, … below `count`.
template <class T, class Op, class Word, unsigned InFlight, unsigned N, unsigned D, class Place, class S, class W>
MSCCLC_DEVICE void reduceWords(Place place, const S &source, const W &target, uint64_t first, uint64_t count,
                               unsigned lanes) {
  constexpr unsigned together = N >= InFlight ? 1 : InFlight / N; // words that this thread processes at a time
  uint64_t at = first;
  if constexpr (together > 1) {
    const uint64_t step = uint64_t{lanes} * together;
    MSCCLC_NO_UNROLL
    for (; at + (step - lanes) < count; at += step) // without apart(), the loop would keep a pointer for each access
      reduceSome<T, Op, Word, InFlight, N, D, together>(place, source, target, apart(at), lanes);
  }
  MSCCLC_NO_UNROLL
  for (; at < count; at += lanes)
    reduceSome<T, Op, Word, InFlight, N, D, 1>(place, source, target, at, lanes);
}

/// Reduces the rows of N sources, and stores the result to the rows of D targets.
template <class T, class Op, unsigned InFlight, unsigned N, unsigned D, class Place, class S, class W>
MSCCLC_DEVICE void reduceRow(Place place, const S &from, const W &to, const Span &s) {
  using Long = InRegisters<typename S::Row, T, Vec16>;
  using Short = InRegisters<typename S::Row, T, T>;
  uint64_t done = s.begin;
  if (s.inWords()) {
    reduceWords<typename Long::Element, Op, typename Long::Type, InFlight, N, D>(place, from, to, s.begin / 16 + s.lane,
                                                                                 s.end / 16, s.lanes);
    done = s.end / 16 * 16 > s.begin ? s.end / 16 * 16 : s.begin;
  }
  if (done < s.end) {
    const Tail tail = tailOf<T>(s, done, s.end);
    reduceWords<typename Short::Element, Op, typename Short::Type, InFlight, N, D>(place, from, to, tail.first,
                                                                                   s.end / sizeof(T), tail.step);
  }
}
template <class T, class Op, unsigned InFlight, unsigned N, unsigned D, class Place, class R>
MSCCLC_OUTLINE void reduceRowOutlined(const Place place, const Pointers<N, R> from, const Pointers<D, R> to,
                                      const Span s) {
  reduceRow<T, Op, InFlight, N, D>(place, from, to, s);
}

/// The ends of N rows, in bytes.
template <unsigned N> struct Ends {
  uint64_t at[N];
};

/// Copies the row of source i to the row of target i, for each of N sources.
template <class T, unsigned N>
MSCCLC_DEVICE void copyRows(const Pointers<N> &from, const Pointers<N> &to, const Ends<N> &ends, const Span &s) {
  uint64_t words[N], most = 0;
  MSCCLC_UNROLL
  for (unsigned i = 0; i < N; ++i) {
    words[i] = s.inWords() ? ends.at[i] / 16 : 0;
    most = words[i] > most ? words[i] : most;
  }
  for (uint64_t at = s.begin / 16 + s.lane; at < most; at += s.lanes) {
    Vec16 in[N];
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; ++i)
      if (at < words[i])
        in[i] = load16(from(i) + at * 16);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < N; ++i)
      if (at < words[i])
        store16(to(i) + at * 16, in[i]);
  }
  MSCCLC_UNROLL
  for (unsigned i = 0; i < N; ++i) {
    const uint64_t done = words[i] * 16 > s.begin ? words[i] * 16 : s.begin;
    if (done >= ends.at[i])
      continue;
    const Tail tail = tailOf<T>(s, done, ends.at[i]);
    for (uint64_t at = tail.first; at < ends.at[i] / sizeof(T); at += tail.step)
      storeWord<T>(to(i), at, loadWord<T>(from(i), at));
  }
}
template <class T, unsigned N>
MSCCLC_OUTLINE void copyRowsOutlined(const Pointers<N> from, const Pointers<N> to, const Ends<N> ends, const Span s) {
  copyRows<T, N>(from, to, ends, s);
}

/// Copies N pairs of copyPairs(), from pair `first` on.
template <unsigned N, class K, class S, class D>
MSCCLC_DEVICE void copySomePairs(const K &k, const S &sources, const D &targets, unsigned first, unsigned row,
                                 const Span &s) {
  using T = typename K::Element;
  Pointers<N> from, to;
  Ends<N> ends;
  MSCCLC_UNROLL
  for (unsigned i = 0; i < N; ++i) {
    ends.at[i] = s.end;
    const auto rows = clippedRowsOf(k, one(sources(first + i)), one(targets(first + i)), row, ends.at[i]);
    from.at[i] = rows.from(0);
    to.at[i] = rows.to(0);
  }
  if constexpr (K::Outlined::value)
    copyRowsOutlined<T, N>(from, to, ends, s);
  else
    copyRows<T, N>(from, to, ends, s);
}

// wire.cuh
template <class Op, class K, class Place, class S, class D>
MSCCLC_DEVICE void reduceBlocks(const K &k, const Slice &slice, Place place, const S &sources, const D &targets);

template <class Op, class K, class Place, class S, class D>
MSCCLC_DEVICE void reduceRows(const K &k, const Slice &slice, Place place, const S &sources, const D &targets) {
  using T = typename K::Element;
  if constexpr (HasWire<typename K::Plan>::value)
    return reduceBlocks<Op>(k, slice, place, sources, targets);
  else {
    constexpr unsigned inFlight = loadsInFlight<typename K::Plan>;
    forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
      // Each unit of a pipeline computes its addresses again, because the addresses of many operations would take all
      // registers.
      const auto rows = clippedRowsOf(k, sources, targets, slice.whole ? row : apart(row), end);
      const auto &from = rows.from;
      const auto &to = rows.to;
      const Span span{begin, end, lane, lanes, k.wide};
      if constexpr (K::Outlined::value && S::size + D::size <= maxPassed &&
                    std::is_same_v<typename decltype(rows.from)::Row,
                                   typename decltype(rows.to)::Row>) // hooks are inlined
        reduceRowOutlined<T, Op, inFlight, S::size, D::size>(place, from, to, span);
      else
        reduceRow<T, Op, inFlight, S::size, D::size>(place, from, to, span);
    });
  }
}

} // namespace detail

template <class K, class L, class R> constexpr bool isComputed<detail::Computed<K, L, R>> = true;

/// Reduces all sources with Op, and stores the result to every target. With one source, this is a copy to every target.
template <class Op, class K, class S, class D>
MSCCLC_DEVICE void reduce(const K &k, const Slice &slice, const S &sources, const D &targets) {
  detail::reduceRows<Op>(k, slice, detail::AddedFirst{}, sources, targets);
}
/// Does the same as reduce(), but adds the first source after `others` of the other sources.
template <class Op, class K, class S, class D>
MSCCLC_DEVICE void reduceAfter(const K &k, const Slice &slice, unsigned others, const S &sources, const D &targets) {
  detail::reduceRows<Op>(k, slice, detail::AddedAfter{others}, sources, targets);
}

/// Copies one source to every target.
template <class K, class S, class D>
MSCCLC_DEVICE void copy(const K &k, const Slice &slice, const S &source, const D &targets) {
  static_assert(S::size == 1, "pairs of chunks are copyPairs");
  reduce<NoReduce>(k, slice, source, targets);
}

/// Copies source i to target i, for every i. The loads of several pairs are in flight together.
template <class K, class S, class D>
MSCCLC_DEVICE void copyPairs(const K &k, const Slice &slice, const S &sources, const D &targets) {
  static_assert(S::size == D::size, "as many sources as targets");
  constexpr unsigned inFlight = detail::loadsInFlight<typename K::Plan>,
                     batch = S::size < inFlight ? S::size : inFlight;
  if constexpr (K::spread != 1 || HasWire<typename K::Plan>::value) {
    for (unsigned i = 0; i < S::size; ++i)
      copy(k, slice, one(sources(i)), one(targets(i)));
  } else {
    detail::forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
      const detail::Span span{begin, end, lane, lanes, k.wide};
      MSCCLC_NO_UNROLL
      for (unsigned from = 0; from + batch <= S::size; from += batch)
        detail::copySomePairs<batch>(k, sources, targets, from, row, span);
      if constexpr (S::size % batch != 0)
        detail::copySomePairs<S::size % batch>(k, sources, targets, S::size / batch * batch, row, span);
    });
  }
}

} // namespace mscclc::device
