// Computes where chunk k of a message begins, for any message size, on the host and on the device.
//
// A message consists of `shares` equal shares of `groupChunks` chunks. A share is divided into units of `unit` bytes.
// Each chunk gets the same number of units. If that leaves units over, the first chunks get one more each. The last
// unit of a share may be cut short. So every rank has an equal share of an AllGather, a ReduceScatter or an AllToAll,
// for any length.
//
// If functions of hooks take rows or blocks, the unit is given at launch: `unit` bytes or more, and whole rows and
// blocks.
//
// Example: 1 share of 100 bytes, 4 chunks, unit 16. There are 7 units, the last one of 4 bytes. The chunks begin at 0,
// 32, 64 and 96: three have 2 units, and the last has 4 bytes.
#pragma once

namespace mscclc::device {

/// The unit of a Plan, in bytes, in which its messages are divided.
template <class Plan, class = void> struct Division {
  static constexpr bool isGiven = false; ///< true: at launch
  static constexpr uint64_t unit = Plan::unit;
  MSCCLC_BOTH explicit Division(uint64_t) {}
};
/// The unit of a Plan whose hooks take rows or blocks. `blockElements`: chunks are whole blocks of so many elements.
template <class Plan> struct Division<Plan, std::void_t<decltype(Plan::blockElements)>> {
  static constexpr bool isGiven = true;
  uint64_t unit;
  MSCCLC_BOTH explicit Division(uint64_t given) : unit(given) {}
};

/// The layout of a message. A Plan gives `shares`, `groupChunks` (0: no message at all) and `unit` at compile time.
template <class Plan> struct Layout : Division<Plan> {
  using Division<Plan>::unit;
  uint64_t share;    ///< bytes of a share
  uint64_t perChunk; ///< whole units in every chunk
  uint64_t longer;   ///< number of chunks with one more unit
  uint64_t nominal;  ///< bytes of the longest chunk, rounded up to 16; at least 16
  bool even;         ///< all chunks have exactly `perChunk` units
  bool exact;        ///< and these are `nominal` bytes

  MSCCLC_BOTH explicit Layout(uint64_t messageBytes, uint64_t givenUnit = Plan::unit) : Division<Plan>(givenUnit) {
    constexpr uint64_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
    share = messageBytes / Plan::shares;
    const uint64_t units = (share + unit - 1) / unit;
    perChunk = units / chunks;
    longer = units % chunks;
    even = longer == 0 && share % unit == 0;
    nominal = (perChunk + (longer != 0)) * unit;
    if (nominal > share && !Division<Plan>::isGiven) // a given unit divides slices, too, and is a multiple of 16
      nominal = share;
    nominal = nominal <= 16 ? 16 : (nominal + 15) / 16 * 16;
    exact = even && nominal == perChunk * unit;
  }

  /// Returns the offset, in bytes, of chunk `k` of an input or output.
  MSCCLC_BOTH uint64_t offset(uint32_t k) const {
    if (even)
      return k * perChunk * unit;
    constexpr uint32_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
    const uint32_t group = k / chunks, c = k % chunks;
    const uint64_t at = (c * perChunk + (c < longer ? c : longer)) * unit;
    return group * share + (at < share ? at : share);
  }
  /// Returns the length of chunk `k` in bytes.
  MSCCLC_BOTH uint64_t bytes(uint32_t k) const { return even ? perChunk * unit : offset(k + 1) - offset(k); }
};

/// The places of a buffer's slots, for kernels that move as many rows as counts say. A slot is what one rank sends to
/// one other. It has room for equally many rows on all ranks, its capacity; a count says how many are live.
enum class SlotLayout : uint8_t {
  None,   ///< the Plan has no counts
  Padded, ///< each slot begins at a place of its own
  Packed, ///< the rows of a slot follow the live rows of the slot before it
};
template <class Plan, class = void> struct SlotsOf : std::integral_constant<SlotLayout, SlotLayout::None> {};
template <class Plan>
struct SlotsOf<Plan, std::void_t<decltype(Plan::slots)>> : std::integral_constant<SlotLayout, Plan::slots> {};
template <class Plan> constexpr bool hasSlots = SlotsOf<Plan>::value != SlotLayout::None;
template <class Plan> constexpr bool isPacked = SlotsOf<Plan>::value == SlotLayout::Packed;

/// The bytes of a chunk that are live. The live bytes of a slot are divided among its chunks as a share is.
struct LiveRow {
  uint64_t begin; ///< in the buffer
  uint64_t bytes; ///< as the sender counts
  uint64_t room;  ///< of these, as many as the buffer has room for
};
/// Returns chunk `part` of a slot of `live` bytes that begins at byte `begin`, and of which `room` bytes have room.
template <class Plan> MSCCLC_BOTH LiveRow liveRowOf(uint64_t begin, uint64_t live, uint64_t room, uint32_t part) {
  const Layout<Plan> slot(live * Plan::shares);
  const uint64_t at = slot.offset(part), bytes = slot.bytes(part);
  const uint64_t left = at < room ? room - at : 0;
  return {begin + at, bytes, bytes < left ? bytes : left};
}

/// True for a Plan that says so: its scratch holds elements in the type in which they are added up.
template <class Plan, class = void> struct HasWideScratch : std::false_type {};
template <class Plan>
struct HasWideScratch<Plan, std::void_t<decltype(Plan::wideScratch)>> : std::bool_constant<Plan::wideScratch> {};
/// The type in which scratch holds elements of T, and how many times the bytes of T that takes.
template <class Plan, class T>
using HeldInScratch = std::conditional_t<HasWideScratch<Plan>::value, typename detail::Number<T>::Sum, T>;
template <class Plan, class T> constexpr unsigned spreadOf = sizeof(HeldInScratch<Plan, T>) / sizeof(T);

/// True for a Plan that says so: its packets have no flags (packets.cuh).
template <class Plan, class = void> struct HasLamportPackets : std::false_type {};
template <class Plan>
struct HasLamportPackets<Plan, std::void_t<decltype(Plan::lamportPackets)>> : std::bool_constant<Plan::lamportPackets> {
};
/// How many times the bytes of plain data packets take.
template <class Plan> constexpr unsigned packetScale = Plan::packets && !HasLamportPackets<Plan>::value ? 2 : 1;
/// The number of equal parts of scratch, which launches use in turn.
template <class Plan>
constexpr unsigned scratchParts = HasLamportPackets<Plan>::value ? 3
                                  : Plan::doubleScratch          ? 2
                                                                 : 1;

/// Returns the distance of two scratch chunks, in bytes, that a message of this size needs. `spread`: that of its
/// elements.
template <class Plan> MSCCLC_BOTH uint64_t scratchStride(uint64_t messageBytes, unsigned spread) {
  return Layout<Plan>(messageBytes).nominal * spread;
}
/// Returns one that is long enough for all messages of up to this size, whose units have at most `unit` bytes.
template <class Plan> MSCCLC_BOTH uint64_t scratchStride(uint64_t messageBytes, unsigned spread, uint64_t unit) {
  constexpr uint64_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
  return (messageBytes / Plan::shares / chunks / 16 * 16 + unit) * spread;
}
/// Returns the bytes of one part of a rank's scratch.
template <class Plan> MSCCLC_BOTH uint64_t scratchPartBytes(uint64_t stride) {
  return Plan::scratchSlots * stride * packetScale<Plan>;
}
/// Returns the bytes of a rank's scratch.
template <class Plan> MSCCLC_BOTH uint64_t scratchBytes(uint64_t stride) {
  return scratchPartBytes<Plan>(stride) * scratchParts<Plan>;
}

} // namespace mscclc::device
