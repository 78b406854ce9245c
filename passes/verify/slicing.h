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
#pragma once

#include "passes/verify/findings.h"
#include "passes/verify/geometry.h"

#include <optional>

namespace mscclc::passes::proof {

/// What slicing asks of the proof.
struct SliceSizes {
  /// The least size, in units a chunk, of each pattern that the program's message sizes allow, but that of even slices.
  std::vector<std::uint32_t> units;
  /// Too many patterns, or slices within pipelines that do not meet: an operation that takes part.
  std::optional<ir::OpRef> tooMany, inLoop;
};

SliceSizes sliceSizes(const ProgramIndex &index);

} // namespace mscclc::passes::proof
