// Begins and ends a block's launch, and reports failures.
//
// Launches of one instance share counters, scratch and buffers, so they must follow each other on each rank. The
// launcher orders the launches that it starts. Whoever replays a graph must order the replays. This file detects
// launches that overlap in spite of that:
//
// - `launches[b]` counts the launches that block b has finished. Its highest bit is set while a launch of b runs.
// - `finished` counts the blocks that have finished a launch.
//
// A block begins launch number n. If its bit is already set, another launch of this block is running. If fewer than n *
// blocks blocks have finished, a block of an earlier launch is still running. Example with 4 blocks: a block begins its
// launch number 2, so 8 blocks must have finished; 7 mean an overlap.
//
// If launches of other sizes take more instances, a block that has finished counts as so many times as there are
// instances for each one of its launch. So each launch counts equally much. Only the blocks of instance 0 are in every
// launch, so their numbers count all launches. The other blocks check their bit alone.
//
// Where a launch is two kernels (KernelPart in layout.cuh), `launches` and `finished` count kernels, so the same holds
// for these. An odd number in `launches[b]` says that the kernel that receives is due. Any other kernel then begins out
// of turn.
//
// Every overlap is detected. Let L be the later one of two launches that overlap, and b the first block of L that
// begins. A device begins the blocks of a launch in the order of their index and holds them all. So b is block 0, which
// is of instance 0, and all blocks of the earlier launch have begun. If block b of the earlier launch still runs, its
// bit is set. If it has finished, b counts that launch in its n, but not all blocks of that launch have finished.
//
// Both words are read in one round trip to memory, so the check costs no more time than reading the count alone.
#pragma once

namespace mscclc::device::detail {

constexpr uint64_t launchRuns = uint64_t{1} << 63; ///< the bit in MscclcRankArgs::launches that says that a launch runs

/// Records for the rank's blocks that a wait has given up, so that no output is copied.
MSCCLC_DEVICE void giveUp(const MscclcRankArgs &args) {
  if (args.staging.output != nullptr || args.index.work != nullptr)
    storeRelaxed(&args.staging_state[1], 1);
}

/// Records a wait that takes too long, or another reason to give up. Threads of a block wait for packets or counts of
/// the same ranks, so only the first one records. `waited`: nanoseconds, or 0 if the abort came before the wait began.
/// If the block has given up before, such a wait is only a consequence and is not recorded. The function is inlined
/// into its callers, because a function that calls another one keeps registers for both.
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

/// Writes down that launches overlap, and makes the rank give up. `turn`: see MSCCLC_OVERLAP. `expected`: the blocks
/// that must have finished.
MSCCLC_COLD void reportOverlap(const MscclcRankArgs &args, uint32_t turn, uint64_t launch, uint64_t expected,
                               uint64_t finished) {
  recordStall(args, MSCCLC_OVERLAP, turn, MSCCLC_UNPAIRED, launch, expected, finished, 0, false);
  abortRank(args);
}

/// Marks the launch as running, and returns the number of launches of this block before it. No thread accesses memory
/// of this device or of peers before: such an access would be concurrent with the earlier kernel of the stream.
/// `counted`: what a kernel adds to `finished`. `isInAll`: the block is in every launch. `kernels`: those of a launch.
/// `number`: which of them this is.
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
/// Does the same where all launches have the same blocks.
MSCCLC_DEVICE uint64_t beginLaunch(const MscclcRankArgs &args) {
  return beginLaunch(args, blockCount(), true);
}

/// Returns the packet flag of a launch: 1 + launch % (2^32 - 1). Modulo 2^32 - 1, 2^32 is 1, so the two halves of
/// `launch` are added.
MSCCLC_DEVICE uint32_t packetFlag(uint64_t launch) {
  const uint64_t halves = (launch >> 32) + static_cast<uint32_t>(launch);
  const uint32_t sum = static_cast<uint32_t>(halves >> 32) + static_cast<uint32_t>(halves);
  return sum == 0xffffffffu ? 1 : sum + 1;
}

/// Marks the launch as finished. One thread of the block calls it when all threads are done. It adds to the count, so
/// that no thread has to keep the launch's number in registers. The bit, added to itself, is carried out of the word.
/// `weight`: what the block counts as.
MSCCLC_DEVICE void endLaunch(const MscclcRankArgs &args, uint64_t weight = 1) {
  addDevice(&args.launches[blockId()], launchRuns + 1);
  addDevice(args.finished, weight);
  letNextKernelBegin();
}

} // namespace mscclc::device::detail
