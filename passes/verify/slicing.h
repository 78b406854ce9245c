// Which sizes of chunk have to be proven because slices of thread-block groups do not meet in all of them alike.
//
// The executor cuts a range of S chunks of c units each (a unit: the program's alignment) in n slices at
// g * floor(Sc / n) + min(g, Sc mod n), for g = 1 … n - 1 (execution_plan.cc, calcOffset). Where n divides Sc, slices
// are even, and one even size speaks for all such. Where all that touches a range cuts it alike, or takes it whole, it
// speaks for the others as well: take each slice to its slice; of an empty one there are no accesses.
//
// Otherwise what matters of a size is in which order the cuts and the ends of chunks come, and which coincide: its
// pattern. All data moves by whole chunks, so two sizes of one pattern have the same accesses meet. With M the least
// common multiple of the n / gcd(n, S), a cut of sizes c = Mq + r is linear in q, and lies less than n units beside
// where an even cut would; so two cuts, of n and n' slices, keep their order for all q >= n + n'. The patterns of all
// sizes up to there are all there are.
//
// Packets make an order, and an empty slice of them makes none: who takes it waits for nobody. Slice g of S chunks,
// from 0, is empty if Sc <= g. So which slices of packets are empty is part of the pattern, too. They are fewer the
// larger c is: what is ordered by packets in one size is so in all larger ones.
#pragma once

#include "passes/run/geometry.h"
#include "passes/verify/findings.h"

#include <optional>

namespace mscclc::passes::proof {

/// A way in which slices meet.
struct SliceSize {
  static constexpr std::uint64_t again = ~std::uint64_t{0};
  std::uint32_t units = 1;   ///< a chunk: the least size of which it is so
  std::uint64_t last = 0;    ///< the largest, in units a chunk, that the program's messages may have; `again`: none is
  std::uint32_t number = 0;  ///< of such sizes that they may have; 2: two or more
  bool emptyPackets = false; ///< some slice of packets holds none
};

/// What slicing asks of the proof.
struct SliceSizes {
  /// Each way that the program's message sizes allow, but that of even slices; those with packets in every slice first,
  /// the others from large sizes to small ones.
  std::vector<SliceSize> sizes;
  /// Too many patterns, or slices within pipelines that do not meet: an operation that takes part.
  std::optional<ir::OpRef> tooMany, inLoop, packetsInLoop;
  std::optional<ir::OpRef> packets; ///< that may be empty
  bool nested = true;               ///< what packets order in one size they order in all larger ones
};

SliceSizes sliceSizes(const ProgramIndex &index);

} // namespace mscclc::passes::proof
