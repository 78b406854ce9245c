// Packets. Payload and flag travel in one access, so a reader needs no other synchronisation. The flag is derived from
// the number of the launch, which is kept on the device. So a packet of an earlier launch is never mistaken for one of
// this launch.
//
// A row of packets is always written and read in its full length, with zeros as padding. There are two reasons. A rank
// that forwards packets knows only the longest possible row, not the part that the message fills. And the arrival of
// packets orders launches, which must not depend on the length of the message.
#pragma once

namespace mscclc::device {

/// A packet with 4 bytes of payload in 8 bytes.
struct LL8 {
  static constexpr uint32_t code = MSCCLC_LL8;
  static constexpr unsigned bytes = 8;
  struct alignas(4) Payload {
    uint32_t w[1];
  };
  static MSCCLC_DEVICE void store(char *p, const Payload &v, uint32_t flag) { detail::storePacket8(p, v.w[0], flag); }
  struct Flags {
    uint32_t one;
    MSCCLC_DEVICE bool are(uint32_t flag) const { return one == flag; }
    MSCCLC_DEVICE Flags forReport() const { return {detail::apart(one)}; }
  };
  static MSCCLC_DEVICE void load(const char *p, Payload &v, Flags &flags) { detail::loadPacket8(p, v.w[0], flags.one); }
};

/// A packet with 8 bytes of payload in 16 bytes.
struct LL16 {
  static constexpr uint32_t code = MSCCLC_LL16;
  static constexpr unsigned bytes = 16;
  using Payload = detail::Vec8;
  static MSCCLC_DEVICE void store(char *p, const Payload &v, uint32_t flag) { detail::storePacket16(p, v, flag); }
  struct Flags {
    uint32_t first, second;
    MSCCLC_DEVICE bool are(uint32_t flag) const { return first == flag && second == flag; }
    MSCCLC_DEVICE Flags forReport() const { return {detail::apart(first), detail::apart(second)}; }
  };
  static MSCCLC_DEVICE void load(const char *p, Payload &v, Flags &flags) {
    detail::loadPacket16(p, v, flags.first, flags.second);
  }
};

/// A packet of floats without a flag (a Lamport packet): 16 bytes of payload, in two words of 8 bytes. A word is zero
/// until it arrives. Elements are sent with the opposite sign, and -0.0 is sent in the same way as +0.0. So no element
/// is sent as zero, and the bits of each element depend on no other element. A word that has not arrived reads as -0.0
/// in all elements.
///
/// Launches use three parts of scratch in turn. Each launch clears the packets that the launch before it has received,
/// so that their part is empty when the launch after the next one uses it (clearPackets). Memory that was never used
/// contains zeros, too.
struct Lamport {
  static constexpr uint32_t code = MSCCLC_LAMPORT;
  static constexpr unsigned bytes = 16;
  using Payload = detail::Vec16;
  static MSCCLC_DEVICE void store(char *p, const Payload &v, uint32_t) { detail::storeWords16(p, v); }
  struct Flags {
    uint32_t first, second; ///< a part of each word; 0 if the word has not arrived
    MSCCLC_DEVICE bool are(uint32_t) const { return first != 0 && second != 0; }
    MSCCLC_DEVICE Flags forReport() const { return {detail::apart(first), detail::apart(second)}; }
  };
};

/// The packet type of a plan without packets.
struct NoPacket {
  static constexpr uint32_t code = MSCCLC_NO_PACKET;
};

namespace detail {

/// True if packets carry whole elements of T. Packets without flags carry only floats.
template <class T, class Packet> MSCCLC_BOTH constexpr bool carries() {
  if constexpr (std::is_same_v<Packet, NoPacket>)
    return true;
  else if constexpr (std::is_same_v<Packet, Lamport>)
    return !std::is_integral_v<T> && !std::is_same_v<T, Byte>;
  else
    return sizeof(T) <= sizeof(typename Packet::Payload);
}

/// The conversion of a payload of elements of T to its form in a packet, and back.
template <class Packet, class T> struct PacketForm {
  using Payload = typename Packet::Payload;
  static MSCCLC_DEVICE Payload sent(const Payload &v) { return v; }
  static MSCCLC_DEVICE Payload received(const Payload &v) { return v; }
  static MSCCLC_DEVICE void load(const char *p, Payload &v, typename Packet::Flags &flags) {
    Packet::load(p, v, flags);
  }
};
template <class T> struct PacketForm<Lamport, T> {
  using Payload = Lamport::Payload;
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  struct Words {
    Word w[sizeof(Payload) / sizeof(Word)];
  };
  /// The highest bit of each element in a word.
  static constexpr Word signs = sizeof(T) == sizeof(Word) ? Word{1} << (8 * sizeof(Word) - 1)
                                : sizeof(T) == 2          ? Word{0x80008000}
                                                          : Word{0x80808080};
  /// Flips the highest bit of each element, and sets it if all other bits are 0. So no element is sent as 0. The
  /// addition of `~signs` carries into the highest bit unless all other bits are 0.
  static MSCCLC_DEVICE Payload sent(const Payload &v) {
    Words words = bitCast<Words>(v);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < sizeof(Payload) / sizeof(Word); ++i)
      words.w[i] = (words.w[i] ^ signs) | (~((words.w[i] & ~signs) + ~signs) & signs);
    return bitCast<Payload>(words);
  }
  static MSCCLC_DEVICE Payload received(const Payload &v) {
    Words words = bitCast<Words>(v);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < sizeof(Payload) / sizeof(Word); ++i)
      words.w[i] ^= signs;
    return bitCast<Payload>(words);
  }
  /// Loads a packet. A word with several elements has arrived if its first element is not zero.
  static MSCCLC_DEVICE void load(const char *p, Payload &v, Lamport::Flags &flags) {
    loadWords16(p, v);
    flags = sizeof(T) == 8 ? Lamport::Flags{v.w[0] | v.w[1], v.w[2] | v.w[3]} : Lamport::Flags{v.w[0], v.w[2]};
  }
};

/// Clears the packets that the launch before this one has received, in the part of this rank's scratch that the launch
/// after the next one uses. Stores the length of this launch's packets. The ends of kernels provide the order: a rank
/// clears packets after it has read them. Its peers send to this part again only after they know that the rank's next
/// launch has begun.
template <class K> MSCCLC_DEVICE void clearPackets(const K &k) {
  using Plan = typename K::Plan;
  uint64_t *const lengths = k.args.finished + 2;
  const uint64_t stride = k.args.scratch_stride, length = loadRelaxed(&lengths[(k.launch + 1) % 2]);
  if (blockId() == 0 && k.thread == 0)
    storeRelaxed(&lengths[k.launch % 2], k.layout.nominal * K::spread);
  char *const part = static_cast<char *>(k.parameters.own.scratch) +
                     (k.launch + 2) % scratchParts<Plan> * scratchPartBytes<Plan>(stride);
  for (unsigned slot = blockId(); slot < Plan::scratchSlots; slot += blockCount())
    for (uint64_t at = k.thread * uint64_t{Lamport::bytes}; at < length; at += k.threads * uint64_t{Lamport::bytes})
      storeWords16(part + slot * stride + at, {});
}

/// Loads a payload element by element, because it is incomplete or not aligned to its size. Elements at or behind byte
/// `end`, counted from `at`, are zeros.
template <class Word, class T> MSCCLC_COLD Word loadElements(const char *at, int64_t end) {
  struct Elements {
    T e[sizeof(Word) / sizeof(T)];
  } elements{};
  for (unsigned i = 0; i < sizeof(Word) / sizeof(T) && static_cast<int64_t>((i + 1) * sizeof(T)) <= end; ++i)
    elements.e[i] = loadAs<T>(at + i * sizeof(T));
  return bitCast<Word>(elements);
}
template <class Word, class T> MSCCLC_COLD void storeElements(char *at, int64_t end, Word v) {
  struct Elements {
    T e[sizeof(Word) / sizeof(T)];
  };
  const Elements elements = bitCast<Elements>(v);
  for (unsigned i = 0; i < sizeof(Word) / sizeof(T) && static_cast<int64_t>((i + 1) * sizeof(T)) <= end; ++i)
    storeAs<T>(at + i * sizeof(T), elements.e[i]);
}

/// The type of a word that holds the message's elements for one payload, in a kernel with wide scratch. The payload
/// holds each element as a Number<T>::Sum, so it has room for one, two or four elements.
template <class Payload, class T>
using MessageOf = std::conditional_t<
    sizeof(Payload) == sizeof(typename Number<T>::Sum), T,
    std::conditional_t<sizeof(Payload) == 16 && sizeof(T) == 2, Vec8,
                       std::conditional_t<sizeof(Payload) == 16 || sizeof(T) == 2, uint32_t, uint16_t>>>;

/// A plain row as payloads of type Word. The first `whole` payloads are moved as words, and the others element by
/// element. A row of packets may be longer than the plain row. Its other payloads are zeros, and are not stored.
template <class Word, class T> struct PayloadRow {
  uint64_t bytes; ///< length of the row, in bytes of the message
  bool wide;      ///< true: words are aligned
  unsigned whole;

  MSCCLC_DEVICE PayloadRow(uint64_t bytes, bool wide)
      : bytes(bytes), wide(wide), whole(wide ? static_cast<unsigned>(bytes / sizeof(Word)) : 0) {}
  MSCCLC_DEVICE Word load(const char *row, unsigned i) const {
    const char *const at = row + offsetOf(i);
    return i < whole ? loadAs<Word>(at) : loadElements<Word, T>(at, left(i));
  }
  MSCCLC_DEVICE void store(char *row, unsigned i, const Word &v) const {
    char *const at = row + offsetOf(i);
    if (i < whole)
      storeAs<Word>(at, v);
    else
      storeElements<Word, T>(at, left(i), v);
  }

  /// Returns how many elements of payload `i` are in the row.
  MSCCLC_DEVICE unsigned elements(unsigned i) const {
    const int64_t here = left(i);
    return i < whole || here >= static_cast<int64_t>(sizeof(Word)) ? sizeof(Word) / sizeof(T)
           : here <= 0                                             ? 0
                                                                   : static_cast<unsigned>(here) / sizeof(T);
  }

  /// Returns payload `i` of a row in a kernel with wide scratch, where payloads hold elements as Number<T>::Sum.
  MSCCLC_DEVICE Word load(const SpreadRow &row, unsigned i) const {
    using Sum = typename Number<T>::Sum;
    using In = SpreadWord<T, MessageOf<Word, T>>;
    if (row.isHeld)
      return PayloadRow<Word, Sum>(bytes * (sizeof(Sum) / sizeof(T)), wide).load(row.at, i);
    const PayloadRow<MessageOf<Word, T>, T> message(bytes, wide);
    const auto elements = bitCast<typename In::Elements>(message.load(static_cast<const char *>(row.at), i));
    In in;
    Number<T>::widen(elements.e, in.e);
    return bitCast<Word>(in);
  }
  MSCCLC_DEVICE void store(const SpreadRow &row, unsigned i, const Word &v) const {
    using Sum = typename Number<T>::Sum;
    using Out = SpreadWord<T, MessageOf<Word, T>>;
    if (row.isHeld)
      return PayloadRow<Word, Sum>(bytes * (sizeof(Sum) / sizeof(T)), wide).store(row.at, i, v);
    typename Out::Elements elements;
    Number<T>::narrow(bitCast<Out>(v).e, elements.e);
    const PayloadRow<MessageOf<Word, T>, T> message(bytes, wide);
    message.store(row.at, i, bitCast<MessageOf<Word, T>>(elements));
  }

private:
  static MSCCLC_DEVICE uint64_t offsetOf(unsigned i) { return uint64_t{i} * sizeof(Word); }
  MSCCLC_DEVICE int64_t left(unsigned i) const { return static_cast<int64_t>(bytes - offsetOf(i)); }
};

/// Stores a payload to a plain row. hooks.cuh has another version, for rows with a hook.
template <class Plain, class Row, class Payload>
MSCCLC_DEVICE void storePayload(const Plain &plain, const Row &row, unsigned i, const Payload &v) {
  plain.store(row, i, v);
}

/// The number of packets that a thread polls at once. Each batch takes a round trip to memory.
constexpr unsigned polledTogether = 8;

/// The data of a launch that packet operations need.
struct PacketLaunch {
  const MscclcRankArgs &args;
  uint32_t operation, flag;
};

/// The places of packets that follow each other: place p is p.
struct Adjacent {
  MSCCLC_DEVICE unsigned operator()(unsigned p) const { return p; }
};

/// Adds packets `i` + place(0), …, `i` + place(P - 1) of each of N rows to `acc`. If `Fresh`, the packets of the first
/// row start `acc`. Missing packets are polled together, at most `Polled` at once. Packets hold elements of T.
template <class Packet, class T, bool Fresh, unsigned N, unsigned Polled = polledTogether, unsigned P, class L,
          class Acc, class Place = Adjacent>
MSCCLC_DEVICE void readPackets(const PacketLaunch &launch, const L &rows, unsigned i, Acc (&acc)[P],
                               const Place &place = {}) {
  constexpr unsigned most = Polled / P, batch = N < most ? N : most;
  constexpr bool isCompact = Polled < polledTogether && isComputed<L>; // rows in registers need unrolled loops
  [[maybe_unused]] constexpr unsigned unrolled = N <= maxUnrolled && !isCompact ? N : 1;
  const uint32_t flag = launch.flag;
  MSCCLC_UNROLL_SOME
  for (unsigned from = 0; from < N; from += batch) {
    typename Packet::Payload in[batch][P];
    typename Packet::Flags flags[batch][P];
    const char *at[batch];
    MSCCLC_UNROLL
    for (unsigned b = 0; b < batch; ++b)
      if (N % batch == 0 || from + b < N)
        at[b] = apart(rows(from + b) + uint64_t{i} * Packet::bytes); // apart() keeps the address for all polls
    const auto haveCome = [&](uint64_t &) {
      bool all = true;
      MSCCLC_UNROLL
      for (unsigned b = 0; b < batch; ++b)
        if (N % batch == 0 || from + b < N) {
          MSCCLC_UNROLL
          for (unsigned p = 0; p < P; ++p) {
            PacketForm<Packet, T>::load(at[b] + place(p) * Packet::bytes, in[b][p], flags[b][p]);
            all &= flags[b][p].are(flag);
          }
        }
      return all;
    };
    // Polls do not compute which packets have arrived, because only a report needs that.
    const auto look = [&](uint64_t &seen) {
      seen = 0;
      MSCCLC_UNROLL
      for (unsigned b = 0; b < batch; ++b)
        if (N % batch == 0 || from + b < N) {
          bool all = true;
          MSCCLC_UNROLL
          for (unsigned p = 0; p < P; ++p)
            all &= flags[b][p].forReport().are(flag);
          seen |= uint64_t{all} << b;
        }
    };
    const unsigned count = N - from < batch ? N - from : batch;
    spin(launch.args, {MSCCLC_WAIT_PACKET, launch.operation, from, i, count}, haveCome, look);
    MSCCLC_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      if (N % batch == 0 || from + b < N) {
        MSCCLC_UNROLL
        for (unsigned p = 0; p < P; ++p) {
          const typename Packet::Payload data = PacketForm<Packet, T>::received(in[b][p]);
          if (Fresh && from + b == 0)
            acc[p].start(data);
          else
            acc[p].add(data);
        }
      }
    }
  }
}

template <class Packet, class T, unsigned N, class L>
MSCCLC_DEVICE void writePackets(uint32_t flag, const L &rows, unsigned i, const typename Packet::Payload &v) {
  const typename Packet::Payload data = PacketForm<Packet, T>::sent(v);
  MSCCLC_UNROLL_FEW
  for (unsigned d = 0; d < N; ++d)
    Packet::store(rows(d) + uint64_t{i} * Packet::bytes, data, flag);
}

/// An empty list of operands.
struct None {
  static constexpr unsigned size = 0;
};
template <class K> MSCCLC_DEVICE uint64_t clipRow(const K &, const None &, unsigned, uint64_t end) {
  return end;
}

/// The number of operands of each form in a packet operation.
template <unsigned PlainSources, unsigned PacketSources, unsigned PlainTargets, unsigned PacketTargets> struct Counts {
  static constexpr unsigned plainSources = PlainSources, packetSources = PacketSources, plainTargets = PlainTargets,
                            packetTargets = PacketTargets;
};

/// The payloads of consecutive packets of a row.
template <class Payload, unsigned P> struct Payloads {
  Payload at[P];
};

/// Computes payloads `i`, …, `i` + P - 1 of a row, stores them to all targets, and returns them. Packets hold elements
/// of type Held.
template <unsigned P, class T, class Held, class Op, class Packet, class C, class Place, class PS, class KS, class PD,
          class KD>
MSCCLC_DEVICE auto packetPayloads(const PacketLaunch &launch, Place place, const PS &plainSource,
                                  const KS &packetSources, const PD &plainTarget, const KD &packetTargets,
                                  const PayloadRow<typename Packet::Payload, T> &plain, unsigned i) {
  using Payload = typename Packet::Payload;
  AccumulatorFor<Held, Op, Payload, C::plainSources + C::packetSources, Place> acc[P];
  Payloads<Payload, P> made;
  if constexpr (C::plainSources != 0) {
    MSCCLC_UNROLL
    for (unsigned p = 0; p < P; ++p)
      startSum(acc[p], place, plain.load(plainSource(0), i + p));
  }
  if constexpr (C::packetSources != 0)
    readPackets<Packet, Held, C::plainSources == 0, C::packetSources>(launch, packetSources, i, acc);
  MSCCLC_UNROLL
  for (unsigned p = 0; p < P; ++p) {
    Payload v = acc[p].result();
    // A sum is -0.0 only if all operands are, and no received packet holds -0.0. With other operations, -0.0 may be a
    // result. It becomes +0.0 here, as it does at a rank that receives the result.
    if constexpr (std::is_same_v<Packet, Lamport> && !std::is_same_v<Op, Sum> && C::packetSources != 0)
      v = PacketForm<Packet, Held>::received(PacketForm<Packet, Held>::sent(v));
    if constexpr (C::plainTargets != 0)
      storePayload(plain, plainTarget(0), i + p, v);
    if constexpr (C::packetTargets != 0)
      writePackets<Packet, Held, C::packetTargets>(launch.flag, packetTargets, i + p, v);
    made.at[p] = v;
  }
  return made;
}

/// Processes one row. `s.end` is the end of the packets, and `bytes` is the end of the plain rows, both in bytes of a
/// message. A row has fewer than 2^31 packets, so its packets are counted in 32 bits (launch.cuh).
template <class T, class Held, class Op, class Packet, class C, class Place, class PS, class KS, class PD, class KD>
MSCCLC_DEVICE void packetRow(const PacketLaunch &launch, Place place, const PS &plainSource, const KS &packetSources,
                             const PD &plainTarget, const KD &packetTargets, uint64_t bytes, const Span &s) {
  using Payload = typename Packet::Payload;
  constexpr unsigned width = sizeof(Payload) * sizeof(T) / sizeof(Held);
  const PayloadRow<Payload, T> plain(bytes, s.wide);
  const auto all = static_cast<unsigned>((s.end + width - 1) / width);
  const auto &source = apartRows(plainSource);
  const auto &target = apartRows(plainTarget);
  const auto &targets = apartRows(packetTargets);
  const auto does = [&](unsigned i) {
    packetPayloads<1, T, Held, Op, Packet, C>(launch, place, source, packetSources, target, targets, plain, i);
  };
  unsigned i = static_cast<unsigned>(s.begin / width) + s.lane;
  if constexpr (C::packetSources == 0) { // an operation that only sends tests for the end of the message once
    const unsigned whole = plain.whole < all ? plain.whole : all;
    for (; i < whole; i += s.lanes) {
      assume(i < plain.whole); // compilers do not derive this from the minimum
      does(i);
    }
  }
  for (; i < all; i += s.lanes)
    does(i);
}
template <class T, class Held, class Op, class Packet, class C, class Place, class PS, class KS, class PD, class KD>
MSCCLC_OUTLINE void packetRowOutlined(const PacketLaunch launch, const Place place, const PS plainSource,
                                      const KS packetSources, const PD plainTarget, const KD packetTargets,
                                      uint64_t bytes, const Span s) {
  packetRow<T, Held, Op, Packet, C>(launch, place, plainSource, packetSources, plainTarget, packetTargets, bytes, s);
}

// wire.cuh
template <class K> MSCCLC_BOTH constexpr uint64_t wireBlockBytes();
template <class Op, class K, class Place, class PS, class KS, class PD, class KD>
MSCCLC_DEVICE void moveBlocks(const K &k, uint32_t operation, const Slice &slice, Place place, const PS &plainSources,
                              const KS &packetSources, const PD &plainTargets, const KD &packetTargets);

// hooks.cuh
template <class Hook, class L> struct HookedParts;
template <class Op, class K, class PS, class KS, class Hook, class L, class Place = AddedFirst>
MSCCLC_DEVICE void packetRows(const K &k, uint32_t operation, const Slice &slice, const PS &plainSource,
                              const KS &packetSources, const HookedParts<Hook, L> &target, const None &packetTargets,
                              Place place = {});

/// Reduces the plain source (if any) and the packet sources with Op, one payload at a time. Stores the result to the
/// plain target (if any) and to the packet targets. `place`: the place of the plain source in the order of addition.
template <class Op, class K, class PS, class KS, class PD, class KD, class Place = AddedFirst>
MSCCLC_DEVICE void packetRows(const K &k, uint32_t operation, const Slice &slice, const PS &plainSource,
                              const KS &packetSources, const PD &plainTarget, const KD &packetTargets,
                              Place place = {}) {
  using T = typename K::Element;
  using Held = typename K::Held;
  using Packet = typename K::Packet;
  using C = Counts<PS::size, KS::size, PD::size, KD::size>;
  if constexpr (HasWire<typename K::Plan>::value)
    if (slice.nominal >= wireBlockBytes<K>()) // otherwise the message is empty, and packets hold no data
      return moveBlocks<Op>(k, operation, slice, place, plainSource, packetSources, plainTarget, packetTargets);
  const PacketLaunch launch{k.args, operation, k.flag};
  forRows(k, slice, sizeof(typename Packet::Payload) / K::spread,
          [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
            const uint64_t bytes = clipRow(k, plainTarget, row, clipRow(k, plainSource, row, end));
            const auto ps = rowsOf(k, plainSource, row);
            const auto ks = rowsAs<char *>(k, packetSources, row);
            const auto pd = rowsOf(k, plainTarget, row);
            const auto kd = rowsAs<char *>(k, packetTargets, row);
            const Span span{begin, end, lane, lanes, k.wide};
            if constexpr (K::Outlined::value && PS::size + KS::size + PD::size + KD::size <= maxPassed &&
                          (PD::size == 0 || std::is_same_v<typename decltype(pd)::Row, RowAddress<K>>)) // no hook
              packetRowOutlined<T, Held, Op, Packet, C>(launch, place, ps, ks, pd, kd, bytes, span);
            else
              packetRow<T, Held, Op, Packet, C>(launch, place, ps, ks, pd, kd, bytes, span);
          });
}

} // namespace detail

/// Sends a plain chunk as packets, to this rank or to peers.
template <class K, class S, class D>
MSCCLC_DEVICE void toPackets(const K &k, const Slice &slice, const S &source, const D &targets) {
  detail::packetRows<NoReduce>(k, 0, slice, source, detail::None{}, detail::None{}, targets);
}
/// Sends plain chunk i to packet chunk i, for every i.
template <class K, class S, class D>
MSCCLC_DEVICE void toPacketsPairs(const K &k, const Slice &slice, const S &sources, const D &targets) {
  static_assert(S::size == D::size, "as many sources as targets");
  for (unsigned i = 0; i < S::size; ++i)
    toPackets(k, slice, one(sources(i)), one(targets(i)));
}
/// Receives packets into a plain chunk.
template <class K, class S, class D>
MSCCLC_DEVICE void fromPackets(const K &k, uint32_t operation, const Slice &slice, const S &source, const D &target) {
  detail::packetRows<NoReduce>(k, operation, slice, detail::None{}, source, target, detail::None{});
}
/// Forwards packets as packets, to this rank or to peers.
template <class K, class S, class D>
MSCCLC_DEVICE void forwardPackets(const K &k, uint32_t operation, const Slice &slice, const S &source,
                                  const D &targets) {
  detail::packetRows<NoReduce>(k, operation, slice, detail::None{}, source, detail::None{}, targets);
}
/// Reduces a plain chunk and packets into a plain chunk.
template <class Op, class K, class S, class P, class D>
MSCCLC_DEVICE void reducePackets(const K &k, uint32_t operation, const Slice &slice, const S &source, const P &packets,
                                 const D &target) {
  detail::packetRows<Op>(k, operation, slice, source, packets, target, detail::None{});
}
/// Reduces a plain chunk and packets into a plain chunk, and also sends the result as packets.
template <class Op, class K, class S, class P, class D, class Q>
MSCCLC_DEVICE void reducePackets(const K &k, uint32_t operation, const Slice &slice, const S &source, const P &packets,
                                 const D &target, const Q &packetTargets) {
  detail::packetRows<Op>(k, operation, slice, source, packets, target, packetTargets);
}

/// These do the same as reducePackets(), but add the plain chunk after `others` of the packets.
template <class Op, class K, class S, class P, class D>
MSCCLC_DEVICE void reducePacketsAfter(const K &k, uint32_t operation, const Slice &slice, unsigned others,
                                      const S &source, const P &packets, const D &target) {
  detail::packetRows<Op>(k, operation, slice, source, packets, target, detail::None{}, detail::AddedAfter{others});
}
template <class Op, class K, class S, class P, class D, class Q>
MSCCLC_DEVICE void reducePacketsAfter(const K &k, uint32_t operation, const Slice &slice, unsigned others,
                                      const S &source, const P &packets, const D &target, const Q &packetTargets) {
  detail::packetRows<Op>(k, operation, slice, source, packets, target, packetTargets, detail::AddedAfter{others});
}

} // namespace mscclc::device
