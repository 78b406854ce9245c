// Operations of kernels with a wire format: scratch holds values in it (Plan::Wire), inputs and outputs hold elements.
//
// Threads of a team take a block together, each an octet of it. What is stored in scratch is encoded, so the team finds
// the largest absolute value of the block first, if the format has scales. What is read in scratch is decoded. What
// moves from scratch to scratch stays as it is. Sums are f32, in the order of their operands.
//
// A program needs no block-wide sync where each thread reads what it has written itself. But the scale is written by
// one thread and read by all of a team. So an operation that stores in scratch has such sync before and after that.
#pragma once

#include "mscclc/hooks.cuh"

namespace mscclc::device::detail {

/// The number of the source that is added as number `n`.
MSCCLC_DEVICE unsigned sourceAt(AddedFirst, unsigned n) {
  return n;
}
MSCCLC_DEVICE unsigned sourceAt(AddedAfter place, unsigned n) {
  return n < place.others ? n + 1 : n == place.others ? 0 : n;
}

/// Returns values [first, first + 8) of the block at byte `at` of row `row` of an operand.
template <class K>
MSCCLC_DEVICE Values valuesOf(const K &k, const Rows &rows, unsigned row, uint64_t at, unsigned first) {
  using T = typename K::Element;
  using Wire = typename K::Plan::Wire;
  const char *const block = k.rowOf(rows, row) + at;
  if (rows.layout != OperandLayout::Data)
    return Wire::load(block, first);
  return loadValues<T>(reinterpret_cast<const T *>(block) + first, octetSize);
}

template <class Op, class K, class Place, class S>
MSCCLC_DEVICE Values sumOf(const K &k, Place place, const S &sources, unsigned row, uint64_t at, unsigned first) {
  Values sum = valuesOf(k, sources(sourceAt(place, 0)), row, at, first);
  constexpr unsigned N = S::size;
  if constexpr (N > 1) {
    [[maybe_unused]] constexpr unsigned batch = isComputed<S> ? loadsInFlight<typename K::Plan> : N;
    MSCCLC_UNROLL_BATCH
    for (unsigned n = 1; n < N; ++n) {
      const Values next = valuesOf(k, sources(sourceAt(place, n)), row, at, first);
      MSCCLC_UNROLL
      for (unsigned i = 0; i < octetSize; ++i)
        sum.at[i] = Op::apply(sum.at[i], next.at[i]);
    }
  }
  return sum;
}

/// reduceRows() of a kernel with a wire format. All threads of the block call it. No device has room for 2^32 blocks,
/// so they are counted in 32 bits.
template <class Op, class K, class Place, class S, class D>
MSCCLC_DEVICE void reduceBlocks(const K &k, const Slice &slice, Place place, const S &sources, const D &targets) {
  using T = typename K::Element;
  using Wire = typename K::Plan::Wire;
  static_assert(Wire::template isFor<T>, "the wire format is for other types of elements");
  constexpr uint64_t blockBytes = Wire::elements * sizeof(T);
  constexpr unsigned octets = Wire::elements / octetSize;
  static_assert(Wire::elements % octetSize == 0 && octets <= partials, "a thread takes an octet, or several");
  const bool isMoved = S::size == 1 && sources(0).layout != OperandLayout::Data;
  bool inScratch = false, inMessage = false;
  for (unsigned d = 0; d < D::size; ++d)
    (targets(d).layout != OperandLayout::Data ? inScratch : inMessage) = true;
  const bool encodes = inScratch && !isMoved;
  if (inScratch && isMoved) // where it encodes, combine() comes before it writes
    syncBlock();
  const auto perRow = static_cast<unsigned>(slice.nominal / blockBytes); // 0: there is no message
  const auto begin = static_cast<unsigned>(slice.begin / blockBytes);
  const unsigned count = perRow == 0 ? 0 : static_cast<unsigned>(slice.end / blockBytes) - begin;
  forParts(k, Wire::elements, count, [&](unsigned number, bool isMine, const Team &team) {
    const unsigned mine = begin + number, row = mine / perRow;
    const uint64_t at = mine % perRow * blockBytes;
    const bool isThere = isMine && at < clipRow(k, targets, row, clipRow(k, sources, row, slice.nominal));
    const Part<T> part(nullptr, mine, Wire::elements, isThere, team);
    Values sum{};
    const auto take = [&](const Octet &octet) {
      return sum = sumOf<Op>(k, place, sources, row, at, static_cast<unsigned>(octet.first));
    };
    float scale = 0;
    if constexpr (Wire::isScaled)
      if (encodes)
        scale = Wire::scaleOf(part.template combine<Amax>(take));
    const bool isKept = Wire::isScaled && encodes && team.lanes == octets; // `sum` is that of the only octet
    part.forEach([&](const Octet &octet) {
      if (!isKept && (encodes || inMessage))
        take(octet);
      const auto first = static_cast<unsigned>(octet.first);
      for (unsigned d = 0; d < D::size; ++d) {
        const Rows target = targets(d);
        char *const block = k.rowOf(target, row) + at;
        if (target.layout == OperandLayout::Data)
          storeValues<T>(reinterpret_cast<T *>(block) + first, octetSize, sum);
        else if (isMoved)
          Wire::move(block, k.rowOf(sources(0), row) + at, first);
        else
          Wire::store(block, first, sum, scale);
      }
    });
    if constexpr (Wire::isScaled) {
      if (!encodes)
        return;
      if (!isKept) // an operand may be a target, whose scale is still read
        syncBlock();
      for (unsigned d = 0; part.leads() && d < D::size; ++d)
        if (targets(d).layout != OperandLayout::Data)
          Wire::storeScale(k.rowOf(targets(d), row) + at, scale);
    }
  });
  if (inScratch)
    syncBlock();
}

} // namespace mscclc::device::detail
