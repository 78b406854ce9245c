// Whether a program with pipelines needs to be proven in one size only: the one in which each pipeline runs once.
//
// Where it does, any number of iterations is right if one is. Let S be that size, L one in which pipelines run n times,
// and j one of the iterations. Take each event of S to its copy in L, events of pipelines to those of iteration j.
//
// Happens-before is kept. Within a block the order is the same. Between blocks, the k-th signal of a queue meets the
// (k+v)-th wait, v being what a semaphore starts with, and each side is in one block. A block's operations fall into
// sections: before its first pipeline, in it, after it, and so on. In each section a queue is signalled as often as it
// is waited on, so repeating a section moves the k-th signal and the k-th wait by the same number, and apart from what
// comes later: the wait in L that meets the copy of a signal is the copy of the wait in S, or before it in its block.
// Barriers are the same with v = 0. Launches meet at the ends of ranks in both, and a relaxed signal brings what was
// known when its launch began. What a signal or flush of a port covers only grows with what is known before it.
//
// Nothing new conflicts. An iteration touches its own slice of each operand, and all operands in pipelines have the
// same number of slices and, where they overlap, the same first chunk (see checkRanges): two iterations never meet in
// memory, nor do they in two launches. Any other pair, operations outside pipelines among them, has a pair in S with
// copies of both for some j. So what is ordered there is ordered in L, and every slice goes through the same
// operations in the same order: the results are the same.
//
// L ends. Each edge leads from a section, and an iteration in it, to the same or a later one; within one they are those
// of S, which ends. So no edges form a cycle, and the counts agree.
//
// Packets are left out, whose edges follow the data: who reads a chunk in one go waits for all iterations.
#pragma once

#include "passes/run/geometry.h"
#include "passes/verify/loops.h"

namespace mscclc::passes::proof {

/// Checks all of the above that is not checked elsewhere.
bool oneIterationDecides(const ProgramIndex &index, const LoopRates &rates);

/// Iterations that are proven where pipelines are not paired.
inline constexpr std::uint64_t unpairedIterations = 3;

/// The lengths of chunk (see LoopRates) in which a program with pipelines is proven where one iteration does not
/// decide.
std::vector<std::uint64_t> iterationLengths(const ProgramIndex &index, const LoopRates &rates, const LoopPairs &pairs);

} // namespace mscclc::passes::proof
