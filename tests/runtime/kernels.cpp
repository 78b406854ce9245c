#include "kernels.h"

#include "mscclc/device.cuh"

#include <cstring>
#include <limits>
#include <utility>

namespace testing {
namespace {

using namespace mscclc;

template <class T> T load(const T *p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
template <class T> void store(T *p, T value) {
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
}
template <class T> T fetchAdd(T *p, T value) {
  return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
}

/// One block of a launch.
struct State {
  const MscclcRankArgs &args;
  const uint32_t rank, block, part; ///< part: the number of the kernel in its launch
  const uint64_t launch;

  State(const MscclcRankArgs &a, bool isSplit, uint32_t number)
      : args(a), rank(a.rank), block(standin::position->block), part(number),
        launch(!isSplit      ? device::detail::beginLaunch(a)
               : number == 0 ? device::detail::beginLaunch<2, 0>(a, device::detail::blockCount(), true)
                             : device::detail::beginLaunch<2, 1>(a, device::detail::blockCount(), true)) {}

  uint32_t flag() const { return static_cast<uint32_t>(1 + launch % 0xffffffffu); }

  /// Polls until done(seen), as emitted kernels do.
  template <class Done> void await(const MscclcStall &about, Done done) const {
    device::detail::spin(args, {about.kind, about.operation, about.peer, about.index, about.expected}, done);
  }

  void signal(uint32_t channel) const {
    const MscclcMemoryChannel &end = args.memory_channels[channel];
    if (end.stores == 0)
      fetchAdd(end.outbound, uint64_t{1});
    else
      store(end.outbound, ++args.memory_sent[channel]);
  }
  void waitFor(uint32_t kind, uint32_t operation, uint32_t channel, uint32_t peer, const uint64_t *inbound,
               uint64_t *count) const {
    MscclcStall about{};
    about.kind = kind;
    about.operation = operation;
    about.peer = peer;
    about.index = channel;
    about.expected = *count + 1;
    await(about, [&](uint64_t &seen) { return (seen = load(inbound)) >= about.expected; });
    *count = about.expected;
  }
  void wait(uint32_t channel, uint32_t operation) const {
    waitFor(MSCCLC_WAIT_MEMORY, operation, channel, args.memory_channels[channel].peer, &args.memory_inbound[channel],
            &args.memory_expected[channel]);
  }
  void portWait(uint32_t channel, uint32_t operation) const {
    const MscclcPortChannel &end = args.port_channels[channel];
    waitFor(MSCCLC_WAIT_PORT, operation, channel, end.peer, end.inbound, end.expected);
  }

  /// Sends a request to the proxy. Waits for its flush if it has one.
  void request(const MscclcTrigger &wanted, uint32_t operation) const {
    const MscclcFifo &fifo = args.fifo;
    const MscclcPortChannel &end = args.port_channels[wanted.channel];
    const uint64_t number = fetchAdd(fifo.head, uint64_t{1});
    MscclcStall about{};
    about.kind = MSCCLC_WAIT_FIFO;
    about.peer = MSCCLC_UNPAIRED;
    about.operation = operation;
    await(about, [&](uint64_t &seen) { return number < (seen = load(fifo.tail)) + fifo.capacity; });
    if (load(&args.status->abort) != 0)
      return;
    MscclcTrigger *slot = &fifo.slots[number % fifo.capacity];
    // Everything except the sequence, which the proxy reads at the same time.
    slot->size = wanted.size;
    slot->src_offset = wanted.src_offset;
    slot->dst_offset = wanted.dst_offset;
    slot->channel = wanted.channel;
    slot->src_memory = wanted.src_memory;
    slot->dst_memory = wanted.dst_memory;
    slot->flags = wanted.flags;
    store(&slot->sequence, number + 1);
    if ((wanted.flags & MSCCLC_TRIGGER_FLUSH) == 0)
      return;
    about.kind = MSCCLC_WAIT_FLUSH;
    about.peer = end.peer;
    about.expected = ++*end.flush_requests;
    await(about, [&](uint64_t &seen) { return (seen = load(end.flushes_done)) >= about.expected; });
  }

  void acquire(uint32_t semaphore) const {
    MscclcStall about{};
    about.kind = MSCCLC_WAIT_SEMAPHORE;
    about.peer = MSCCLC_UNPAIRED;
    about.index = semaphore;
    uint32_t *value = &args.semaphores[semaphore];
    await(about, [&](uint64_t &) {
      uint32_t seen = load(value);
      return seen != 0 &&
             __atomic_compare_exchange_n(value, &seen, seen - 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    });
  }
  void release(uint32_t semaphore) const { fetchAdd(&args.semaphores[semaphore], 1u); }

  void barrier(uint32_t index, uint32_t blocks) const {
    MscclcStall about{};
    about.kind = MSCCLC_WAIT_BARRIER;
    about.peer = MSCCLC_UNPAIRED;
    about.index = index;
    about.expected = (fetchAdd(&args.barriers[index], uint64_t{1}) / blocks + 1) * blocks;
    await(about, [&](uint64_t &seen) { return (seen = load(&args.barriers[index])) >= about.expected; });
  }

  void finish() const { device::detail::endLaunch(args); }
};

MscclcTrigger trigger(uint32_t channel, uint8_t flags) {
  MscclcTrigger t{};
  t.channel = channel;
  t.flags = flags;
  return t;
}

/// Returns the number of the i-th other rank; the next function returns this rank's index among the others of a peer.
uint32_t other(uint32_t rank, uint32_t i) {
  return i + (i >= rank ? 1 : 0);
}
uint32_t placeAt(uint32_t peer, uint32_t rank) {
  return rank - (rank > peer ? 1 : 0);
}

char *at(void *base, uint64_t offset) {
  return static_cast<char *>(base) + offset;
}

// Defaults for all programs. Each program overrides what it needs.
struct Program {
  static constexpr uint32_t flags = 0, blocks = 1, channels = 0, ports = 0, semaphores = 0, barriers = 0;
  static constexpr uint32_t dtype = MSCCLC_ANY_DTYPE, reduceOp = MSCCLC_NO_REDUCE, packet = MSCCLC_NO_PACKET;
  static constexpr const char *collective = "test";
  static constexpr uint32_t shares(uint32_t ranks) { return ranks; }
  static uint64_t inputBytes(uint32_t, uint64_t message) { return message; }
  static uint64_t outputBytes(uint32_t, uint64_t message) { return message; }
  static uint64_t scratchBytes(uint64_t) { return 0; }
  static void channelInfo(uint32_t, uint32_t, uint32_t, MscclcChannelInfo *info) { *info = {0, MSCCLC_UNPAIRED}; }
  static uint32_t semaphoreValue(uint32_t) { return 0; }
  /// The kernels of a launch, in their order.
  static std::vector<uint32_t> partsOf(const MscclcRankArgs &) { return {0}; }
  /// Where waits stand; a kernel by hand need not say it.
  static constexpr decltype(MscclcKernel::wait_info) waitInfo = nullptr;
};

template <class P> struct Describe {
  static int32_t launch(const MscclcRankArgs *args, uint32_t, void *stream) {
    std::vector<MscclcBuffers> buffers(args->buffers, args->buffers + P::ranks); // the launch's own
    std::vector<MscclcMemoryChannel> channels(args->memory_channels, args->memory_channels + P::channels);
    for (const uint32_t part : P::partsOf(*args))
      static_cast<standin::Stream *>(stream)->launch(P::blocks, 1, [given = *args, buffers, channels, part] {
        MscclcRankArgs copy = given;
        copy.buffers = buffers.data();
        copy.memory_channels = channels.data();
        const State state(copy, (P::flags & MSCCLC_SPLIT) != 0, part);
        P::run(state);
        state.finish();
      });
    return MSCCLC_OK;
  }
  static int32_t residentBlocks(uint32_t, uint32_t *blocks) {
    *blocks = MSCCLC_ON_HOST;
    return MSCCLC_OK;
  }
  static void rankInfo(uint32_t, MscclcRankInfo *info) {
    *info = {};
    info->blocks = P::blocks;
    info->memory_channels = P::channels;
    info->port_channels = P::ports;
    info->semaphores = P::semaphores;
    info->barriers = P::barriers;
  }
  static uint64_t stride(uint64_t message, uint64_t /*rowBytes*/) { return (message + 15) / 16 * 16; }

  static const MscclcKernel &kernel() {
    static const MscclcVariant variant = {P::dtype, P::reduceOp, P::packet, 0, launch, residentBlocks};
    static const MscclcKernel description = [] {
      MscclcKernel k{};
      k.abi_magic = MSCCLC_ABI_MAGIC;
      k.abi_version = MSCCLC_ABI_VERSION;
      k.name = P::name;
      k.collective = P::collective;
      k.tool = "by hand";
      k.source = "kernels.cpp";
      k.switches = "";
      k.ranks = P::ranks;
      k.flags = P::flags;
      k.threads = 1;
      k.max_blocks = P::blocks;
      k.message_shares = P::shares(P::ranks);
      k.max_message_bytes = std::numeric_limits<uint64_t>::max();
      k.buffer_alignment = 16;
      k.num_variants = 1;
      k.variants = &variant;
      k.input_bytes = P::inputBytes;
      k.output_bytes = P::outputBytes;
      k.useful_threads = [](uint64_t, uint32_t) { return uint32_t{1}; };
      k.scratch_stride = stride;
      k.scratch_bytes = P::scratchBytes;
      k.rank_info = rankInfo;
      k.channel_info = P::channelInfo;
      k.semaphore_value = [](uint32_t, uint32_t index) { return P::semaphoreValue(index); };
      k.wait_info = P::waitInfo;
      return k;
    }();
    return description;
  }
};

template <uint32_t N> struct Gather : Program {
  static constexpr uint32_t ranks = N, channels = N - 1, flags = MSCCLC_IN_PLACE;
  static constexpr const char *name = N == 4 ? "gather4" : N == 8 ? "gather8" : "gather72";
  static constexpr const char *collective = "allgather";
  static uint64_t inputBytes(uint32_t, uint64_t message) { return message / N; }
  static void channelInfo(uint32_t rank, uint32_t, uint32_t i, MscclcChannelInfo *info) {
    *info = {other(rank, i), placeAt(other(rank, i), rank)};
  }
  static void gather(const State &s, bool leaveOut) {
    for (uint32_t i = 0; i < channels; ++i)
      s.signal(i);
    for (uint32_t i = 0; i < channels; ++i)
      s.wait(i, 0);
    const uint64_t share = s.args.message_bytes / N;
    for (uint32_t i = 0; i < channels; ++i)
      if (const uint32_t peer = other(s.rank, i); !leaveOut || s.rank != 0 || peer != 3)
        std::memcpy(at(s.args.buffers[peer].output, s.rank * share), s.args.buffers[s.rank].input, share);
    for (uint32_t i = 0; i < channels; ++i)
      s.signal(i);
    for (uint32_t i = 0; i < channels; ++i)
      s.wait(i, 1);
  }
  static void run(const State &s) { gather(s, false); }
  static void waitInfo(uint32_t, uint32_t, uint32_t operation, uint32_t, MscclcWaitInfo *info) {
    *info = {"wait", operation == 0 ? "gather.cpp:10" : "gather.cpp:20", MSCCLC_UNPAIRED};
  }
};
struct Wrong : Gather<4> {
  static constexpr const char *name = "wrong4";
  static void run(const State &s) { gather(s, true); }
};

struct Sized : Gather<4> {
  static constexpr uint32_t flags = 0;
  static constexpr const char *name = "sized4", *collective = "test";
  static void run(const State &s) {
    for (uint64_t at = 0; at < s.args.message_bytes; at += 1024) {
      for (uint32_t i = 0; i < channels; ++i)
        s.signal(i);
      for (uint32_t i = 0; i < channels; ++i)
        s.wait(i, 0);
    }
  }
};

struct Packets : Program {
  static constexpr uint32_t ranks = 4, flags = MSCCLC_USES_PACKETS | MSCCLC_DOUBLE_SCRATCH;
  static constexpr uint32_t dtype = MSCCLC_F32, reduceOp = MSCCLC_SUM, packet = MSCCLC_LL8;
  static constexpr const char *name = "packets4", *collective = "allreduce";
  static constexpr uint32_t shares(uint32_t) { return 1; }
  static uint64_t scratchBytes(uint64_t stride) { return ranks * stride * 2 * 2; }
  static void run(const State &s) {
    const uint64_t words = s.args.message_bytes / 4, slot = s.args.scratch_stride * 2;
    const uint64_t half = s.launch % 2 * ranks * slot;
    const auto packetAt = [&](uint32_t owner, uint32_t from, uint64_t i) {
      return reinterpret_cast<uint64_t *>(at(s.args.buffers[owner].scratch, half + from * slot + i * 8));
    };
    const auto *input = static_cast<const uint32_t *>(s.args.buffers[s.rank].input);
    for (uint32_t peer = 0; peer < ranks; ++peer)
      for (uint64_t i = 0; i < words; ++i)
        store(packetAt(peer, s.rank, i), uint64_t{s.flag()} << 32 | input[i]);
    auto *output = static_cast<float *>(s.args.buffers[s.rank].output);
    for (uint64_t i = 0; i < words; ++i) {
      float sum = 0;
      for (uint32_t peer = 0; peer < ranks; ++peer) {
        MscclcStall about{};
        about.kind = MSCCLC_WAIT_PACKET;
        about.expected = 1;
        about.peer = peer;
        uint64_t packet = 0;
        s.await(about, [&](uint64_t &) { return (packet = load(packetAt(s.rank, peer, i))) >> 32 == s.flag(); });
        const auto word = static_cast<uint32_t>(packet);
        float value = 0;
        std::memcpy(&value, &word, sizeof(value));
        sum += value;
      }
      output[i] = sum;
    }
  }
  static void waitInfo(uint32_t, uint32_t, uint32_t, uint32_t operand, MscclcWaitInfo *info) {
    *info = {"rpkt", "packets.cpp:30", operand};
  }
};

struct Ports : Program {
  static constexpr uint32_t ranks = 4, ports = 2, flags = MSCCLC_NEEDS_PORT; // to the next, and to the previous rank
  static constexpr const char *name = "ports4", *collective = "sendrecv";
  static constexpr uint32_t shares(uint32_t) { return 1; }
  static void channelInfo(uint32_t rank, uint32_t, uint32_t i, MscclcChannelInfo *info) {
    *info = {(rank + (i == 0 ? 1 : ranks - 1)) % ranks, 1 - i};
  }
  static void run(const State &s) {
    s.request(trigger(1, MSCCLC_TRIGGER_SIGNAL), 0);
    s.portWait(0, 1);
    const uint64_t bytes = s.args.message_bytes;
    for (uint64_t at = 0; at < bytes; at += 16) {
      MscclcTrigger put = trigger(0, at % 1024 == 0 ? MSCCLC_TRIGGER_FLUSH : 0);
      const MscclcPlace &from = s.args.fifo.places[MSCCLC_INPUT], &to = s.args.fifo.places[MSCCLC_OUTPUT];
      put.src_memory = from.memory;
      put.dst_memory = to.memory;
      put.src_offset = from.offset + at;
      put.dst_offset = to.offset + at;
      put.size = bytes - at < 16 ? bytes - at : 16;
      s.request(put, 2);
    }
    s.request(trigger(0, MSCCLC_TRIGGER_SIGNAL), 3);
    s.portWait(1, 4);
  }
};

struct Turns : Program {
  static constexpr uint32_t ranks = 2, blocks = 2, semaphores = 2, barriers = 1;
  static constexpr const char *name = "turns2";
  static uint64_t inputBytes(uint32_t, uint64_t) { return 0; }
  static uint64_t scratchBytes(uint64_t stride) { return stride; }
  static uint32_t semaphoreValue(uint32_t index) { return index == 0 ? 1 : 0; }
  static void run(const State &s) {
    auto *counter = static_cast<uint32_t *>(s.args.buffers[s.rank].scratch);
    for (uint32_t turn = 0; turn < 10; ++turn) {
      s.acquire(s.block);
      *counter = *counter * 3 + s.block;
      s.release(1 - s.block);
    }
    s.barrier(0, 2);
    if (s.block == 0)
      std::memcpy(s.args.buffers[s.rank].output, counter, sizeof(*counter));
  }
};

struct Stuck : Program {
  static constexpr uint32_t ranks = 2, channels = 1;
  static constexpr const char *name = "stuck2";
  static void channelInfo(uint32_t rank, uint32_t, uint32_t, MscclcChannelInfo *info) { *info = {1 - rank, 0}; }
  static void waitInfo(uint32_t, uint32_t, uint32_t, uint32_t, MscclcWaitInfo *info) {
    *info = {"wait", "stuck.cpp:12", MSCCLC_UNPAIRED};
  }
  static void run(const State &s) {
    if (s.rank == 0 && s.args.message_bytes > 64)
      s.signal(0);
    if (s.rank == 1)
      s.wait(0, 7);
  }
};

struct Halves : Program {
  static constexpr uint32_t ranks = 2, channels = 1, flags = MSCCLC_SPLIT;
  static constexpr const char *name = "halves2";
  static void channelInfo(uint32_t rank, uint32_t, uint32_t, MscclcChannelInfo *info) { *info = {1 - rank, 0}; }
  static std::vector<uint32_t> partsOf(const MscclcRankArgs &args) {
    if (args.message_bytes > 64)
      return {1, 0};
    return (args.flags & MSCCLC_ONLY_SEND) != 0      ? std::vector<uint32_t>{0}
           : (args.flags & MSCCLC_ONLY_RECEIVE) != 0 ? std::vector<uint32_t>{1}
                                                     : std::vector<uint32_t>{0, 1};
  }
  static void run(const State &s) {
    if (s.part == 0)
      s.signal(0);
    else
      s.wait(0, 3);
  }
};

struct Starved : Program {
  static constexpr uint32_t ranks = 1, semaphores = 1;
  static constexpr const char *name = "starved1";
  static void run(const State &s) {
    if (s.args.message_bytes > 64)
      s.acquire(0);
  }
};

} // namespace

const MscclcKernel &gather4() {
  return Describe<Gather<4>>::kernel();
}
const MscclcKernel &gather72() {
  return Describe<Gather<72>>::kernel();
}
const MscclcKernel &gather8() {
  return Describe<Gather<8>>::kernel();
}
const MscclcKernel &wrong4() {
  return Describe<Wrong>::kernel();
}
const MscclcKernel &sized4() {
  return Describe<Sized>::kernel();
}
const MscclcKernel &packets4() {
  return Describe<Packets>::kernel();
}
const MscclcKernel &ports4() {
  return Describe<Ports>::kernel();
}
const MscclcKernel &turns2() {
  return Describe<Turns>::kernel();
}
const MscclcKernel &stuck2() {
  return Describe<Stuck>::kernel();
}
const MscclcKernel &halves2() {
  return Describe<Halves>::kernel();
}
const MscclcKernel &starved1() {
  return Describe<Starved>::kernel();
}

} // namespace testing
