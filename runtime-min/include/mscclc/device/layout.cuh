// Where chunk k of a message begins, for any message size, on host and device.
//
// A message is `shares` equal shares of `groupChunks` chunks. Within a share, chunk c is its c-th part in units of
// `unit` bytes, the first ones a unit longer where it does not divide; the last unit may be cut short. So every rank
// has an equal share of an AllGather, a ReduceScatter or an AllToAll, whatever the length.
#pragma once

namespace mscclc::device {

/// A Plan gives `shares`, `groupChunks` (0: no message at all) and `unit` at compile time.
template <class Plan> struct Layout {
  uint64_t share;    ///< bytes
  uint64_t perChunk; ///< whole units that every chunk has
  uint64_t longer;   ///< chunks with a unit more
  uint64_t nominal;  ///< bytes of the longest chunk, rounded up to 16; at least 16
  bool even;         ///< all chunks are `perChunk` units
  bool exact;        ///< and these are `nominal` bytes

  MSCCLC_BOTH explicit Layout(uint64_t messageBytes) {
    constexpr uint64_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
    share = messageBytes / Plan::shares;
    const uint64_t units = (share + Plan::unit - 1) / Plan::unit;
    perChunk = units / chunks;
    longer = units % chunks;
    even = longer == 0 && share % Plan::unit == 0;
    nominal = (perChunk + (longer != 0)) * Plan::unit;
    if (nominal > share)
      nominal = share;
    nominal = nominal <= 16 ? 16 : (nominal + 15) / 16 * 16;
    exact = even && nominal == perChunk * Plan::unit;
  }

  /// Byte offset of chunk `k` of an input or output.
  MSCCLC_BOTH uint64_t offset(uint32_t k) const {
    if (even)
      return k * perChunk * Plan::unit;
    constexpr uint32_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
    const uint32_t group = k / chunks, c = k % chunks;
    const uint64_t at = (c * perChunk + (c < longer ? c : longer)) * Plan::unit;
    return group * share + (at < share ? at : share);
  }
  MSCCLC_BOTH uint64_t bytes(uint32_t k) const { return even ? perChunk * Plan::unit : offset(k + 1) - offset(k); }
};

/// Distance of two scratch chunks that a message of this size needs.
template <class Plan> MSCCLC_BOTH uint64_t scratchStride(uint64_t messageBytes) {
  return Layout<Plan>(messageBytes).nominal;
}
/// Bytes of a rank's scratch: packets take twice the room, and double scratch has two halves.
template <class Plan> MSCCLC_BOTH uint64_t scratchBytes(uint64_t stride) {
  return Plan::scratchSlots * stride * (Plan::packets ? 2 : 1) * (Plan::doubleScratch ? 2 : 1);
}

} // namespace mscclc::device
