// Packets: payload and flag travel in one access, so a reader needs no other synchronisation. The flag is the
// launch's, kept on the device, so a packet of an earlier launch is never taken for one of this.
//
// A row of packets is always written and read to its full length, the padding as zeros: who forwards packets knows only
// how long a row can be, not how much of it the message fills; and that a packet has come orders launches, which must
// not depend on the length.
#pragma once

namespace mscclc {

/// 4 bytes of payload in 8.
struct LL8 {
  static constexpr uint32_t code = MSCCLC_LL8;
  static constexpr unsigned bytes = 8;
  struct alignas(4) Payload {
    uint32_t w[1];
  };
  static MSCCLC_DEVICE void store(char *p, const Payload &v, uint32_t flag) { dev::storePacket8(p, v.w[0], flag); }
  static MSCCLC_DEVICE bool load(const char *p, Payload &v, uint32_t flag) {
    uint32_t seen;
    dev::loadPacket8(p, v.w[0], seen);
    return seen == flag;
  }
};

/// 8 bytes of payload in 16.
struct LL16 {
  static constexpr uint32_t code = MSCCLC_LL16;
  static constexpr unsigned bytes = 16;
  using Payload = dev::Vec8;
  static MSCCLC_DEVICE void store(char *p, const Payload &v, uint32_t flag) { dev::storePacket16(p, v, flag); }
  static MSCCLC_DEVICE bool load(const char *p, Payload &v, uint32_t flag) {
    uint32_t flag0, flag1;
    dev::loadPacket16(p, v, flag0, flag1);
    return flag0 == flag && flag1 == flag;
  }
};

/// Of a plan without packets.
struct NoPacket {
  static constexpr uint32_t code = MSCCLC_NO_PACKET;
};

namespace dev {

/// A payload that is not all there or not at a multiple of its size: element by element, zeros for what is missing.
template <class Word, class T> MSCCLC_COLD Word loadElements(const char *at, uint64_t bytes) {
  struct Elements {
    T e[sizeof(Word) / sizeof(T)];
  } elements{};
  for (unsigned i = 0; i < sizeof(Word) / sizeof(T) && (i + 1) * sizeof(T) <= bytes; ++i)
    elements.e[i] = loadAs<T>(at + i * sizeof(T));
  return bitCast<Word>(elements);
}
template <class Word, class T> MSCCLC_COLD void storeElements(char *at, uint64_t bytes, Word v) {
  struct Elements {
    T e[sizeof(Word) / sizeof(T)];
  };
  const Elements elements = bitCast<Elements>(v);
  for (unsigned i = 0; i < sizeof(Word) / sizeof(T) && (i + 1) * sizeof(T) <= bytes; ++i)
    storeAs<T>(at + i * sizeof(T), elements.e[i]);
}

/// Payload number `i` of a plain row of `bytes` bytes, of which it begins within.
template <class Word, class T> MSCCLC_DEVICE Word loadPart(const char *row, uint64_t i, uint64_t bytes, bool wide) {
  const uint64_t at = i * sizeof(Word);
  return wide && at + sizeof(Word) <= bytes ? loadAs<Word>(row + at) : loadElements<Word, T>(row + at, bytes - at);
}
template <class Word, class T>
MSCCLC_DEVICE void storePart(char *row, uint64_t i, uint64_t bytes, bool wide, const Word &v) {
  const uint64_t at = i * sizeof(Word);
  if (wide && at + sizeof(Word) <= bytes)
    storeAs<Word>(row + at, v);
  else
    storeElements<Word, T>(row + at, bytes - at, v);
}

/// Adds packet `i` of N rows to `acc`, starting it if `Fresh`. Packets still missing are polled together.
template <bool Fresh, unsigned N, class K, class L, class Acc>
MSCCLC_DEVICE void readPackets(const K &k, uint32_t operation, const L &rows, uint64_t i, Acc &acc) {
  using Packet = typename K::Packet;
  constexpr unsigned batch = N < loadsInFlight ? N : loadsInFlight;
  const uint32_t flag = k.flag();
  MSCCLC_UNROLL_HELD
  for (unsigned from = 0; from < N; from += batch) {
    typename Packet::Payload in[batch];
    spin(k.args, {MSCCLC_WAIT_PACKET, operation, MSCCLC_UNPAIRED, i, flag}, [&](uint64_t &) {
      bool all = true;
      MSCCLC_UNROLL
      for (unsigned b = 0; b < batch; ++b)
        if (N % batch == 0 || from + b < N)
          all &= Packet::load(rows(from + b) + i * Packet::bytes, in[b], flag);
      return all;
    });
    MSCCLC_UNROLL
    for (unsigned b = 0; b < batch; ++b) {
      if (N % batch == 0 || from + b < N) {
        if (Fresh && from + b == 0)
          acc.start(in[b]);
        else
          acc.add(in[b]);
      }
    }
  }
}

template <unsigned N, class K, class L>
MSCCLC_DEVICE void writePackets(const K &k, const L &rows, uint64_t i, const typename K::Packet::Payload &v) {
  const uint32_t flag = k.flag();
  MSCCLC_UNROLL_HELD
  for (unsigned d = 0; d < N; ++d)
    K::Packet::store(rows(d) + i * K::Packet::bytes, v, flag);
}

/// No operands of this form.
struct None {
  static constexpr unsigned size = 0;
};
template <class K, class L> struct RowsOf {
  using type = RowPointers<K, L>;
};
struct NoRows {
  template <class K> MSCCLC_DEVICE NoRows(const K &, const None &, unsigned) {}
};
template <class K> struct RowsOf<K, None> {
  using type = NoRows;
};
template <class K> MSCCLC_DEVICE uint64_t clipRow(const K &, const None &, unsigned, uint64_t end) {
  return end;
}

/// One payload at a time: Op of the plain source (if any) and the packet sources, to the plain target (if any) and the
/// packet targets.
template <class Op, class K, class PS, class KS, class PD, class KD>
MSCCLC_OUTLINE void packetRows(const K k, uint32_t operation, const Slice slice, const PS plainSource,
                               const KS packetSources, const PD plainTarget, const KD packetTargets) {
  using T = typename K::Element;
  using Payload = typename K::Packet::Payload;
  constexpr unsigned width = sizeof(Payload), sources = PS::size + KS::size;
  using Acc = AccumulatorFor<T, Op, Payload, sources>;
  forRows(k, slice, width, [&](unsigned row, uint64_t begin, uint64_t end, unsigned lane, unsigned lanes) {
    const uint64_t bytes = clipRow(k, plainTarget, row, clipRow(k, plainSource, row, end));
    const typename RowsOf<K, PS>::type fromPlain(k, plainSource, row);
    const typename RowsOf<K, KS>::type fromPackets(k, packetSources, row);
    const typename RowsOf<K, PD>::type toPlain(k, plainTarget, row);
    const typename RowsOf<K, KD>::type toPackets(k, packetTargets, row);
    const uint64_t filled = (bytes + width - 1) / width, all = (end + width - 1) / width;
    uint64_t i = begin / width + lane;
    for (; i < filled; i += lanes) {
      Acc acc;
      if constexpr (PS::size != 0)
        acc.start(loadPart<Payload, T>(fromPlain(0), i, bytes, k.wide));
      if constexpr (KS::size != 0)
        readPackets<PS::size == 0, KS::size>(k, operation, fromPackets, i, acc);
      const Payload v = acc.result();
      if constexpr (PD::size != 0)
        storePart<Payload, T>(toPlain(0), i, bytes, k.wide, v);
      if constexpr (KD::size != 0)
        writePackets<KD::size>(k, toPackets, i, v);
    }
    for (; i < all; i += lanes) {
      if constexpr (KS::size != 0) {
        Passing<Payload> nothing;
        readPackets<true, KS::size>(k, operation, fromPackets, i, nothing);
      }
      if constexpr (KD::size != 0)
        writePackets<KD::size>(k, toPackets, i, Payload{});
    }
  });
}

} // namespace dev

/// A plain chunk to packets, here or at peers.
template <class K, class S, class D>
MSCCLC_DEVICE void toPackets(const K &k, const Slice &slice, const S &source, const D &targets) {
  dev::packetRows<NoReduce>(k, 0, slice, source, dev::None{}, dev::None{}, targets);
}
/// Plain chunk i to packet chunk i, for every i.
template <class K, class S, class D>
MSCCLC_DEVICE void toPacketsPairs(const K &k, const Slice &slice, const S &sources, const D &targets) {
  static_assert(S::size == D::size, "as many sources as targets");
  for (unsigned i = 0; i < S::size; ++i)
    toPackets(k, slice, one(sources(i)), one(targets(i)));
}
/// Packets to a plain chunk.
template <class K, class S, class D>
MSCCLC_DEVICE void fromPackets(const K &k, uint32_t operation, const Slice &slice, const S &source, const D &target) {
  dev::packetRows<NoReduce>(k, operation, slice, dev::None{}, source, target, dev::None{});
}
/// Packets to packets, here or at peers.
template <class K, class S, class D>
MSCCLC_DEVICE void forwardPackets(const K &k, uint32_t operation, const Slice &slice, const S &source,
                                  const D &targets) {
  dev::packetRows<NoReduce>(k, operation, slice, dev::None{}, source, dev::None{}, targets);
}
/// Op of a plain chunk and packets, to a plain chunk.
template <class Op, class K, class S, class P, class D>
MSCCLC_DEVICE void reducePackets(const K &k, uint32_t operation, const Slice &slice, const S &source, const P &packets,
                                 const D &target) {
  dev::packetRows<Op>(k, operation, slice, source, packets, target, dev::None{});
}
/// The same, and to packets as well.
template <class Op, class K, class S, class P, class D, class Q>
MSCCLC_DEVICE void reducePackets(const K &k, uint32_t operation, const Slice &slice, const S &source, const P &packets,
                                 const D &target, const Q &packetTargets) {
  dev::packetRows<Op>(k, operation, slice, source, packets, target, packetTargets);
}

} // namespace mscclc
