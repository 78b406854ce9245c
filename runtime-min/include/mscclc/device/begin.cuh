// How a block begins its launch and ends it, and how it says what went wrong.
//
// Launches of one instance share counters, scratch and buffers, so on each rank they follow each other. The launcher
// orders those that it starts; whoever replays a graph orders the replays. What is not ordered is noticed here:
//
// - `launches[b]` counts the launches that block b has finished. Its highest bit is set while one runs.
// - `finished` counts the blocks that have finished a launch.
//
// A block begins launch number n. If its bit is set already, another launch of the block runs. If fewer than n * blocks
// blocks have finished, some block of an earlier launch runs still. Let L be the later of two launches that overlap,
// and b its first block that begins. All blocks of the earlier launch have begun before, as a device begins the blocks
// of a launch in the order of their index and holds them all. Either block b of the earlier launch runs: then the bit
// is set. Or it has finished: then b counts that launch in its n, and not all blocks of it have finished.
//
// Both words come with one round trip to memory, as the count alone would.
#pragma once

namespace mscclc::device::detail {

constexpr uint64_t launchRuns = uint64_t{1} << 63; ///< in MscclcRankArgs::launches

/// Tells the rank's blocks that a wait has given up, so that no output is copied.
MSCCLC_DEVICE void giveUp(const MscclcRankArgs &args) {
  if (args.staging.output != nullptr)
    storeRelaxed(&args.staging_state[1], 1);
}

/// Writes down a wait that takes too long, or another reason to give up. Of a block's threads that wait for packets the
/// first one does, as they wait for the same ranks. `waited`: nanoseconds; 0: an abort was there when the wait was
/// first asked. In a block that has given up before, such a wait only comes of that.
MSCCLC_COLD void recordStall(const MscclcRankArgs &args, uint32_t kind, uint32_t operation, uint32_t peer,
                             uint64_t index, uint64_t expected, uint64_t seen, uint64_t waited, bool aborted) {
  MscclcStatus *status = args.status;
  const uint64_t blockBit = uint64_t{1} << blockId() % 64;
  const bool isFirst = (fetchOrHost(&status->reported_blocks, blockBit) & blockBit) == 0;
  if (!isFirst && (kind == MSCCLC_WAIT_PACKET || (aborted && waited == 0)))
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

/// Launches of this block before this one.
MSCCLC_DEVICE uint64_t beginLaunch(const MscclcRankArgs &args) {
  uint64_t *const count = &args.launches[blockId()];
  if (threadId() != 0)
    return loadRelaxed(count) & ~launchRuns;
  const uint64_t finished = loadRelaxed(args.finished);
  const uint64_t before = fetchOrDevice(count, launchRuns);
  const uint64_t launch = before & ~launchRuns;
  if (blockId() == 0)
    storeRelaxed(&args.finished[1], args.message_bytes);
  if (before != launch || finished < launch * blockCount()) {
    recordStall(args, MSCCLC_OVERLAP, 0, MSCCLC_UNPAIRED, launch, launch * blockCount(), finished, 0, false);
    abortRank(args);
  }
  return launch;
}

/// By one thread of the block, when all of them are done.
MSCCLC_DEVICE void endLaunch(const MscclcRankArgs &args, uint64_t launch) {
  storeRelaxed(&args.launches[blockId()], launch + 1);
  countDevice(args.finished);
}

} // namespace mscclc::device::detail
