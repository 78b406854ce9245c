#include "kernels.h"

#include "mscclc/device.cuh"

#include <cstring>
#include <limits>

namespace testing {
namespace {

using namespace mscclc;

/// What the device functions want of a kernel's state.
struct State {
  const MscclcRankArgs &args;
  int block;
  uint64_t launch;

  explicit State(const MscclcRankArgs &a)
      : args(a), block(static_cast<int>(dev::blockId())), launch(dev::loadRelaxed(&a.launch->launches)) {}

  uint32_t flag() const { return static_cast<uint32_t>(1 + launch % 0xffffffffu); }
  void signal(uint32_t channel) const { dev::addRelease(args.memory_channels[channel].outbound, 1); }
  void wait(uint32_t channel, uint32_t operation) const {
    dev::waitChannel<false>(*this, MSCCLC_WAIT_MEMORY, operation, static_cast<int>(channel),
                            args.memory_channels[channel]);
  }
  /// As the last block to finish would, for one block or several.
  void finish() const {
    if (dev::fetchAddDevice(&args.launch->blocks_done, 1) + 1 == dev::blockCount()) {
      dev::storeRelaxed(&args.launch->blocks_done, 0);
      dev::storeRelaxed(&args.launch->launches, launch + 1);
    }
  }
};

/// Rank of the i-th other rank, and this one's place among those of a peer.
uint32_t other(uint32_t rank, uint32_t i) {
  return i + (i >= rank ? 1 : 0);
}
uint32_t placeAt(uint32_t peer, uint32_t rank) {
  return rank - (rank > peer ? 1 : 0);
}

char *at(void *base, uint64_t offset) {
  return static_cast<char *>(base) + offset;
}

// Defaults of a program; each one overrides what it needs.
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
};

template <class P> struct Describe {
  static int32_t launch(const MscclcRankArgs *args, uint32_t, void *stream) {
    static_cast<standin::Stream *>(stream)->launch(P::blocks, 1, [copy = *args] {
      const State state(copy);
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
  static uint64_t stride(uint64_t message) { return (message + 15) / 16 * 16; }

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
      k.scratch_stride = stride;
      k.scratch_bytes = P::scratchBytes;
      k.rank_info = rankInfo;
      k.channel_info = P::channelInfo;
      k.semaphore_value = [](uint32_t, uint32_t index) { return P::semaphoreValue(index); };
      return k;
    }();
    return description;
  }
};

template <uint32_t N> struct Gather : Program {
  static constexpr uint32_t ranks = N, channels = N - 1, flags = MSCCLC_IN_PLACE;
  static constexpr const char *name = N == 4 ? "gather4" : "gather8";
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
      if (const uint32_t peer = other(s.args.rank, i); !leaveOut || s.args.rank != 0 || peer != 3)
        std::memcpy(at(s.args.buffers[peer].output, s.args.rank * share), s.args.buffers[s.args.rank].input, share);
    for (uint32_t i = 0; i < channels; ++i)
      s.signal(i);
    for (uint32_t i = 0; i < channels; ++i)
      s.wait(i, 1);
  }
  static void run(const State &s) { gather(s, false); }
};
struct Wrong : Gather<4> {
  static constexpr const char *name = "wrong4";
  static void run(const State &s) { gather(s, true); }
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
    const auto *input = static_cast<const uint32_t *>(s.args.buffers[s.args.rank].input);
    for (uint32_t peer = 0; peer < ranks; ++peer)
      for (uint64_t i = 0; i < words; ++i)
        dev::storePacket8(at(s.args.buffers[peer].scratch, half + s.args.rank * slot + i * 8), input[i], s.flag());
    auto *output = static_cast<float *>(s.args.buffers[s.args.rank].output);
    for (uint64_t i = 0; i < words; ++i) {
      float sum = 0;
      for (uint32_t peer = 0; peer < ranks; ++peer) {
        uint32_t data = 0, flag = 0;
        const uint64_t place = half + peer * slot + i * 8;
        dev::spin(
            s,
            [&] {
              dev::loadPacket8(at(s.args.buffers[s.args.rank].scratch, place), data, flag);
              return flag == s.flag();
            },
            [&] { dev::reportStall(s, MSCCLC_WAIT_PACKET, 1, place, MSCCLC_UNPAIRED, s.flag(), flag); });
        sum += dev::bitCast<float>(data);
      }
      output[i] = sum;
    }
  }
};

struct Ports : Program {
  static constexpr uint32_t ranks = 4, ports = 2, flags = MSCCLC_NEEDS_PORT; // to the next, and to the previous rank
  static constexpr const char *name = "ports4", *collective = "sendrecv";
  static constexpr uint32_t shares(uint32_t) { return 1; }
  static void channelInfo(uint32_t rank, uint32_t, uint32_t i, MscclcChannelInfo *info) {
    *info = {(rank + (i == 0 ? 1 : ranks - 1)) % ranks, 1 - i};
  }
  static void wait(const State &s, int channel, uint32_t operation) {
    dev::waitChannel<false>(s, MSCCLC_WAIT_PORT, operation, channel, s.args.port_channels[channel]);
  }
  static void run(const State &s) {
    MscclcTrigger ready = dev::emptyTrigger(1);
    ready.flags = MSCCLC_TRIGGER_SIGNAL;
    dev::request(s, 0, ready);
    wait(s, 0, 1);
    const uint64_t bytes = s.args.message_bytes;
    for (uint64_t at = 0; at < bytes; at += 16) {
      MscclcTrigger put = dev::emptyTrigger(0);
      put.src_buffer = MSCCLC_INPUT;
      put.dst_buffer = MSCCLC_OUTPUT;
      put.src_offset = put.dst_offset = at;
      put.size = bytes - at < 16 ? bytes - at : 16;
      if (at % 1024 == 0)
        put.flags = MSCCLC_TRIGGER_FLUSH;
      const MscclcChannel &channel = s.args.port_channels[0];
      const uint64_t flush = at % 1024 == 0 ? dev::countFlush(channel) : 0;
      dev::request(s, 2, put);
      if (at % 1024 == 0)
        dev::awaitFlush(s, 2, 0, channel, flush);
    }
    MscclcTrigger done = dev::emptyTrigger(0);
    done.flags = MSCCLC_TRIGGER_SIGNAL;
    dev::request(s, 3, done);
    wait(s, 1, 4);
  }
};

struct Turns : Program {
  static constexpr uint32_t ranks = 2, blocks = 2, semaphores = 2, barriers = 1;
  static constexpr const char *name = "turns2";
  static uint64_t inputBytes(uint32_t, uint64_t) { return 0; }
  static uint64_t scratchBytes(uint64_t stride) { return stride; }
  static uint32_t semaphoreValue(uint32_t index) { return index == 0 ? 1 : 0; }
  static void take(const State &s, int semaphore) {
    uint32_t *value = &s.args.semaphores[semaphore];
    dev::spin(
        s,
        [&] {
          const uint32_t seen = dev::loadAcquireDevice(value);
          return seen != 0 && dev::replaceAcquireDevice(value, seen, seen - 1);
        },
        [&] {
          dev::reportStall(s, MSCCLC_WAIT_SEMAPHORE, 0, static_cast<uint64_t>(semaphore), MSCCLC_UNPAIRED, 1, 0);
        });
  }
  static void run(const State &s) {
    auto *counter = static_cast<uint32_t *>(s.args.buffers[s.args.rank].scratch);
    for (uint32_t turn = 0; turn < 10; ++turn) {
      take(s, s.block);
      *counter = *counter * 3 + static_cast<uint32_t>(s.block);
      dev::addReleaseDevice(&s.args.semaphores[1 - s.block], 1);
    }
    uint64_t *arrivals = &s.args.barriers[0];
    const uint64_t round = (dev::fetchAddDevice(arrivals, 1) / 2 + 1) * 2;
    dev::spin(s, [&] { return dev::loadAcquireDevice(arrivals) >= round; }, [] {});
    if (s.block == 0)
      std::memcpy(s.args.buffers[s.args.rank].output, counter, sizeof(*counter));
  }
};

struct Stuck : Program {
  static constexpr uint32_t ranks = 2, channels = 1;
  static constexpr const char *name = "stuck2";
  static void channelInfo(uint32_t rank, uint32_t, uint32_t, MscclcChannelInfo *info) { *info = {1 - rank, 0}; }
  static void run(const State &s) {
    if (s.args.rank == 0 && s.args.message_bytes > 64)
      s.signal(0);
    if (s.args.rank == 1)
      s.wait(0, 7);
  }
};

struct Starved : Program {
  static constexpr uint32_t ranks = 1, semaphores = 1;
  static constexpr const char *name = "starved1";
  static void run(const State &s) {
    if (s.args.message_bytes > 64)
      Turns::take(s, 0);
  }
};

} // namespace

const MscclcKernel &gather4() {
  return Describe<Gather<4>>::kernel();
}
const MscclcKernel &gather8() {
  return Describe<Gather<8>>::kernel();
}
const MscclcKernel &wrong4() {
  return Describe<Wrong>::kernel();
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
const MscclcKernel &starved1() {
  return Describe<Starved>::kernel();
}

} // namespace testing
