// Operations on plain chunks. Every one keeps a value in registers from its first load to its last store, moves 16
// bytes a thread where chunks begin at multiples of 16, and ends with single elements where a length is none. They are
// not inlined: operations of one shape share their code, and a long program does not become one huge function.
#pragma once

namespace mscclc {
namespace dev {

/// Operands whose row pointers are kept in registers; beyond that they are computed at each use.
constexpr unsigned maxHeld = 8;
/// Loads in flight in a thread, at least where there is enough to load.
constexpr unsigned loadsInFlight = 4;

/// Row pointers of a list of chunks.
template <class K, class L, bool Held = (L::size <= maxHeld)> class RowPointers {
public:
  MSCCLC_DEVICE RowPointers(const K &k, const L &chunks, unsigned row) {
    MSCCLC_UNROLL
    for (unsigned i = 0; i < L::size; ++i)
      pointers_[i] = k.rowOf(chunks(i), row);
  }
  MSCCLC_DEVICE char *operator()(unsigned i) const { return pointers_[i]; }

private:
  char *pointers_[L::size];
};
template <class K, class L> class RowPointers<K, L, false> {
public:
  MSCCLC_DEVICE RowPointers(const K &k, const L &chunks, unsigned row) : k_(k), chunks_(chunks), row_(row) {}
  MSCCLC_DEVICE char *operator()(unsigned i) const { return k_.rowOf(chunks_(i), row_); }

private:
  const K &k_;
  const L &chunks_;
  unsigned row_;
};

/// The least number of bytes in a row of any of these chunks, where chunks differ at all.
template <class K, class L> MSCCLC_DEVICE uint64_t clipRow(const K &k, const L &chunks, unsigned row, uint64_t end) {
  if (k.layout.even && k.layout.nominal == k.layout.perChunk * K::Plan::unit)
    return end;
  for (unsigned i = 0; i < L::size; ++i) {
    const uint64_t bytes = k.bytesOf(chunks(i), row);
    end = bytes < end ? bytes : end;
  }
  return end;
}

template <class Word> MSCCLC_DEVICE Word loadWord(const char *p, uint64_t i) {
  return loadAs<Word>(p + i * sizeof(Word));
}
template <class Word> MSCCLC_DEVICE void storeWord(char *p, uint64_t i, const Word &v) {
  storeAs<Word>(p + i * sizeof(Word), v);
}

template <unsigned N, class W, class Word> MSCCLC_DEVICE void storeToAll(const W &target, uint64_t i, const Word &v) {
  MSCCLC_UNROLL_HELD
  for (unsigned d = 0; d < N; ++d)
    storeWord<Word>(target(d), i, v);
}

/// Words first, first + lanes, … below `count`: reduce the sources, store to every target.
template <class Acc, class Word, unsigned N, unsigned D, class S, class W>
MSCCLC_DEVICE void reduceWords(const S &source, const W &target, uint64_t first, uint64_t count, unsigned lanes) {
  constexpr unsigned together = N >= loadsInFlight ? 1 : loadsInFlight / N; // words of this thread at a time
  constexpr unsigned batch = N < loadsInFlight ? N : loadsInFlight;         // sources of a word at a time
  for (uint64_t at = first; at < count; at += uint64_t{lanes} * together) {
    Acc acc[together];
    MSCCLC_UNROLL_HELD
    for (unsigned from = 0; from < N; from += batch) {
      Word in[batch][together];
      MSCCLC_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        if (N % batch == 0 || from + i < N) {
          MSCCLC_UNROLL
          for (unsigned u = 0; u < together; ++u)
            if (u == 0 || at + u * uint64_t{lanes} < count)
              in[i][u] = loadWord<Word>(source(from + i), at + u * uint64_t{lanes});
        }
      }
      MSCCLC_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        if (N % batch == 0 || from + i < N) {
          MSCCLC_UNROLL
          for (unsigned u = 0; u < together; ++u) {
            if (u == 0 || at + u * uint64_t{lanes} < count) {
              if (from + i == 0)
                acc[u].start(in[i][u]);
              else
                acc[u].add(in[i][u]);
            }
          }
        }
      }
    }
    MSCCLC_UNROLL
    for (unsigned u = 0; u < together; ++u) {
      if (u == 0 || at + u * uint64_t{lanes} < count) {
        const Word out = acc[u].result();
        storeToAll<D>(target, at + u * uint64_t{lanes}, out);
      }
    }
  }
}

template <class T, class Op, class Word, unsigned N>
using AccumulatorFor = std::conditional_t<N == 1, Passing<Word>, Accumulator<T, Op, Word>>;

} // namespace dev

/// targets[…] <- Op of all sources. One source: a copy to every target.
template <class Op, class K, class S, class D>
MSCCLC_OUTLINE void reduce(const K k, const Slice slice, const S sources, const D targets) {
  using T = typename K::Element;
  dev::forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
    end = dev::clipRow(k, targets, row, dev::clipRow(k, sources, row, end));
    if (begin >= end)
      return;
    const dev::RowPointers<K, S> from(k, sources, row);
    const dev::RowPointers<K, D> to(k, targets, row);
    uint64_t done = 0;
    if (k.wide && begin % 16 == 0) {
      const uint64_t words = (end - begin) / 16;
      dev::reduceWords<dev::AccumulatorFor<T, Op, dev::Vec16, S::size>, dev::Vec16, S::size, D::size>(
          from, to, begin / 16 + lane, begin / 16 + words, lanes);
      done = words * 16;
    }
    if (begin + done < end)
      dev::reduceWords<dev::AccumulatorFor<T, Op, T, S::size>, T, S::size, D::size>(
          from, to, (begin + done) / sizeof(T) + lane, end / sizeof(T), lanes);
  });
}

/// One source to every target.
template <class K, class S, class D>
MSCCLC_DEVICE void copy(const K &k, const Slice &slice, const S &source, const D &targets) {
  static_assert(S::size == 1, "pairs of chunks are copyPairs");
  reduce<NoReduce>(k, slice, source, targets);
}

/// Source i to target i, for every i; the loads of several pairs are in flight together.
template <class K, class S, class D>
MSCCLC_OUTLINE void copyPairs(const K k, const Slice slice, const S sources, const D targets) {
  static_assert(S::size == D::size, "as many sources as targets");
  using T = typename K::Element;
  constexpr unsigned batch = S::size < dev::loadsInFlight ? S::size : dev::loadsInFlight;
  dev::forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t rowEnd, unsigned lane, unsigned lanes) {
    for (unsigned from = 0; from < S::size; from += batch) {
      const char *source[batch];
      char *target[batch];
      uint64_t words[batch], ends[batch], most = 0;
      MSCCLC_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        ends[i] = words[i] = 0;
        if (from + i >= S::size)
          continue;
        const auto s = one(sources(from + i)), d = one(targets(from + i));
        source[i] = k.rowOf(s.value, row);
        target[i] = k.rowOf(d.value, row);
        ends[i] = dev::clipRow(k, d, row, dev::clipRow(k, s, row, rowEnd));
        words[i] = k.wide && begin % 16 == 0 ? ends[i] / 16 : 0;
        most = words[i] > most ? words[i] : most;
      }
      for (uint64_t at = begin / 16 + lane; at < most; at += lanes) {
        dev::Vec16 in[batch];
        MSCCLC_UNROLL
        for (unsigned i = 0; i < batch; ++i)
          if (at < words[i])
            in[i] = dev::load16(source[i] + at * 16);
        MSCCLC_UNROLL
        for (unsigned i = 0; i < batch; ++i)
          if (at < words[i])
            dev::store16(target[i] + at * 16, in[i]);
      }
      MSCCLC_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        const uint64_t done = words[i] * 16 > begin ? words[i] * 16 : begin;
        for (uint64_t at = done / sizeof(T) + lane; at < ends[i] / sizeof(T); at += lanes)
          dev::storeWord<T>(target[i], at, dev::loadWord<T>(source[i], at));
      }
    }
  });
}

} // namespace mscclc
