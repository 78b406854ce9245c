// Finds the sizes of chunks that must be proven because slices of thread-block groups meet differently in different
// sizes.
//
// The executor divides a range of S chunks with c units each (a unit is the program's alignment) into n slices. The
// cuts are at g * floor(Sc / n) + min(g, Sc mod n), for g = 1 … n - 1 (execution_plan.cc, calcOffset). Example: S = 2
// and n = 3. With c = 3, the 6 units are cut at 2 and 4, so the slices are even. With c = 2, the 4 units are cut at 2
// and 3, so slices have 2, 1 and 1 units, and the first cut is also the end of a chunk.
//
// If n divides Sc, slices are even, and one even size represents all of them. If everything that overlaps a range
// divides it in the same way, or contains it in one slice, an even size also represents the other sizes: slices
// correspond to slices, and an empty slice has no accesses.
//
// Otherwise, a size has a pattern: the order of its cuts and ends of chunks, and which of them coincide. Data moves by
// whole chunks. So in two sizes with the same pattern, the same accesses overlap. Let M be the least common multiple of
// n / gcd(n, S) over all ranges. A cut in sizes c = Mq + r is linear in q, and is less than n units away from an even
// cut. So two cuts, of n and n' slices, keep their order for all q >= n + n'. The patterns of all sizes up to there are
// all patterns.
//
// Packets make an order, but an empty slice of packets makes none: the rank that takes it does not wait. Slice g of S
// chunks, counted from 0, is empty if Sc <= g. So the set of empty slices of packets is part of the pattern, too. It
// shrinks when c grows: an order by packets in one size also exists in all larger sizes.
#pragma once

#include "passes/run/geometry.h"
#include "passes/verify/findings.h"

#include <optional>

namespace mscclc::passes::proof {

/// A pattern of slices, and the sizes that have it.
struct SliceSize {
  /// A value of `last`: there is no largest size, because larger and larger sizes have the pattern.
  static constexpr std::uint64_t again = ~std::uint64_t{0};
  std::uint32_t units = 1;   ///< the least size with this pattern, in units per chunk
  std::uint64_t last = 0;    ///< the largest message size with this pattern, in units per chunk; or `again`
  std::uint32_t number = 0;  ///< number of message sizes with this pattern; 2 means two or more
  bool emptyPackets = false; ///< true if some slice of packets is empty
};

/// The sizes that the proof needs because of slicing.
struct SliceSizes {
  /// All patterns that messages of the program can have, except for the pattern of even slices. Patterns with packets
  /// in every slice come first. The other patterns follow, from large sizes to small ones.
  std::vector<SliceSize> sizes;
  /// If no sizes are given, the reason, with an operation. `tooMany`: there are too many patterns. `inLoop`: in a
  /// pipeline, slices that do not divide their chunks meet other slices. `packetsInLoop`: in a pipeline, such slices
  /// hold packets.
  std::optional<ir::OpRef> tooMany, inLoop, packetsInLoop;
  std::optional<ir::OpRef> packets; ///< an operation with a slice of packets that may be empty
  bool nested = true;               ///< true if packets that order two accesses in one size do so in all larger sizes
};

SliceSizes sliceSizes(const ProgramIndex &index);

/// True if some slice of a thread-block group may end within a chunk. If `scratchOnly`, only chunks of scratch count.
bool cutsChunks(const ir::Program &program, bool scratchOnly);

} // namespace mscclc::passes::proof
