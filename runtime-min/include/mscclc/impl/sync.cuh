// Signals, waits, semaphores and barriers. Each is done by one thread for each channel or semaphore; what it orders
// for the block's other threads, the plan's own block-wide synchronisation does.
#pragma once

namespace mscclc {
namespace dev {

constexpr unsigned pollsBetweenChecks = 1024;

/// Reports a wait that took too long, and aborts the rank.
template <class K>
MSCCLC_COLD void reportStall(const K &k, uint32_t kind, uint32_t operation, uint64_t index, uint32_t peer,
                             uint64_t expected, uint64_t seen) {
  MscclcStatus *status = k.args.status;
  const uint32_t slot = fetchAddHost(&status->num_stalls, 1);
  if (slot < MSCCLC_MAX_STALLS) {
    MscclcStall &stall = status->stalls[slot];
    stall.rank = k.args.rank;
    stall.block = static_cast<uint32_t>(k.block);
    stall.operation = operation;
    stall.peer = peer;
    stall.index = index;
    stall.expected = expected;
    stall.seen = seen;
    storeHost(&stall.kind, kind);
  }
  storeHost(&status->abort, 1);
}

/// Polls until `done()`. False if the rank was aborted meanwhile; then the wait is over all the same.
/// `report(K)` is called when the time is up.
template <class K, class Done, class Report> MSCCLC_DEVICE bool spin(const K &k, Done done, Report report) {
  if (done())
    return true;
  uint64_t deadline = 0;
  for (unsigned polls = 0;;) {
    if (done())
      return true;
    pause();
    if (++polls % pollsBetweenChecks != 0)
      continue;
    if (loadHost(&k.args.status->abort) != 0)
      return false;
    if (k.args.timeout_ns == 0)
      continue;
    const uint64_t now = nanoseconds();
    if (deadline == 0)
      deadline = now + k.args.timeout_ns;
    else if (now > deadline) {
      report();
      return false;
    }
  }
}

/// Waits for the next signal on a channel.
template <bool Relaxed, class K>
MSCCLC_DEVICE void waitChannel(const K &k, uint32_t kind, uint32_t operation, int index, const MscclcChannel &channel) {
  const uint64_t expected = loadRelaxed(channel.expected) + 1;
  spin(
      k, [&] { return (Relaxed ? loadRelaxed(channel.inbound) : loadAcquire(channel.inbound)) >= expected; },
      [&] { reportStall(k, kind, operation, index, channel.peer, expected, loadRelaxed(channel.inbound)); });
  storeRelaxed(channel.expected, expected);
  if (Relaxed)
    peerLaunchSeen(channel.peer, k.launch);
}

/// Calls f(i) for i < n, the i-s shared out to the threads.
template <class K, class F> MSCCLC_DEVICE void forOnes(const K &k, unsigned n, F f) {
  for (unsigned i = k.thread; i < n; i += k.threads)
    f(i);
}

} // namespace dev

/// Signals on memory channels: all that the block did before its last sync is visible to who waits for it.
template <class K, class L> MSCCLC_DEVICE void signal(const K &k, const L &channels) {
  dev::forOnes(k, L::size, [&](unsigned i) { dev::addRelease(k.args.memory_channels[channels(i)].outbound, 1); });
}
/// The same, ordering control but no data of this launch.
template <class K, class L> MSCCLC_DEVICE void relaxedSignal(const K &k, const L &channels) {
  dev::forOnes(k, L::size, [&](unsigned i) { dev::addRelaxed(k.args.memory_channels[channels(i)].outbound, 1); });
}

/// Waits on memory channels. `operation` is the operation's position, for reports.
template <class K, class L> MSCCLC_DEVICE void wait(const K &k, uint32_t operation, const L &channels) {
  dev::forOnes(k, L::size, [&](unsigned i) {
    const int c = channels(i);
    dev::waitChannel<false>(k, MSCCLC_WAIT_MEMORY, operation, c, k.args.memory_channels[c]);
  });
}
template <class K, class L> MSCCLC_DEVICE void relaxedWait(const K &k, uint32_t operation, const L &channels) {
  dev::forOnes(k, L::size, [&](unsigned i) {
    const int c = channels(i);
    dev::waitChannel<true>(k, MSCCLC_WAIT_MEMORY, operation, c, k.args.memory_channels[c]);
  });
}
/// Waits on port channels.
template <class K, class L> MSCCLC_DEVICE void portWait(const K &k, uint32_t operation, const L &channels) {
  dev::forOnes(k, L::size, [&](unsigned i) {
    const int c = channels(i);
    dev::waitChannel<false>(k, MSCCLC_WAIT_PORT, operation, c, k.args.port_channels[c]);
  });
}

template <class K, class L> MSCCLC_DEVICE void release(const K &k, const L &semaphores) {
  dev::forOnes(k, L::size, [&](unsigned i) { dev::addReleaseDevice(&k.args.semaphores[semaphores(i)], 1); });
}
template <class K, class L> MSCCLC_DEVICE void acquire(const K &k, uint32_t operation, const L &semaphores) {
  dev::forOnes(k, L::size, [&](unsigned i) {
    const int index = semaphores(i);
    uint32_t *value = &k.args.semaphores[index];
    dev::spin(
        k,
        [&] {
          const uint32_t seen = dev::loadAcquireDevice(value);
          return seen != 0 && dev::replaceAcquireDevice(value, seen, seen - 1);
        },
        [&] { dev::reportStall(k, MSCCLC_WAIT_SEMAPHORE, operation, index, MSCCLC_UNPAIRED, 1, 0); });
  });
}

/// Meets `blocks` blocks of the rank, and synchronises the threads of each. The counter only grows, so it needs no
/// reset: a block waits until all of its round have come.
template <class K> MSCCLC_DEVICE void barrier(const K &k, uint32_t operation, int index, unsigned blocks) {
  dev::syncBlock();
  if (k.thread == 0) {
    uint64_t *arrivals = &k.args.barriers[index];
    const uint64_t round = (dev::fetchAddDevice(arrivals, 1) / blocks + 1) * blocks;
    dev::spin(
        k, [&] { return dev::loadAcquireDevice(arrivals) >= round; },
        [&] {
          dev::reportStall(k, MSCCLC_WAIT_BARRIER, operation, index, MSCCLC_UNPAIRED, round,
                           dev::loadAcquireDevice(arrivals));
        });
  }
  dev::syncBlock();
}

} // namespace mscclc
