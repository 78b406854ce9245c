// Begins and ends a block's launch, and reports failures.
//
// Launches of one instance share counters, scratch and buffers, so they must follow each other on each rank. The
// launcher orders the launches that it starts. The user who replays a graph must order the replays. If launches overlap
// in spite of that, this file detects it:
//
// - `launches[b]` counts the launches that block b has finished. Its highest bit is set while a launch of b runs.
// - `finished` counts the blocks that have finished a launch.
//
// Let a block begin launch number n. If its bit is already set, another launch of this block is running. If a rank has
// B blocks, n * B finished blocks must have been counted. If there are fewer, a block of an earlier launch is still
// running. Example with 4 blocks: a block begins its launch number 2, so 8 blocks must have finished. If only 7 have
// finished, launches overlap.
//
// The number of instances in a launch may depend on its size. Then a block of a launch with fewer instances counts
// several times, so that every launch adds the same number to `finished`. Only the blocks of instance 0 are in every
// launch, so their numbers count all launches. The other blocks check only their bit.
//
// If a launch is two kernels (KernelPart in layout.cuh), `launches` and `finished` count kernels, and the same checks
// apply. If `launches[b]` is odd, the kernel that receives must come next. A kernel that begins out of turn is
// reported.
//
// Every overlap is detected. Let L be the later one of two launches that overlap, and b the first block of L that
// begins. A device begins the blocks of a launch in the order of their index, and has room for all of them at once. So
// b is block 0, which is of instance 0, and all blocks of the earlier launch have begun. If block b of the earlier
// launch still runs, its bit is set. If it has finished, n includes the earlier launch, but not all blocks of that
// launch have finished.
//
// Both words are read in one round trip to memory, so the check costs no more time than reading the count alone.
#pragma once

namespace mscclc::device::detail {

constexpr uint64_t launchRuns = uint64_t{1} << 63; ///< the bit of MscclcRankArgs::launches that is set during a launch

/// Records that a wait of the rank has given up. Then no block of the rank copies the output.
MSCCLC_DEVICE void giveUp(const MscclcRankArgs &args) {
  if (args.staging.output != nullptr || args.index.work != nullptr)
    storeRelaxed(&args.staging_state[1], 1);
}

/// Records a wait that takes too long, or another reason to give up. Threads of a block wait for packets or counts of
/// the same ranks, so only the first one of them records its wait. `waited`: the duration in nanoseconds; 0 if the
/// abort came before the wait began. If the block has a record already, a wait that began after the abort is only a
/// consequence, and is not recorded. The function is inlined into its callers, because a function that calls another
/// one reserves registers for both.
MSCCLC_DEVICE void recordStall(const MscclcRankArgs &args, uint32_t kind, uint32_t operation, uint32_t peer,
                               uint64_t index, uint64_t expected, uint64_t seen, uint64_t waited, bool aborted) {
  MscclcStatus *status = args.status;
  const uint64_t blockBit = uint64_t{1} << blockId() % 64;
  const bool isFirst = (fetchOrHost(&status->reported_blocks, blockBit) & blockBit) == 0;
  if (!isFirst && (kind == MSCCLC_WAIT_PACKET || kind == MSCCLC_WAIT_COUNT || (aborted && waited == 0)))
    return;
  const uint32_t slot = fetchAddHost(&status->num_stalls, 1);
  if (slot >= MSCCLC_MAX_STALLS)
    return;
  MscclcStall &stall = status->stalls[slot];
  stall.rank = args.rank;
  stall.block = blockId();
  stall.operation = operation;
  stall.peer = peer;
  stall.aborted = aborted ? 1 : 0;
  stall.index = index;
  stall.expected = expected;
  stall.seen = seen;
  stall.waited_ns = waited;
  storeHost(&stall.kind, kind);
}

/// Makes every wait of the rank give up.
MSCCLC_DEVICE void abortRank(const MscclcRankArgs &args) {
  storeHost(&args.status->abort, 1);
  giveUp(args);
}

/// Records that launches overlap, and makes the rank give up. `turn`: see `operation` at MSCCLC_OVERLAP. `expected`:
/// the number of blocks that must have finished.
MSCCLC_COLD void reportOverlap(const MscclcRankArgs &args, uint32_t turn, uint64_t launch, uint64_t expected,
                               uint64_t finished) {
  recordStall(args, MSCCLC_OVERLAP, turn, MSCCLC_UNPAIRED, launch, expected, finished, 0, false);
  abortRank(args);
}

/// Marks the launch as running, and returns the number of launches that this block has finished. No thread may access
/// memory of this device or of peers before this call: such an access would be concurrent with the earlier kernel of
/// the stream. `counted`: the number that a kernel adds to `finished`. `isInAll`: true if the block is in every launch.
/// `kernels`: the number of kernels in a launch. `number`: the number of this kernel among them.
template <uint32_t kernels = 1, uint32_t number = 0>
MSCCLC_DEVICE uint64_t beginLaunch(const MscclcRankArgs &args, uint64_t counted, bool isInAll) {
  awaitEarlierKernel();
  uint64_t *const count = &args.launches[blockId()];
  if (threadId() != 0)
    return (loadRelaxed(count) & ~launchRuns) / kernels;
  const uint64_t finished = loadRelaxed(args.finished);
  const uint64_t before = fetchOrDevice(count, launchRuns);
  const uint64_t begun = before & ~launchRuns, launch = begun / kernels;
  if (blockId() == 0)
    storeRelaxed(&args.finished[1], args.message_bytes);
  const bool overlaps = before != begun || (isInAll && finished < begun * counted);
  if (overlaps || begun % kernels != number)
    reportOverlap(args, overlaps ? 0 : number == 0 ? 2 : 1, launch, begun * counted, finished);
  return launch;
}
/// Begins a launch in a Plan whose launches all have the same blocks.
MSCCLC_DEVICE uint64_t beginLaunch(const MscclcRankArgs &args) {
  return beginLaunch(args, blockCount(), true);
}

/// Returns the packet flag of a launch: 1 + launch % (2^32 - 1). Modulo 2^32 - 1, 2^32 is equal to 1, so the two halves
/// of `launch` can be added.
MSCCLC_DEVICE uint32_t packetFlag(uint64_t launch) {
  const uint64_t halves = (launch >> 32) + static_cast<uint32_t>(launch);
  const uint32_t sum = static_cast<uint32_t>(halves >> 32) + static_cast<uint32_t>(halves);
  return sum == 0xffffffffu ? 1 : sum + 1;
}

/// Marks the launch as finished. One thread of the block calls it when all threads are done. It adds to the counter, so
/// that no thread has to keep the launch's number in registers. The addition also clears the highest bit, which
/// overflows. `weight`: how many times the block counts.
MSCCLC_DEVICE void endLaunch(const MscclcRankArgs &args, uint64_t weight = 1) {
  addDevice(&args.launches[blockId()], launchRuns + 1);
  addDevice(args.finished, weight);
  letNextKernelBegin();
}

} // namespace mscclc::device::detail
