// Signals, waits, semaphores and barriers. One thread handles each channel or semaphore. The plan's block-wide
// synchronisation extends the order to the other threads of the block.
#pragma once

namespace mscclc::device {
namespace detail {

/// The description of a wait, for a report if the wait takes too long.
struct WaitInfo {
  uint32_t kind; ///< MscclcWaitKind
  uint32_t operation;
  uint32_t peer;
  uint64_t index;
  uint64_t expected;
};

/// Decides whether a wait goes on. A wait calls it now and then until it is complete. `memo` is the result of the last
/// call, or 0 at the first call. Returns 0 if the wait must give up, because the rank is aborted or the time limit has
/// passed. Both are reported. A wait that goes on is reported each time it has lasted another
/// MscclcRankArgs::report_ms. All arguments are passed by value, so that the state of a wait stays in registers.
///
/// The memo is the time at which the wait began, in nanoseconds, with the number of its reports in the lowest 16 bits.
MSCCLC_COLD uint64_t keepWaiting(const MscclcRankArgs &args, uint32_t kind, uint32_t operation, uint32_t peer,
                                 uint64_t index, uint64_t expected, uint64_t seen, uint64_t memo) {
  constexpr uint64_t mostReports = 0xffff;
  const uint64_t now = nanoseconds();
  const bool isFirst = memo == 0;
  if (isFirst)
    memo = (now | mostReports) ^ mostReports;
  const uint64_t reports = memo & mostReports, waited = now - (memo ^ reports);
  const bool aborted = loadHost(&args.status->abort) != 0, isOver = args.timeout_ns != 0 && waited > args.timeout_ns;
  const uint64_t period = uint64_t{args.report_ms} * 1000000;
  if (!aborted && !isOver && (period == 0 || reports == mostReports || waited <= (reports + 1) * period))
    return memo;
  recordStall(args, kind, operation, peer, index, expected, seen, aborted && isFirst ? 0 : waited, aborted);
  if (!aborted && !isOver)
    return memo + 1;
  aborted ? giveUp(args) : abortRank(args);
  return 0;
}

/// The default for `look` in spin(): polls already store everything that a report needs.
struct SawAll {
  MSCCLC_DEVICE void operator()(uint64_t &) const {}
};

/// Polls until done(seen) is true. done() stores in `seen` what it saw. If it does not, look(seen) does so before a
/// report. Returns false if the wait gives up. keepWaiting() is called between loops of polls, not inside one. So
/// during the call, no register holds the number of polls, or the mask of threads that would meet again after a branch
/// in the loop.
template <class Done, class Look = SawAll>
MSCCLC_DEVICE bool spin(const MscclcRankArgs &args, const WaitInfo &info, Done done, Look look = {}) {
  uint64_t memo = 0, seen = 0;
  do {
    MSCCLC_NO_UNROLL
    for (unsigned polls = 0; polls < pollsBetweenChecks; ++polls) {
      if (done(seen))
        return true;
      pause();
    }
    look(seen);
    memo = keepWaiting(args, info.kind, info.operation, info.peer, info.index, info.expected, seen, memo);
  } while (memo != 0);
  return false;
}

/// Must be called after a wait. In a kernel that uses a multicast mapping, it orders earlier accesses by one kind of
/// address before later accesses by the other kind. The thread that waits is on every path between them.
template <class K> MSCCLC_DEVICE void orderAliases() {
  if constexpr ((K::Plan::flags & MSCCLC_USES_MULTICAST) != 0)
    fenceAliases();
}

/// Waits for the next signal of a channel. `inbound` is the counter of its signals, and `count` is the counter of its
/// waits.
template <class K> MSCCLC_DEVICE void waitSignal(const K &k, WaitInfo info, const uint64_t *inbound, uint64_t *count) {
  const uint64_t expected = info.expected = loadRelaxed(count) + 1;
  spin(k.args, info, [&](uint64_t &seen) {
    seen = loadAcquire(inbound);
    return seen >= expected;
  });
  storeRelaxed(count, expected);
  orderAliases<K>();
}

/// Counts one arrival, and waits until all blocks of the round have arrived. The counter only grows, so it needs no
/// reset. `weight`: how many times a block counts. `blocks`: the sum of the weights of all blocks.
MSCCLC_DEVICE void arriveAndWait(const MscclcRankArgs &args, WaitInfo info, uint64_t *arrivals, unsigned blocks,
                                 unsigned weight = 1) {
  info.expected = (fetchAddDevice(arrivals, weight) / blocks + 1) * blocks;
  spin(args, info, [&](uint64_t &seen) {
    seen = loadAcquireDevice(arrivals);
    return seen >= info.expected;
  });
}

/// Calls f(i) for each i < `n`. The threads share the calls, and the last thread takes the first call. Thread 0, and so
/// its warp, first waits for the counters of launches (begin.cuh). Signals of other warps leave earlier.
template <class K, class F> MSCCLC_DEVICE void forOnes(const K &k, unsigned n, F f) {
  for (unsigned i = k.threads - 1 - k.thread; i < n; i += k.threads)
    f(i);
}

template <bool Release, class K, class L> MSCCLC_DEVICE void signalAll(const K &k, const L &channels) {
  forOnes(k, L::size, [&](unsigned i) {
    const int number = k.number(channels(i));
    const MscclcMemoryChannel &channel = k.memoryChannel(number);
    raise<Release>(channel.outbound, channel.stores != 0, &k.args.memory_sent[number]);
  });
}
/// Waits on memory channels. After each wait, calls seen(peer).
template <class K, class L, class Seen>
MSCCLC_DEVICE void waitAll(const K &k, uint32_t operation, const L &channels, Seen seen) {
  forOnes(k, L::size, [&](unsigned i) {
    const int number = k.number(channels(i));
    const uint32_t peer = k.memoryChannel(number).peer;
    waitSignal(k, {MSCCLC_WAIT_MEMORY, operation, peer, static_cast<uint64_t>(number), 0},
               &k.args.memory_inbound[number], &k.args.memory_expected[number]);
    seen(peer);
  });
}

} // namespace detail

/// Signals on memory channels. A peer that waits for the signal sees everything that happened before the block's last
/// sync.
template <class K, class L> MSCCLC_DEVICE void signal(const K &k, const L &channels) {
  detail::signalAll<true>(k, channels);
}
/// Signals on memory channels, without release. The block must not have read or written data in this launch before: the
/// signal orders launches, but no data of this launch.
template <class K, class L> MSCCLC_DEVICE void relaxedSignal(const K &k, const L &channels) {
  detail::signalAll<false>(k, channels);
}

/// Waits on memory channels. `operation` is the position of the operation in the block's program, for reports.
template <class K, class L> MSCCLC_DEVICE void wait(const K &k, uint32_t operation, const L &channels) {
  detail::waitAll(k, operation, channels, [](uint32_t) {});
}
/// Waits for relaxed signals. They say that peers have begun their launch, or have read data that may now be
/// overwritten. Later operations read or write peers' memory. So these waits acquire, too: everything that peers and
/// their users did before the signal is ordered before the later operations. In PTX, a control dependency alone orders
/// nothing, and the end of a kernel publishes only to its own device.
template <class K, class L> MSCCLC_DEVICE void relaxedWait(const K &k, uint32_t operation, const L &channels) {
  detail::waitAll(k, operation, channels, [&](uint32_t peer) { detail::peerLaunchSeen(peer, k.launch); });
}

/// Raises semaphores by 1, with release.
template <class K, class L> MSCCLC_DEVICE void release(const K &k, const L &semaphores) {
  detail::forOnes(k, L::size,
                  [&](unsigned i) { detail::addReleaseDevice(&k.args.semaphores[k.number(semaphores(i))], 1); });
}
template <class K, class L> MSCCLC_DEVICE void acquire(const K &k, uint32_t operation, const L &semaphores) {
  detail::forOnes(k, L::size, [&](unsigned i) {
    const int index = k.number(semaphores(i));
    uint32_t *value = &k.args.semaphores[index];
    detail::spin(k.args, {MSCCLC_WAIT_SEMAPHORE, operation, MSCCLC_UNPAIRED, static_cast<uint64_t>(index), 1},
                 [&](uint64_t &) {
                   const uint32_t seen = detail::loadAcquireDevice(value);
                   return seen != 0 && detail::replaceAcquireDevice(value, seen, seen - 1);
                 });
    detail::orderAliases<K>();
  });
}

/// Waits until `blocks` blocks of the rank have arrived at the barrier, and synchronises the threads of each block.
template <class K> MSCCLC_DEVICE void barrier(const K &k, uint32_t operation, int index, unsigned blocks) {
  detail::syncBlock();
  if (k.thread == 0) {
    index = k.number(index);
    detail::arriveAndWait(k.args, {MSCCLC_WAIT_BARRIER, operation, MSCCLC_UNPAIRED, static_cast<uint64_t>(index), 0},
                          &k.args.barriers[index], blocks);
    detail::orderAliases<K>();
  }
  detail::syncBlock();
}

} // namespace mscclc::device
