// Rows of kernels whose scratch holds elements in the type in which they are added up (Plan::wideScratch). An element
// takes K::spread times as many bytes in scratch as in a message. Offsets and lengths count bytes of the message. A
// word keeps its number of elements. In registers and in scratch, its elements are of type K::Held, so it is converted
// when it is loaded from an input or stored to an output.
#pragma once

namespace mscclc::device::detail {

/// The address of a row, and whether the row holds elements of K::Held.
struct SpreadRow {
  char *at;
  bool isHeld;
};
/// The type for the address of a row of plain data in kernel K.
template <class K> using RowAddress = std::conditional_t<K::spread == 1, char *, SpreadRow>;

template <class Row, class K> MSCCLC_DEVICE Row addressOf(const K &k, const Rows &rows, unsigned row) {
  if constexpr (std::is_same_v<Row, char *>)
    return k.rowOf(rows, row);
  else
    return {k.rowOf(rows, row), rows.layout != OperandLayout::Data};
}

/// A word of elements of T in registers, each as Number<T>::Sum. `Word` is its form in a message.
template <class T, class Word> struct SpreadWord {
  using Element = T;
  using Message = Word;
  struct Elements {
    T e[sizeof(Word) / sizeof(T)];
  };
  using Part = std::conditional_t<sizeof(Word) == 16, Vec16, typename Number<T>::Sum>;
  typename Number<T>::Sum e[sizeof(Word) / sizeof(T)];
};
/// The type of a word in registers, and that of its elements.
template <class Row, class T, class Word> struct InRegisters {
  using Type = Word;
  using Element = T;
};
template <class T, class Word> struct InRegisters<SpreadRow, T, Word> {
  using Type = SpreadWord<T, Word>;
  using Element = typename Number<T>::Sum;
};

template <class Word> MSCCLC_DEVICE Word loadWord(const SpreadRow &row, uint64_t i) {
  using Elements = typename Word::Elements;
  using Part = typename Word::Part;
  Word word;
  if (row.isHeld) {
    struct Parts {
      Part parts[sizeof(Word) / sizeof(Part)];
    } held;
    MSCCLC_UNROLL
    for (unsigned p = 0; p < sizeof(Word) / sizeof(Part); ++p)
      held.parts[p] = loadAs<Part>(row.at + i * sizeof(Word) + p * sizeof(Part));
    return bitCast<Word>(held);
  }
  const auto message = loadAs<typename Word::Message>(row.at + i * sizeof(typename Word::Message));
  const Elements elements = bitCast<Elements>(message);
  Number<typename Word::Element>::widen(elements.e, word.e);
  return word;
}
template <class Word> MSCCLC_DEVICE void storeWord(const SpreadRow &row, uint64_t i, const Word &word) {
  using Elements = typename Word::Elements;
  using Part = typename Word::Part;
  if (row.isHeld) {
    struct Parts {
      Part parts[sizeof(Word) / sizeof(Part)];
    };
    const Parts held = bitCast<Parts>(word);
    MSCCLC_UNROLL
    for (unsigned p = 0; p < sizeof(Word) / sizeof(Part); ++p)
      storeAs<Part>(row.at + i * sizeof(Word) + p * sizeof(Part), held.parts[p]);
    return;
  }
  Elements elements;
  Number<typename Word::Element>::narrow(word.e, elements.e);
  storeAs<typename Word::Message>(row.at + i * sizeof(typename Word::Message),
                                  bitCast<typename Word::Message>(elements));
}

} // namespace mscclc::device::detail
