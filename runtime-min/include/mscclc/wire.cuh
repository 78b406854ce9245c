// Operations of kernels with a wire format. Scratch holds values in this format (Plan::Wire), and inputs and outputs
// hold elements.
//
// The threads of a team process a block together, and each thread takes an octet of it. Values are encoded when they
// are stored in scratch, and decoded when they are read from scratch. If the format has scales, the team first finds
// the largest absolute value of the block. Data that moves from scratch to scratch stays as it is. Sums are in f32, in
// the order of their operands.
//
// A block in scratch consists of its octets and then its scale, as plain data or as payloads of packets. A sum of
// packets also encodes its plain operand, and decodes it again. If the sum is sent as packets, its plain target gets
// the decoded contents of these packets.
//
// A program needs no block-wide sync if each thread reads only what it has written itself. But one thread writes the
// scale, and all threads of a team read it. So an operation that stores plain data in scratch has a sync before and
// after its stores. Packets need no sync.
#pragma once

#include "mscclc/hooks.cuh"

namespace mscclc::device::detail {

/// An octet in the wire format of a kernel, and the scale of its block.
template <class K> struct WireOctet {
  using Wire = typename K::Plan::Wire;
  using Kept = typename Wire::Kept;
  using Word = typename Moved<Kept>::Word;
  static constexpr unsigned perBlock = Wire::elements / octetSize;
  static constexpr unsigned scaleAt = perBlock * sizeof(Word); ///< byte of a block in scratch at which the scale begins
  Word word;
  float scale;

  static MSCCLC_DEVICE WireOctet of(const Values &values, float scale) {
    return {bitCast<Word>(narrowed<Kept>(Wire::quotients(values, scale))), scale};
  }
  /// Returns the octet that begins with element `first` of the block.
  static MSCCLC_DEVICE WireOctet load(const char *block, unsigned first) {
    return {loadAs<Word>(block + first / octetSize * sizeof(Word)),
            Wire::isScaled ? loadAs<float>(block + scaleAt) : 1};
  }
  MSCCLC_DEVICE void store(char *block, unsigned first) const {
    storeAs<Word>(block + first / octetSize * sizeof(Word), word);
  }
  MSCCLC_DEVICE Values values() const {
    return Wire::products(widened<Kept>(bitCast<typename Moved<Kept>::Elements>(word)), scale);
  }
};

/// Returns how many bytes of the message a block holds.
template <class K> MSCCLC_BOTH constexpr uint64_t wireBlockBytes() {
  return K::Plan::Wire::elements * sizeof(typename K::Element);
}

/// Packets with octets. Each octet takes `words` packets. The scale of a block takes one more packet, behind the octets
/// of the block.
template <class K> struct WirePackets {
  using Octet = WireOctet<K>;
  using Packet = typename K::Packet;
  using Payload = typename Packet::Payload;
  static_assert(!std::is_same_v<Packet, Lamport>, "bits of encoded values may be those of a packet that has not come");
  static constexpr unsigned words = sizeof(typename Octet::Word) / sizeof(Payload), scale = Octet::perBlock * words,
                            parts = words + (Octet::Wire::isScaled ? 1 : 0);
  struct Words {
    Payload w[words];
  };
  unsigned block, first; ///< `block`: the block's first packet in a row; `first`: the octet's first packet in the block

  /// `at`: the byte in a row of the message at which the block begins. `element`: the octet's first element in the
  /// block.
  MSCCLC_DEVICE WirePackets(uint64_t at, unsigned element)
      : block(static_cast<unsigned>(at / sizeof(Payload))), first(element / octetSize * words) {}

  /// The places of an octet's parts, counted from its first packet.
  struct Places {
    unsigned toScale;
    MSCCLC_DEVICE unsigned operator()(unsigned p) const { return p < words ? p : toScale; }
  };
  /// Takes one part of an octet, row by row. The last part of a row calls take(octet).
  template <class Take> struct Part {
    Payload *octet;
    unsigned number;
    const Take *take;
    MSCCLC_DEVICE void start(const Payload &part) { add(part); }
    MSCCLC_DEVICE void add(const Payload &part) {
      octet[number] = part;
      if (number + 1 != parts)
        return;
      Words all;
      MSCCLC_UNROLL
      for (unsigned i = 0; i < words; ++i)
        all.w[i] = octet[i];
      (*take)(Octet{bitCast<typename Octet::Word>(all), bitCast<float>(octet[parts - 1].w[0])});
    }
  };

  /// Calls take(octet) for the octet of each of `N` rows, in their order.
  template <unsigned N, class L, class Take>
  MSCCLC_DEVICE void read(const PacketLaunch &launch, const L &rows, const Take &take) const {
    Payload octet[parts];
    Part<Take> part[parts];
    MSCCLC_UNROLL
    for (unsigned p = 0; p < parts; ++p)
      part[p] = {octet, p, &take};
    // An octet needs many registers, so few octets are read at once.
    readPackets<Packet, typename K::Element, true, N, polledTogether / 2>(launch, rows, block + first, part,
                                                                          Places{scale - first});
  }
  template <unsigned N, class L> MSCCLC_DEVICE void store(uint32_t flag, const L &rows, const Octet &octet) const {
    const auto all = bitCast<Words>(octet.word);
    MSCCLC_UNROLL
    for (unsigned i = 0; i < words; ++i)
      writePackets<Packet, typename K::Element, N>(flag, rows, block + first + i, all.w[i]);
  }
  template <unsigned N, class L> MSCCLC_DEVICE void storeScale(uint32_t flag, const L &rows, float value) const {
    Payload payload{};
    payload.w[0] = bitCast<uint32_t>(value);
    writePackets<Packet, typename K::Element, N>(flag, rows, block + scale, payload);
  }
};

/// Returns the number of the source that is added as number `n`.
MSCCLC_DEVICE unsigned sourceAt(AddedFirst, unsigned n) {
  return n;
}
MSCCLC_DEVICE unsigned sourceAt(AddedAfter place, unsigned n) {
  return n < place.others ? n + 1 : n == place.others ? 0 : n;
}

/// Returns values [first, first + 8) of the block at byte `at` of row `row` of an operand.
template <class K>
MSCCLC_DEVICE Values valuesOf(const K &k, const Rows &rows, unsigned row, uint64_t at, unsigned first) {
  using T = typename K::Element;
  const char *const block = k.rowOf(rows, row) + at;
  if (rows.layout != OperandLayout::Data)
    return WireOctet<K>::load(block, first).values();
  return loadValues<T>(reinterpret_cast<const T *>(block) + first, octetSize);
}

template <class Op, class K, class Place, class S>
MSCCLC_DEVICE Values sumOf(const K &k, Place place, const S &sources, unsigned row, uint64_t at, unsigned first) {
  Values sum = valuesOf(k, sources(sourceAt(place, 0)), row, at, first);
  constexpr unsigned N = S::size;
  if constexpr (N > 1) {
    [[maybe_unused]] constexpr unsigned unrolled = isComputed<S> ? loadsInFlight<typename K::Plan> : N;
    MSCCLC_UNROLL_SOME
    for (unsigned n = 1; n < N; ++n) {
      const Values next = valuesOf(k, sources(sourceAt(place, n)), row, at, first);
      MSCCLC_UNROLL
      for (unsigned i = 0; i < octetSize; ++i)
        sum.at[i] = Op::apply(sum.at[i], next.at[i]);
    }
  }
  return sum;
}

/// Returns whether some plain operand lies in an input or output (if `inMessage`) or in scratch (otherwise).
template <class L> MSCCLC_DEVICE bool lies(const L &operands, bool inMessage) {
  bool some = false;
  if constexpr (L::size != 0)
    for (unsigned i = 0; i < L::size; ++i)
      some |= (operands(i).layout == OperandLayout::Data) == inMessage;
  return some;
}

// These functions store an octet, or a scale, of the block at byte `at` of row `row` of all targets. They are separate
// functions, because nvcc 13 drops the code after an empty `if constexpr` in a nested lambda.

template <class K, class D>
MSCCLC_DEVICE void storeOctet(const K &k, const D &targets, unsigned row, uint64_t at, unsigned first,
                              const WireOctet<K> &octet, const Values &values) {
  using T = typename K::Element;
  for (unsigned d = 0; d < D::size; ++d) {
    const Rows target = targets(d);
    char *const block = k.rowOf(target, row) + at;
    if (target.layout == OperandLayout::Data)
      storeValues<T>(reinterpret_cast<T *>(block) + first, octetSize, values);
    else
      octet.store(block, first);
  }
}
template <class K>
MSCCLC_DEVICE void storeOctet(const K &, const None &, unsigned, uint64_t, unsigned, const WireOctet<K> &,
                              const Values &) {}
template <class K, class D>
MSCCLC_DEVICE void storeScale(const K &k, const D &targets, unsigned row, uint64_t at, float scale) {
  for (unsigned d = 0; d < D::size; ++d)
    if (targets(d).layout != OperandLayout::Data)
      storeAs<float>(k.rowOf(targets(d), row) + at + WireOctet<K>::scaleAt, scale);
}
template <class K> MSCCLC_DEVICE void storeScale(const K &, const None &, unsigned, uint64_t, float) {}

template <class K, class D>
MSCCLC_DEVICE void sendOctet(const K &k, const D &targets, unsigned row, uint64_t at, unsigned first,
                             const WireOctet<K> &octet) {
  WirePackets<K>(at, first).template store<D::size>(k.flag, rowsAs<char *>(k, targets, row), octet);
}
template <class K>
MSCCLC_DEVICE void sendOctet(const K &, const None &, unsigned, uint64_t, unsigned, const WireOctet<K> &) {}
template <class K, class D>
MSCCLC_DEVICE void sendScale(const K &k, const D &targets, unsigned row, uint64_t at, float scale) {
  WirePackets<K>(at, 0).template storeScale<D::size>(k.flag, rowsAs<char *>(k, targets, row), scale);
}
template <class K> MSCCLC_DEVICE void sendScale(const K &, const None &, unsigned, uint64_t, float) {}

/// Reduces plain sources and packets into plain targets and packets, in a kernel with a wire format. All threads of the
/// block call it. If there are packets, there is at most one plain source. No device has room for 2^32 blocks of the
/// format, so blocks are counted in 32 bits.
template <class Op, class K, class Place, class PS, class KS, class PD, class KD>
MSCCLC_DEVICE void moveBlocks(const K &k, uint32_t operation, const Slice &slice, Place place, const PS &plainSources,
                              const KS &packetSources, const PD &plainTargets, const KD &packetTargets) {
  using T = typename K::Element;
  using Octet = WireOctet<K>;
  using Wire = typename Octet::Wire;
  static_assert(Wire::template isFor<T>, "the wire format is for other types of elements");
  static_assert(Wire::elements % octetSize == 0 && Octet::perBlock <= partials, "a thread takes an octet, or several");
  constexpr uint64_t blockBytes = wireBlockBytes<K>();
  constexpr bool hasPackets = KS::size + KD::size != 0, hasOwn = KS::size != 0 && PS::size != 0;
  const bool isMoved = PS::size + KS::size == 1 && !lies(plainSources, /*inMessage=*/true);
  const bool inScratch = lies(plainTargets, /*inMessage=*/false);
  const bool encodes = (inScratch || KD::size != 0) && !isMoved;
  if (inScratch && isMoved) // an operation that encodes synchronises in combine(), before it writes
    syncBlock();
  const auto perRow = static_cast<unsigned>(slice.nominal / blockBytes); // 0: there is no message
  const auto begin = static_cast<unsigned>(slice.begin / blockBytes);
  const unsigned count = perRow == 0 ? 0 : static_cast<unsigned>(slice.end / blockBytes) - begin;
  forParts(k, Wire::elements, count, [&](unsigned number, bool isMine, const Team &team) {
    const unsigned mine = begin + number, row = mine / perRow;
    const uint64_t at = mine % perRow * blockBytes;
    const bool isThere = isMine && at < clipRow(k, plainTargets, row, clipRow(k, plainSources, row, slice.nominal));
    // Packets fill the room of the longest chunk. Packets behind the end of the chunk are zeros.
    const Part<T> part(nullptr, mine, Wire::elements, hasPackets ? isMine : isThere, team);
    const PacketLaunch launch{k.args, operation, k.flag};
    float ownScale = 1, scale = 1;
    if constexpr (hasOwn && Wire::isScaled)
      ownScale = Wire::scaleOf(part.template combine<Amax>([&](const device::Octet &octet) {
        return isThere ? valuesOf(k, plainSources(0), row, at, static_cast<unsigned>(octet.first)) : Values{};
      }));
    Values sum{};
    Octet moved{};
    const auto take = [&](const device::Octet &octet) {
      const auto first = static_cast<unsigned>(octet.first);
      if constexpr (KS::size == 0) {
        if (!isThere)
          return sum = {};
        if (isMoved)
          moved = Octet::load(k.rowOf(plainSources(0), row) + at, first);
        return sum = isMoved ? moved.values() : sumOf<Op>(k, place, plainSources, row, at, first);
      } else {
        AccumulatorFor<float, Op, Values, PS::size + KS::size, Place> acc;
        if constexpr (hasOwn) {
          const Values own = isThere ? valuesOf(k, plainSources(0), row, at, first) : Values{};
          startSum(acc, place, Octet::of(own, ownScale).values());
        }
        bool isFirst = !hasOwn;
        WirePackets<K>(at, first).template read<KS::size>(launch, rowsAs<char *>(k, packetSources, row),
                                                          [&](const Octet &came) {
                                                            moved = came;
                                                            if (isFirst)
                                                              startSum(acc, AddedFirst{}, came.values());
                                                            else
                                                              acc.add(came.values());
                                                            isFirst = false;
                                                          });
        return sum = acc.result();
      }
    };
    if constexpr (Wire::isScaled)
      if (encodes)
        scale = Wire::scaleOf(part.template combine<Amax>(take));
    const bool isKept = Wire::isScaled && encodes && team.lanes == Octet::perBlock; // `sum` has the thread's only octet
    part.forEach([&](const device::Octet &octet) {
      const auto first = static_cast<unsigned>(octet.first);
      if (!isKept)
        take(octet);
      const Octet made = encodes ? Octet::of(sum, scale) : moved;
      if (hasPackets && encodes)
        sum = made.values();
      scale = made.scale;
      if (isThere)
        storeOctet(k, plainTargets, row, at, first, made, sum);
      sendOctet(k, packetTargets, row, at, first, made);
    });
    if constexpr (Wire::isScaled) {
      if (encodes && inScratch && !isKept) // an operand may also be a target, whose scale is still read
        syncBlock();
      if (part.leads() && isThere)
        storeScale(k, plainTargets, row, at, scale);
      if (part.leads())
        sendScale(k, packetTargets, row, at, scale);
    }
  });
  if (inScratch)
    syncBlock();
}

/// Does reduceRows() in a kernel with a wire format. All threads of the block call it.
template <class Op, class K, class Place, class S, class D>
MSCCLC_DEVICE void reduceBlocks(const K &k, const Slice &slice, Place place, const S &sources, const D &targets) {
  moveBlocks<Op>(k, 0, slice, place, sources, None{}, targets, None{});
}

} // namespace mscclc::device::detail
