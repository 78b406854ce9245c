// Switch channels: reductions and broadcasts in the network. They use a multicast mapping of the group's buffers if
// there is one and the hardware supports the type. Otherwise they loop over the group.
#pragma once

namespace mscclc::device {
namespace detail {

// Reductions of 8-bit floats need code for one device (sm_100a, sm_103a, sm_110a, sm_120a, sm_121a) or for a family
// (sm_100f, sm_103f, sm_110f). ptxas accepts the instruction for no other target.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030 || __CUDA_ARCH__ == 1100) &&             \
    (defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__))
#define MSCCLC_NETWORK_ADDS_FLOAT8 true
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 1200 || __CUDA_ARCH__ == 1210) && defined(__CUDA_ARCH_SPECIFIC__)
#define MSCCLC_NETWORK_ADDS_FLOAT8 true
#else
#define MSCCLC_NETWORK_ADDS_FLOAT8 false
#endif

/// True if the network can reduce elements of type T with Op on all devices with multicast for which the code is
/// compiled. The network cannot compute products.
template <class T, class Op> MSCCLC_BOTH constexpr bool networkReduces() {
  if (std::is_same_v<T, Float8E4m3> || std::is_same_v<T, Float8E5m2>)
    return MSCCLC_NETWORK_ADDS_FLOAT8 && std::is_same_v<Op, Sum>;
  if (std::is_same_v<Op, Prod> || sizeof(T) == 1)
    return false;
  return std::is_same_v<Op, Sum> || !(std::is_same_v<T, float> || std::is_same_v<T, double>);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define MSCCLC_LOAD_REDUCE4(instruction)                                                                               \
  asm volatile(instruction " {%0,%1,%2,%3}, [%4];"                                                                     \
               : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])                                                \
               : "l"(globalAddress(p))                                                                                 \
               : "memory")
#define MSCCLC_LOAD_REDUCE1(instruction)                                                                               \
  for (unsigned i = 0; i < 4; ++i)                                                                                     \
  asm volatile(instruction " %0, [%1];" : "=r"(v.w[i]) : "l"(globalAddress(p) + 4 * i) : "memory")
#define MSCCLC_LOAD_REDUCE2(instruction)                                                                               \
  for (unsigned i = 0; i < 4; i += 2)                                                                                  \
  asm volatile("{ .reg .b64 both; " instruction " both, [%2]; mov.b64 {%0, %1}, both; }"                               \
               : "=r"(v.w[i]), "=r"(v.w[i + 1])                                                                        \
               : "l"(globalAddress(p) + 4 * i)                                                                         \
               : "memory")
/// Uses one of three instructions, depending on the operation Op.
#define MSCCLC_LOAD_REDUCE(words, add, least, greatest)                                                                \
  if constexpr (std::is_same_v<Op, Sum>)                                                                               \
    MSCCLC_LOAD_REDUCE##words("multimem.ld_reduce.relaxed.sys.global.add." add);                                       \
  else if constexpr (std::is_same_v<Op, Min>)                                                                          \
    MSCCLC_LOAD_REDUCE##words("multimem.ld_reduce.relaxed.sys.global.min." least);                                     \
  else                                                                                                                 \
    MSCCLC_LOAD_REDUCE##words("multimem.ld_reduce.relaxed.sys.global.max." greatest)

/// Loads a word through a multicast mapping. Returns the reduction with Op of the words that all devices have there.
template <class T, class Op> MSCCLC_DEVICE Vec16 multicastLoadReduce(const char *p) {
  Vec16 v{};
  if constexpr (std::is_same_v<T, float>) {
    MSCCLC_LOAD_REDUCE4("multimem.ld_reduce.relaxed.sys.global.add.v4.f32");
  } else if constexpr (std::is_same_v<T, double>) {
    MSCCLC_LOAD_REDUCE2("multimem.ld_reduce.relaxed.sys.global.add.f64");
  } else if constexpr (std::is_same_v<T, Half>) {
    MSCCLC_LOAD_REDUCE(4, "acc::f32.v4.f16x2", "v4.f16x2", "v4.f16x2");
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    MSCCLC_LOAD_REDUCE(4, "acc::f32.v4.bf16x2", "v4.bf16x2", "v4.bf16x2");
  } else if constexpr (std::is_same_v<T, Float8E4m3>) {
    MSCCLC_LOAD_REDUCE4("multimem.ld_reduce.relaxed.sys.global.add.acc::f16.v4.e4m3x4");
  } else if constexpr (std::is_same_v<T, Float8E5m2>) {
    MSCCLC_LOAD_REDUCE4("multimem.ld_reduce.relaxed.sys.global.add.acc::f16.v4.e5m2x4");
  } else if constexpr (std::is_same_v<T, int32_t>) {
    MSCCLC_LOAD_REDUCE(1, "s32", "s32", "s32");
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    MSCCLC_LOAD_REDUCE(1, "u32", "u32", "u32");
  } else if constexpr (std::is_same_v<T, int64_t>) {
    MSCCLC_LOAD_REDUCE(2, "u64", "s64", "s64"); // sums wrap around, so they are the same
  } else {
    static_assert(std::is_same_v<T, uint64_t>, "the network reduces no other types");
    MSCCLC_LOAD_REDUCE(2, "u64", "u64", "u64");
  }
  return v;
}
/// Stores a word through a multicast mapping, to all devices.
MSCCLC_DEVICE void multicastStore(char *p, const Vec16 &v) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(globalAddress(p)), "r"(v.w[0]),
               "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])
               : "memory");
}
MSCCLC_DEVICE constexpr bool hasMulticast() {
  return true;
}
MSCCLC_DEVICE void multicastStorePacket(LL8, char *p, LL8::Payload v, uint32_t flag) {
  asm volatile("multimem.st.relaxed.sys.global.u64 [%0], %1;" ::"l"(globalAddress(p)),
               "l"(uint64_t{flag} << 32 | v.w[0])
               : "memory");
}
MSCCLC_DEVICE void multicastStorePacket(LL16, char *p, Vec8 v, uint32_t flag) {
  // Only a scalar store is sure to arrive as a whole. In a vector of four words, data and flag could arrive separately.
  multicastStorePacket(LL8{}, p, {{v.w[0]}}, flag);
  multicastStorePacket(LL8{}, p + 8, {{v.w[1]}}, flag);
}
#undef MSCCLC_LOAD_REDUCE
#undef MSCCLC_LOAD_REDUCE4
#undef MSCCLC_LOAD_REDUCE2
#undef MSCCLC_LOAD_REDUCE1
#else
// These functions are never called, because hasMulticast() is false.
template <class T, class Op> MSCCLC_DEVICE Vec16 multicastLoadReduce(const char *) {
  return {};
}
MSCCLC_DEVICE void multicastStore(char *, const Vec16 &) {}
template <class Packet, class Payload> MSCCLC_DEVICE void multicastStorePacket(Packet, char *, Payload, uint32_t) {}
MSCCLC_DEVICE constexpr bool hasMulticast() {
  return false;
}
#endif

/// Returns the multicast mapping of a switch channel; null if there is none.
template <class K> MSCCLC_DEVICE char *multicastOf(const K &k, int channel) {
  return hasMulticast() ? static_cast<char *>(k.parameters.multicast[channel]) : nullptr;
}

/// True if a slice consists of whole words, so that it can go through the multicast mapping. `members` are the chunks
/// of the group's ranks, which lie at the same place.
template <class K, class L> MSCCLC_DEVICE bool wholeWords(const K &k, const L &members, const Slice &s) {
  if (!k.wide || s.begin % 16 != 0 || s.end % 16 != 0)
    return false;
  for (unsigned row = 0; row < s.rows; ++row)
    if (k.bytesOf(members(0), row) % 16 != 0)
      return false;
  return true;
}

/// The number of loads through the multicast mapping that a thread has in flight. Each takes a round trip to all
/// devices.
constexpr unsigned switchLoadsInFlight = 8;

/// Calls store(i, value) for each word i of [begin, end) at `from`. The lanes share the words. `value` is the network's
/// reduction of word i with Op. The words that a lane has in flight are 32 words apart (a warp), so their addresses are
/// one address plus constants. The lane of a word depends on the length of the slice, so no other operation may rely on
/// it (ir::elementUnitOf).
template <class T, class Op, class Store>
MSCCLC_DEVICE void forReduced(const char *from, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes,
                              Store store) {
  constexpr unsigned warp = 32;
  uint64_t at = begin + lane;
  if (lanes % warp == 0) {
    const unsigned ahead = lane / warp * warp * (switchLoadsInFlight - 1), step = lanes * switchLoadsInFlight;
    const unsigned rest = step - ahead - lane; // distance to the end of the words that all lanes take in a step
    at += ahead;
    MSCCLC_NO_UNROLL
    for (; at + rest <= end; at += step) {
      Vec16 in[switchLoadsInFlight];
      MSCCLC_UNROLL
      for (unsigned u = 0; u < switchLoadsInFlight; ++u)
        in[u] = multicastLoadReduce<T, Op>(from + (at + u * warp) * 16);
      MSCCLC_UNROLL
      for (unsigned u = 0; u < switchLoadsInFlight; ++u)
        store(at + u * warp, in[u]);
    }
    at -= ahead;
  }
  MSCCLC_NO_UNROLL
  for (; at < end; at += lanes)
    store(at, multicastLoadReduce<T, Op>(from + at * 16));
}

} // namespace detail

/// Orders the thread's accesses through a multicast mapping against those through the devices' own addresses, in both
/// directions. Waits already do so for the accesses that they wait for.
template <class K> MSCCLC_DEVICE void fenceAliases(const K &) {
  detail::fenceAliases();
}
/// Orders all accesses of the block, through either kind of address, before accesses of users and of later launches.
template <class K> MSCCLC_DEVICE void fenceAliasesAtEnd(const K &k) {
  k.sync();
  if (k.thread == 0)
    detail::fenceAliases();
}

/// Reduces the group's chunks of switch channel `channel` with Op, and stores the result to every target. `members(i)`
/// is the chunk of the i-th rank of the group.
template <class Op, class K, class S, class D>
MSCCLC_DEVICE void switchReduce(const K &k, const Slice &slice, int channel, const S &members, const D &targets) {
  using T = typename K::Element;
  char *const multicast = detail::multicastOf(k, channel);
  if constexpr (detail::networkReduces<T, Op>()) {
    if (multicast != nullptr && detail::wholeWords(k, members, slice)) {
      detail::forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
        end = detail::clipRow(k, targets, row, detail::clipRow(k, members, row, end));
        const auto to = detail::rowsAs<char *>(k, targets, row); // switch channels do not use wide scratch
        detail::forReduced<T, Op>(multicast + k.offsetOf(members(0), row), begin / 16, end / 16, lane, lanes,
                                  [&](uint64_t i, const detail::Vec16 &v) { detail::storeToAll<D::size>(to, i, v); });
      });
      return;
    }
  }
  reduce<Op>(k, slice, members, targets);
}

/// Copies a source to the chunk of every rank of the group.
template <class K, class S, class D>
MSCCLC_DEVICE void switchBroadcast(const K &k, const Slice &slice, int channel, const S &source, const D &members) {
  char *const multicast = detail::multicastOf(k, channel);
  if (multicast != nullptr && detail::wholeWords(k, members, slice)) {
    detail::forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
      end = detail::clipRow(k, members, row, detail::clipRow(k, source, row, end));
      const char *from = k.rowOf(source(0), row);
      char *to = multicast + k.offsetOf(members(0), row);
      for (uint64_t i = begin / 16 + lane; i < end / 16; i += lanes)
        detail::multicastStore(to + i * 16, detail::load16(from + i * 16));
    });
    return;
  }
  copy(k, slice, source, members);
}

/// Forwards packets to the packet chunk of every rank of the group. No fence is needed before the stores: a slot is
/// written once a launch, and every block that read it in an earlier launch has fenced at the end of that launch.
template <class K, class S, class D>
MSCCLC_DEVICE void switchForwardPackets(const K &k, uint32_t operation, const Slice &slice, int channel,
                                        const S &source, const D &members) {
  char *const multicast = detail::multicastOf(k, channel);
  if (multicast == nullptr)
    return forwardPackets(k, operation, slice, source, members);
  using Packet = typename K::Packet;
  using Payload = typename Packet::Payload;
  const detail::PacketLaunch launch{k.args, operation, k.flag};
  detail::forRows(k, slice, sizeof(Payload),
                  [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
                    const auto from = detail::rowsOf(k, source, row);
                    char *to = multicast + k.offsetOf(members(0), row);
                    for (uint64_t i = begin / sizeof(Payload) + lane; i * sizeof(Payload) < end; i += lanes) {
                      detail::Passing<Payload> v[1];
                      detail::readPackets<Packet, typename K::Held, true, 1>(launch, from, i, v);
                      detail::multicastStorePacket(Packet{}, to + i * Packet::bytes, v[0].result(), k.flag);
                    }
                  });
}

/// Reduces and broadcasts at once. In between, the value stays in a register.
template <class Op, class K, class S, class D>
MSCCLC_DEVICE void switchReduceBroadcast(const K &k, const Slice &slice, int sourceChannel, int targetChannel,
                                         const S &sources, const D &members) {
  using T = typename K::Element;
  char *const from = detail::multicastOf(k, sourceChannel), *const to = detail::multicastOf(k, targetChannel);
  if constexpr (detail::networkReduces<T, Op>()) {
    if (from != nullptr && to != nullptr && detail::wholeWords(k, sources, slice) &&
        detail::wholeWords(k, members, slice)) {
      detail::forRows(k, slice, 16, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
        end = detail::clipRow(k, members, row, detail::clipRow(k, sources, row, end));
        char *target = to + k.offsetOf(members(0), row);
        detail::forReduced<T, Op>(
            from + k.offsetOf(sources(0), row), begin / 16, end / 16, lane, lanes,
            [&](uint64_t i, const detail::Vec16 &v) { detail::multicastStore(target + i * 16, v); });
      });
      return;
    }
  }
  reduce<Op>(k, slice, sources, members);
}

} // namespace mscclc::device
