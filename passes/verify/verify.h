// The verifier: a plan ends, has no race, computes its collective, and may be launched again at once.
//
// How it proves that. A program is run once, abstractly, for three launches at most: blocks advance until they wait,
// data is symbolic, every access is compared with the earlier accesses of its cell by happens-before (run/order.h).
//
// Why one run speaks for all schedules. Suppose that all blocks of a rank are resident together, and that (a) the order
// in which a block's operations are issued does not depend on data or timing, (b) each channel end is waited on by one
// thread at a time, in an order that the program fixes, each semaphore acquired by one block, and each of them
// signalled by one thread, (c) each barrier is used by as many blocks as it waits for, (d) a packet slot is written
// once a launch. Then signals only ever add to counters that one waiter at a time takes from, so running one block
// never takes from another the chance to run: all maximal runs execute the same operations, the n-th signal meets the
// n-th wait in each, and either all end or all stop at the same waits. So the edges, and with them happens-before, are
// the same in all. A pair of conflicting accesses that is ordered is ordered in every run, and if all are, every read
// sees the same write in all, hence the same values. A pair that is not ordered can be brought together by some
// schedule, which is printed. The run takes a block's operations one after the other, though its threads do not wait
// for each other within a phase: that can only make signals come later, so what ends here ends with threads too.
//
// Within a phase only the order of one thread counts. Thread i does the i-th of what an operation names (threads.h):
// what it waited for goes along with what it sends later, its puts through a port lie before its later signals on that
// channel, and what other threads do is ordered with neither. Data operations are shared out by element (elements.h):
// two accesses of one element are one thread's where both operations deal in the same unit and their operands begin and
// end together.
//
// The premises are checked. (a) holds by construction: programs have no branches. (b) to (d): see verify/premises.h,
// verify/threads.h and verify/checked_run.h. Where several send to one counter, the n-th wait is credited with what is
// certain whoever came first; where several blocks acquire one semaphore, the run is repeated with those acquires held
// back, and the program is refused if the releases they share come only after one of them went on.
//
// Why two launches, or three. The next launch of a rank begins when its own last one ended, while others may be in it.
// Operation x of one launch and y of the next are checked by running two. With x and y any number of launches apart, x
// is ordered before y's twin of the next launch, which is before y in the same block. With double scratch, scratch of
// launch n is used again by n + 2: then three launches are run. But where each rank hears from every other in the
// second, it knows at its end that all have ended the first, so all of the first is ordered before all of the third,
// and the third need not be run. (Port puts may outlive their launch: where there are some, it is run.) Signals and
// waits balance, so that each launch starts like the first (with semaphores having more to let through, hence more
// edges, later). So pairs within one launch are checked in the first only, as are results: with no race, each read sees
// the same operation's write in every launch. In the second launch accesses are checked against what the first left in
// their cell, but for double scratch, where this is done in the third.
//
// Sizes. Pipelines run as often as a message is long: see Pipelines below. Slices of thread-block groups end between
// chunks in some sizes only: each way in which they can meet is proven (verify/slicing.h). Slices of packets may be
// empty at small sizes, and then order nothing: each way in which they are is proven, and launches of any two of them
// with a launch of a third between, where scratch is double. Launches of different sizes may follow each other: input
// and output are the user's in between, whole (verify/user.cpp), and in scratch a launch writes only what comes after
// all that the one before did in that rank's scratch (verify/scratch_history.h).
//
// Pipelines. Where one iteration decides (verify/sizes.h), one is run. Else a queue is a direction of a channel or a
// semaphore, and these must hold (verify/loops.h):
//   1. Each queue that a pipeline uses has one block that signals and one that waits.
//   2. The pipelines of these two blocks that use the queue pair up in order. Two that pair have the same unit and
//      number of chunks, and the one signals in each iteration as often, s times, as the other waits. Outside of
//      pipelines there are as many signals as waits.
// For two pipelines that pair let C be what the queue starts with, plus the signals before the one, minus the waits
// before the other, both outside of pipelines. An edge then leads from iteration i of the one to iteration i + C / s of
// the other, rounded: forward, or backward if C is negative. The displacement of a queue is the largest |C| / s,
// rounded up. Blocks that meet at a barrier pair alike; what one of them is ahead counts as backward. Let F and B be
// the sums of all displacements forward and backward. Each number of iterations from 1 to K = 3 + F + 2B is run. If all
// of these are right, every k is: k + 1 is if k >= K is, as follows.
//
// It ends. Suppose that k + 1 iterations have a cycle of edges and of steps within blocks. A shortest one enters each
// block once, as two visits could be joined by a step within the block. So it uses each queue once. Follow it from one
// visit to what is outside of pipelines to the next, and in each block go on in the first iteration in which that is
// possible. Then such a part goes up by no more than F, by queues, and by what it comes down again, which is B at most.
// So it fits into F + B + 1 iterations. It begins behind what is before the pipelines, in the first F iterations; or
// by packets, which lead from all iterations or to all, in any; or, the other way round, it ends before what is behind
// them. So k iterations have the same cycle. But they end.
//
// It is ordered. By the same argument the edges of no cycle among pipelines lead backward in sum. So each block b can
// have a number p(b) such that p(c) <= p(a) + d for each queue by which an edge from a to c leads d iterations forward
// (d < 0: backward): the length of the shortest path to b, where each path begins with 0. These numbers differ by B at
// most, and stay right when all grow by the same. Take each event of k iterations to its copy in k + 1: in block b,
// iteration j goes to j if j < p(b), and else to j + 1. If all p(b) are from 0 to k, happens-before is kept: where an
// edge leads to, there or earlier in its block the edge from the copy leads, too. That is so by the choice of p between
// pipelines, and to and from what is outside of them because p is within 0 and k. Packets lead from slice to slice,
// each of its own iteration, or from or to all slices. Two accesses that conflict are in the same iteration i, or one
// is outside. Both are copies of one iteration of k if all p(b) are above i, which can be had if i + 1 + B <= k, or if
// all are below i, which can be had if i - 1 - B >= 0. One of the two holds, as k > 2B. So what is ordered in k is
// ordered in k + 1, each read sees the same write, and results are the same.
//
// Where scratch is reused, iterations i and i + W share a slot (W: slots of a chunk). Then W + 1 to W + K are run, too,
// by the same argument about accesses W iterations apart. Without a backward edge no path leads to an earlier
// iteration, so W + K shows what the shorter of these do. Where operands take fewer iterations than their pipeline, and
// where pipelines differ in unit or number of chunks, each of them runs 1 to K times, and the others as often as sizes
// allow beside that (LoopRates::lengths).
//
// Where 1 or 2 does not hold, three iterations are run. Then messages must be no longer than that.
//
// Blocks. Where a rank has more of them than a GPU holds at once (residency.h), and some wait for others, the run
// begins the next block, in the order of their numbers, only where one ends. If it stops, that is an error. If it ends,
// it has done what any other maximal run does, so all that is proven holds; but as CUDA may begin blocks in another
// order, which might stop, there is a warning.
//
// Around each launch a rank's user reads and overwrites its inputs and outputs; a test collective says nothing about
// its buffers, so there the operations alone count.
//
// What is taken for granted, of the hardware and of who launches:
// - Nothing else runs on the GPU for good while blocks of a rank wait to begin, and ranks launch the same programs in
//   the same order.
// - The end of a kernel publishes what it wrote, so a relaxed signal of the next launch tells of it. PTX promises that
//   to the device itself; in kernels of our own the wait acquires (sync.cuh).
// - A write to a peer's memory that comes after a relaxed wait in its block is made after it, and a read that comes
//   before a relaxed signal is made before it. PTX promises neither without an acquire and a release; kernels of our
//   own have both (sync.cuh, backend-cuda/earlier_reads.h).
// - A context runs one plan: MSCCL++ counts launches over all of them, and double scratch goes by that count's parity.
// - An executor of MSCCL++ numbers memories and port semaphores over all of its plans and sizes: 3 memories for each,
//   and one for each remote buffer that a port reaches. Together they pass no limit of a proxy (executor_limits.h).
// - A launch of 0 bytes is none: it would turn double scratch without moving anything. The runtime of our kernels does
//   not start it; for MSCCL++ there is a warning where min_message_size allows it.
// - With reuse_resources, where all plans of an executor share one scratch, other plans leave it alone until all ranks
//   have ended this one. A rank without a part in a plan does not wait by itself; there is a warning.
// - What is written through a multicast address and read through a plain one, or the reverse, is ordered as if
//   both were plain, given the signals that would order plain accesses.
// - MSCCL++'s semaphore lets those who wait through in any order (it is no counting semaphore, which would let them
//   through in turn); only the count matters here.
// - A port moves what is put through one channel in order, and each packet word by word whole: four bytes of data and
//   their flag are one aligned write of eight. Nothing is taken for granted of the order of different ones.
// Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks). DataSync that is not
// lowered counts as the nops it stands for.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "passes/residency.h"
#include "passes/verify/sum_order.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mscclc::passes {

namespace proof {
class OrderWatcher;
class FinalBuffers;
} // namespace proof

struct VerifyOptions {
  bool warnings = true;
  bool schedules = true; ///< add the shortest schedule to races
  /// What a GPU holds of a rank's blocks at once; without it, all of them.
  std::optional<Residency> residency = {};
  /// Is told of all events and of what was said of their order (run/order.h); for tests.
  proof::OrderWatcher *watcher = nullptr;
  /// Scratch chunks lie at the same place whatever the message size, as in kernels of our own: launches of different
  /// sizes meet chunk by chunk, as those of one size do.
  bool fixedScratch = false;
  /// What an operation names beyond the threads of a block is done by them in turns, as in kernels of our own; else it
  /// is never done.
  bool threadsInTurns = false;
  bool oneSize = false; ///< all launches have one message size
  /// Prove K iterations of pipelines and three launches with double scratch even where fewer decide. The verdict is the
  /// same.
  bool exhaustive = false;
  /// Is told what inputs and outputs hold at the end of a launch, for each size that is proven without an error.
  std::function<void(const proof::FinalBuffers &)> atEnd = {};
};

/// What was looked at. `proven` only if nothing was found against the program.
struct VerifyResult {
  bool proven = false;
  std::uint32_t ranks = 0, launches = 0, iterations = 0; ///< iterations: the most of any pipeline; 0 without
  bool anyIterations = false;                            ///< one iteration was run, which speaks for any number
  std::uint32_t unevenSizes = 0; ///< sizes of chunk proven besides, in which slices of groups meet differently
  std::uint64_t operations = 0;  ///< run, all launches and iterations
  std::uint64_t phases = 0, edges = 0, accesses = 0;
  std::uint64_t results = 0;  ///< output chunks compared with the collective
  std::uint64_t unstated = 0; ///< output chunks of which a custom collective states nothing
  std::uint64_t errors = 0, warnings = 0;
  SumOrder sums; ///< of a proven program. Nothing is reported of it.
  /// "proven: 8 ranks, 2 launches, …": one line for a user.
  std::string summary() const;
};

/// Proves `program` or reports why not. Errors are findings; `program.sources` resolves their places.
VerifyResult verify(const ir::Program &program, ir::DiagnosticEngine &diags, const VerifyOptions &options = {});

} // namespace mscclc::passes
