// The verifier proves that a plan ends, has no race, computes its collective, and may be launched again at once.
//
// How it proves that. The verifier runs a program once, abstractly, for at most three launches. Blocks continue until
// they have to wait. Data is symbolic. Every access is compared with the earlier accesses of its cell by happens-before
// (run/order.h). Example: rank 0 puts a chunk into the output of rank 1, and signals. Rank 1 waits for the signal, and
// its launch ends. The signal carries everything that rank 0 did before, so the write of the chunk happens before the
// user's read. Without the wait, the two accesses would have no order, which is a race.
//
// Why one run represents all schedules. Suppose that all blocks of a rank are resident together, and that
//
//   (a) the order in which a block's operations are issued does not depend on data or timing,
//   (b) each channel end is waited on by one thread at a time, in an order that the program fixes; each semaphore is
//   acquired by one block; and each of them is signalled by one thread,
//   (c) each barrier is used by as many blocks as it waits for,
//   (d) a packet slot is written once a launch.
//
// Within a phase only the order of one thread counts. Thread i does the i-th part of an operation (threads.h). Its
// sends carry its earlier waits. Its puts through a port come before its later signals on that channel. The parts of
// other threads have no order with its sends and puts. Data operations are divided by elements (elements.h): two
// accesses of one element are made by one thread if both operations use the same unit, and their operands begin and end
// together.
//
// The premises are checked. (a) holds by construction, because programs have no branches. For (b) to (d) see
// verify/premises.h, verify/threads.h and verify/checked_run.h. If several threads send to one counter, wait n gets
// credit only for what is certain in any order of the sends. If several blocks acquire one semaphore, the run is
// repeated with these acquires held back. The program is refused if some of these releases come only after one of the
// blocks has continued.
//
// Why two launches, or three. The next launch of a rank begins after its last launch has ended, while other ranks may
// still be in their last launch. An operation x of one launch and y of the next one are checked by running two
// launches. If x and y are further apart, x is ordered before the twin of y in the next launch, which comes before y in
// the same block. With double scratch, launch n + 2 uses the scratch of launch n again, so three launches are run. But
// if each rank receives a message from every other rank in the second launch, it knows at its end that all have ended
// the first one. Then everything in the first launch is ordered before everything in the third one, which need not be
// run. (Port puts may still be in flight after their launch. If there are any, the third launch is run.) Signals and
// waits balance, so each launch starts like the first one. (Semaphores may have higher counts, which can only add
// edges.) So pairs within one launch are checked only in the first launch, and so are results: without a race, each
// read sees the same operation's write in every launch. In the second launch, accesses are checked against the cells
// that the first one left. For double scratch this is done in the third launch.
//
// Sizes. The number of iterations of a pipeline depends on the length of a message: see Pipelines below. Slices of
// thread-block groups end between chunks only in some sizes. Each way in which they can meet is proven
// (verify/slicing.h). Slices of packets may be empty at small sizes, and then order nothing. Each such set of empty
// slices is proven, and also launches of any two sets, with a launch of a third one between them if scratch is double.
// Launches of different sizes may follow each other. Input and output then belong completely to the user in between
// (verify/user.cpp). In scratch, a launch may write only after everything that the launch before did in that rank's
// scratch (verify/scratch_history.h).
//
// Pipelines. If one iteration is sufficient (verify/sizes.h), one is run. Otherwise let a queue be a direction of a
// channel, or a semaphore. These conditions must hold (verify/loops.h):
//   1. Each queue in a pipeline has one signalling block and one waiting block.
//   2. The pipelines of these two blocks that use the queue pair up in order. Two pipelines that pair have the same
//   unit and number of chunks. In each iteration, the one signals s times, and the other waits s times. Outside of
//   pipelines there are as many signals as waits.
//
// For two pipelines that pair, let C be the initial value of the queue, plus the signals before the signalling
// pipeline, minus the waits before the waiting pipeline. Only signals and waits outside of pipelines count. Then an
// edge leads from iteration i of the signalling pipeline to iteration i + C / s of the waiting one, rounded. It leads
// forward, or backward if C is negative. The displacement of a queue is the largest |C| / s, rounded up. Blocks that
// meet at a barrier pair in the same way, and the lead of one block counts as backward. Let F and B be the sums of all
// displacements forward and backward. Each number of iterations from 1 to K = 3 + F + 2B is run.
//
// Example: block 0 signals twice before its pipeline, and once in each iteration. Block 1 waits once in each iteration,
// and twice after its pipeline. Then C = 2, so iteration i of block 0 lets iteration i + 2 of block 1 begin. With no
// other queues, F = 2 and B = 0, and 1 to 5 iterations are run.
//
// If all of these numbers are right, every number k of iterations is right. The reason is that k + 1 iterations are
// right if k >= K iterations are, as follows.
//
// The run ends. Suppose that k + 1 iterations have a cycle of edges and of steps within blocks. A shortest cycle enters
// each block only once, because two visits could be joined by a step within the block. So it uses each queue only once.
// Follow the cycle from one visit outside of pipelines to the next one, and in each block continue in the first
// iteration in which that is possible. Then this part goes up by at most F, by queues, and by as much as it comes down,
// which is at most B. So it fits into F + B + 1 iterations. It begins after the part before the pipelines, in the first
// F iterations; or by packets, which lead from all iterations or to all, in any iteration; or, in the other direction,
// it ends before the part after the pipelines. So k iterations have the same cycle. But k iterations end.
//
// The run is ordered. By the same argument, no cycle among pipelines has edges that lead backward in sum. So each block
// b can have a number p(b) such that p(c) <= p(a) + d for each queue by which an edge from a to c leads d iterations
// forward (d < 0: backward). p(b) is the length of the shortest path to b, where each path begins with 0. These numbers
// differ by at most B, and they stay valid if all grow by the same amount. Map each event of k iterations to its copy
// in k + 1: in block b, iteration j goes to j if j < p(b), and else to j + 1. If all p(b) are from 0 to k,
// happens-before is kept: the edge from a copy leads to the copy of the edge's target, or to an earlier place in its
// block. Between pipelines that holds by the choice of p. To and from the outside of pipelines it holds because p is
// between 0 and k. Packets lead from slice to slice in the same iteration, or from or to all slices. Two conflicting
// accesses are in the same iteration i, or one is outside of pipelines. Both are copies from one iteration of k if all
// p(b) are above i, which is possible if i + 1 + B <= k, or if all are below i, which is possible if i - 1 - B >= 0.
// One of the two holds, because k > 2B. So what is ordered in k is ordered in k + 1, each read sees the same write, and
// results are the same.
//
// If scratch is reused, iterations i and i + W share a slot (W: slots of a chunk). Then W + 1 to W + K iterations are
// run, too, by the same argument about accesses W iterations apart. Without a backward edge no path leads to an earlier
// iteration, so W + K shows everything that smaller numbers above W would. If operands take fewer iterations than their
// pipeline, or if pipelines differ in unit or number of chunks, each of them runs 1 to K times, and the others as often
// as sizes allow in addition (LoopRates::lengths).
//
// If condition 1 or 2 does not hold, three iterations are run. Then messages must not be longer than that.
//
// Blocks. If a rank has more blocks than a GPU holds at once (residency.h), and some wait for others, the run begins
// the next block, in the order of their numbers, only when one ends. If it gets stuck, that is an error. If it ends, it
// has done the same as any other maximal run, so everything that is proven holds. But CUDA may begin blocks in another
// order, which might get stuck, so there is a warning.
//
// Around each launch, a rank's user reads and overwrites its inputs and outputs. A test collective says nothing about
// its buffers, so only the operations count there.
//
// Rows. A program of a collective of rows (ir/rows.h) is proven as if all rows were live. The proof then holds for all
// counts, because of these points:
//   - Signals and waits do not depend on counts. Packets would depend on them, because packets of rows that are not
//   live are never sent. So such a program has no packets.
//   - An operation accesses no other memory than it would with all rows live. Each output chunk is written only with
//   rows that end there, so the place of a slot is that of its chunk. For each layout, the places of all slots are
//   disjoint and in the buffer for all counts (verify/rows.cpp). So two accesses to the same memory are accesses to the
//   same chunk.
//   - Both ends compute places from the same numbers. Each rank clamps its counts, and sends the clamped counts to all
//   ranks. A chunk holds a known slot (RowSlots), so all blocks that move its rows read the same count.
//
// The exchange of counts is no operation of a program. At the start of each launch, before any wait, the first thread
// block of a rank writes its counts as packets into a table of every rank, in the half of the launch's parity. A block
// that needs a count polls its packet. Polls end, because no packet waits for anything but the start of its sender's
// launch. No launch of a rank ends before it has the packets of all ranks. So the halves are reused safely: let rank s
// write for launch n + 2 into the table of rank r. Launch n + 1 of s has ended, so s had the packets that r sent in
// launch n + 1. So launch n of r has ended, with all reads of that half. This needs a thread block on each rank, and
// the same order of launches on all ranks. The thread blocks are checked, and the order is assumed below.
//
// Experts. A collective with experts (ir::ExpertCells) adds two steps on each rank, before its first operation and
// after its last one. The blocks of the rank meet between these steps and the operations. So for all other ranks, the
// steps are work of the rank's user. The steps only compute places that hold for each index:
//   - Packing. Each live entry of the index has a place of its own in its slot, and the slot has room for all of them.
//   - Unpacking. Each row that has come has a place of its own in the layout of experts, and the buffer has room.
//   - With oncePerRank, the first live entries of a row for a rank have a place, by the counts of first entries. Like
//   the counts of live entries, these are any counts up to the capacity, so the lemma holds for them, too. A row brings
//   the list of its places in the buffer. A live entry is in one list: that of its row in the slot to the entry's rank.
//   So each place is written once.
//   - Both ends compute places from the same numbers: the senders' counts of rows for each expert, which are exchanged
//   like the counts of slots. A combine packs the rows from where a dispatch unpacks them, and its sum reads them where
//   a dispatch packs them. So the row of an entry comes back to that entry.
// The lemma is at ir::ExpertCells. verify/rows.cpp checks the parts that depend on counts, for all counts.
//
// With Program::readyRows, a user runs beside the launch and is one more agent of its rank: it reads what a dispatch
// unpacks, or writes what a combine packs, block by block (ir::ReadyBlocks). Let the makers of a block be the thread
// blocks of the kernel that writes its rows, and let the taker be the kernel that reads them.
//   - Rows are there when the taker reads them. A maker counts its rows in the block's word, by an atomic addition with
//   acquire and release, after a sync with the threads that wrote them. The maker that completes the count has thereby
//   acquired the writes of all makers. It stores the word with release, and the taker loads the word with acquire.
//   - Each word is set, for all counts, so the taker's waits end. All live rows of a group are in one of its blocks,
//   and their makers count them, so one of them completes the count. The words of blocks without live rows are set,
//   too. A dispatch that gives up sets all words.
//   - The next launch finds all words at 0: the taker sets them back when all its waits are over. The next launch must
//   come after the taker's reads, because it writes the rows again. The user makes this order, as without words.
//   - The user accesses nothing else that a launch accesses. So for the operations, packing and unpacking remain work
//   of the rank's user. The kernel of a combine waits for the user as for an earlier kernel.
// tests/unit/passes-verify/rows_test.cpp proves such a launch as a program, with makers and user as thread blocks and
// words as semaphores. `--run` lets makers and takers go on in any order, and checks what a taker reads.
//
// The proof assumes these properties of the hardware, and of the program that launches plans:
// - While blocks of a rank wait to begin, nothing else runs on the GPU for ever. All ranks launch the same programs in
//   the same order.
// - The end of a kernel publishes what it wrote, so a relaxed signal of the next launch carries it. PTX promises that
//   only to the device itself. In kernels of our own, the wait acquires (sync.cuh).
// - In plain memory, a packet orders only the reads of its own launch from which its data was computed. PTX promises
//   that order by its rule against values out of thin air. The taker's poll is a branch, and no store is made before
//   the branches that it depends on (verify/packets.cpp).
// - Between launches, a packet that was taken orders accesses to packets. PTX promises that only if each rank on the
//   way has a kernel boundary between receiving and sending. The packet orders plain accesses of its sender's earlier
//   launches only before the taker's next launch: the end of the sender's kernel released these accesses, and the end
//   of the taker's kernel acquires. What the taker does before that end follows only a relaxed load.
// - A write to a peer's memory that comes after a relaxed wait in its block is made after it, and a read that comes
//   before a relaxed signal is made before it. PTX promises neither without an acquire and a release. Kernels of our
//   own have both (sync.cuh, backend-cuda/earlier_reads.h).
// - A context runs one plan: MSCCL++ counts the launches of all plans together, and the parity of that count chooses
//   the half of double scratch.
// - An executor of MSCCL++ numbers memories and port semaphores over all of its plans and sizes: 3 memories for each
//   plan and size, and one for each remote buffer that a port reaches. Their numbers exceed no limit of a proxy
//   (executor_limits.h).
// - No launch has 0 bytes: it would change the half of double scratch without moving anything. The runtime of our
//   kernels does not start such a launch. For MSCCL++, there is a warning if min_message_size allows it.
// - With reuse_resources, where all plans of an executor share one scratch, other plans leave it alone until all ranks
//   have ended this one. A rank without a part in a plan does not wait by itself, so there is a warning.
// - A write through a multicast address and a read through a plain one, or the reverse, are ordered by the signals that
//   would order two plain accesses.
// - MSCCL++'s semaphore lets waiting blocks continue in any order. (A counting semaphore would let them continue in
//   turn.) Only the count matters here.
// - A port does the puts of one channel in order. It writes each word of a packet as a whole: four bytes of data and
//   their flag are one aligned write of eight bytes. Nothing is assumed about the order of different words.
// Requires: a program that ir::checkStructure accepts, with thread blocks (ir::requireBlocks). DataSync that is not
// lowered counts as the nops that lowering would make of it.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "ir/rows.h"
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
  bool schedules = true; ///< true if the shortest schedule is added to races
  /// The number of blocks of a rank that a GPU holds at once. Without a value, the GPU holds all blocks.
  std::optional<Residency> residency = {};
  /// Receives all events, and the answers about their order (run/order.h). Used by tests.
  proof::OrderWatcher *watcher = nullptr;
  /// If true, a scratch chunk has the same address for every message size, as in our own kernels. So launches of
  /// different sizes meet chunk by chunk, as launches of one size do.
  bool fixedScratch = false;
  /// If an operation has more parts than its block has threads, the threads do all parts, in turns, as in our own
  /// kernels. If this is false, the parts beyond the number of threads are never done.
  bool threadsInTurns = false;
  bool oneSize = false; ///< true if all launches have one message size
  /// If true, all K iterations of pipelines are run, and three launches with double scratch, even where fewer are
  /// sufficient. The verdict is the same.
  bool exhaustive = false;
  /// Receives the contents of inputs and outputs at the end of a launch, for each size that is proven without an error.
  std::function<void(const proof::FinalBuffers &)> atEnd = {};
};

/// The result of a proof, and what it covered. `proven` is set only if no error was found.
struct VerifyResult {
  bool proven = false;
  std::uint32_t ranks = 0, launches = 0, iterations = 0; ///< iterations: the largest number in a pipeline, or 0
  bool anyIterations = false;                            ///< true if one iteration was run, which represents any number
  std::uint32_t unevenSizes = 0; ///< number of other chunk sizes proven, at which slices of groups overlap differently
  std::uint64_t operations = 0;  ///< number of operations that ran, in all launches and iterations
  std::uint64_t phases = 0, edges = 0, accesses = 0;
  std::uint64_t results = 0;  ///< number of output chunks that were compared with the collective
  std::uint64_t unstated = 0; ///< number of output chunks for which a custom collective states no value
  std::uint64_t errors = 0, warnings = 0;
  SumOrder sums;     ///< order of the sums; set if the program is proven
  ir::RowSlots rows; ///< contents of operands; set for a proven program of rows
  bool ofRows = false;
  bool ofExperts = false; ///< true if an index gives the experts of rows
  /// Returns one line for a user: "proven: 8 ranks, 2 launches, …".
  std::string summary() const;
};

/// Proves `program`, or reports why that is not possible. Errors are findings about the program. `program.sources`
/// resolves their source locations.
VerifyResult verify(const ir::Program &program, ir::DiagnosticEngine &diags, const VerifyOptions &options = {});

} // namespace mscclc::passes
