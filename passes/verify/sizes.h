// Decides whether a program with pipelines must be proven in only one size: the size in which each pipeline runs once.
//
// If the conditions below hold, any number of iterations is right if one iteration is. Let S be the size with one
// iteration, and L a size with n iterations. Let j be one of these n iterations. Map each event of S to its copy in L.
// The copy of an event in a pipeline is in iteration j.
//
// Happens-before is kept. Within a block, the order is the same. Between blocks, signal k of a queue meets wait k + v,
// where v is the initial value of a semaphore. All signals are in one block, and all waits are in one block. The
// operations of a block are divided into sections: before its first pipeline, in that pipeline, after it, and so on. In
// each section, a queue is signalled as often as it is waited on. So if a section is repeated, signals and waits after
// it are shifted by the same number. The wait in L that meets the copy of a signal is the copy of the wait in S, or an
// earlier wait in its block. The same holds for barriers, with v = 0. In both sizes, launches meet at the ends of
// ranks, and a relaxed signal carries the knowledge of the beginning of its launch. A signal or flush of a port covers
// at least the copies of the puts that it covers in S.
//
// There are no new conflicts. An iteration accesses its own slice of each operand. All operands in pipelines have the
// same number of slices and, if they overlap, the same first chunk (see checkRanges). So two iterations never access
// the same memory, not even in different launches. Any other pair of accesses, also with operations outside of
// pipelines, corresponds to a pair in S that has copies of both for some j. So what is ordered in S is ordered in L.
// Every slice goes through the same operations in the same order, so the results are the same.
//
// L ends. Each edge leads from an iteration of a section to the same or a later iteration or section. Within one
// iteration, the edges are those of S, and S ends. So no edges form a cycle, and the counts match.
//
// Packets are excluded, because their edges follow the data: an operation that reads a whole chunk at once waits for
// all iterations.
#pragma once

#include "passes/run/geometry.h"
#include "passes/verify/loops.h"

namespace mscclc::passes::proof {

/// The number of iterations that are proven if pipelines cannot be paired.
inline constexpr std::uint64_t unpairedIterations = 3;

/// The sizes in which a program must be proven because of its pipelines.
struct IterationSizes {
  std::vector<Geometry> all;            ///< at least one; sizes with long chunks come first
  bool isAnyNumber = false;             ///< true if pipelines run once, which represents any number of iterations
  std::optional<UnpairedLoop> unpaired; ///< a pipeline whose further iterations these sizes do not represent
};
/// Decides which sizes must be proven. Several numbers of iterations are needed (see LoopRates) if a condition of this
/// file does not hold, or if `exhaustive`. Requires: no fault in `rates`.
IterationSizes iterationSizes(const ProgramIndex &index, const LoopRates &rates, bool exhaustive = false);

/// True if launches of different sizes may have different chunks at the same place of scratch.
bool chunksMove(const ir::Program &program);

} // namespace mscclc::passes::proof
