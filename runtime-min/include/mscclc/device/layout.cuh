// Computes where chunk k of a message begins, for any message size, on the host and on the device.
//
// A message consists of `shares` equal shares of `groupChunks` chunks. A share is divided into units of `unit` bytes.
// Each chunk gets the same number of units. If units remain, the first chunks get one more unit each. The last unit of
// a share may be cut short. So every rank has an equal share of an AllGather, a ReduceScatter or an AllToAll, for any
// length.
//
// If functions of hooks take rows or blocks, the unit is computed at launch. It is a multiple of `unit` bytes, of a row
// and of a block.
//
// Example: a share of 100 bytes has 4 chunks, and a unit has 16 bytes. There are 7 units, and the last unit has 4
// bytes. The chunks begin at 0, 32, 64 and 96. Three of them have 2 units, and the last one has 4 bytes.
//
// A launch may run several instances of a program (LaunchInstances). Then each chunk is divided into as many parts as
// there are instances, and instance i moves part i of each chunk. The parts are laid out as chunks would be if there
// were as many chunks as parts. An instance sees only its own parts, and calls them chunks.
#pragma once

namespace mscclc::device {

/// The unit into which messages of a Plan are divided, in bytes.
template <class Plan, class = void> struct Division {
  static constexpr bool isGiven = false; ///< true: the unit is computed at launch
  static constexpr uint64_t unit = Plan::unit;
  MSCCLC_BOTH explicit Division(uint64_t) {}
};
/// The unit of a Plan whose hooks take rows or blocks. Each chunk consists of whole blocks of `blockElements` elements.
template <class Plan> struct Division<Plan, std::void_t<decltype(Plan::blockElements)>> {
  static constexpr bool isGiven = true;
  uint64_t unit;
  MSCCLC_BOTH explicit Division(uint64_t given) : unit(given) {}
};

/// An entry of the table `Plan::instances`, which is sorted by size. A launch of a message of `fromBytes` bytes or more
/// runs `count` instances of the program (a power of two), unless a later entry applies. The table is part of the
/// kernel's text, so all ranks run the same number of instances.
struct LaunchInstances {
  uint64_t fromBytes;
  uint32_t count;
};
/// The number of instances of a Plan. `most` is the largest number, and at() returns the number for a message size
/// (host). Both are 1 if the Plan has no table.
template <class Plan, class = void> struct InstancesOf {
  static constexpr uint32_t most = 1;
  static constexpr uint32_t at(uint64_t) { return 1; }
};
template <class Plan> struct InstancesOf<Plan, std::void_t<decltype(Plan::instances)>> {
  static constexpr uint32_t mostOf() {
    uint32_t most = 1;
    for (const LaunchInstances &row : Plan::instances)
      most = row.count > most ? row.count : most;
    return most;
  }
  static constexpr uint32_t most = mostOf();
  static uint32_t at(uint64_t messageBytes) {
    uint32_t count = 1;
    for (const LaunchInstances &row : Plan::instances)
      if (messageBytes >= row.fromBytes)
        count = row.count;
    return count;
  }
};
template <class Plan> constexpr uint32_t mostInstances = InstancesOf<Plan>::most;

/// The number of instances in a launch, and the instance whose parts of chunks a Layout returns.
template <class Plan, bool = (mostInstances<Plan> > 1)> struct InstanceInLayout {
  static constexpr uint32_t instance = 0, instances = 1;
  MSCCLC_BOTH explicit InstanceInLayout(uint32_t) {}
};
template <class Plan> struct InstanceInLayout<Plan, true> {
  uint32_t instance = 0, instances;
  MSCCLC_BOTH explicit InstanceInLayout(uint32_t all) : instances(all) {}
};

/// The layout of a message. A Plan gives `shares`, `groupChunks` (0: no message at all) and `unit` at compile time.
template <class Plan> struct Layout : Division<Plan>, InstanceInLayout<Plan> {
  using Division<Plan>::unit;
  using InstanceInLayout<Plan>::instance;
  using InstanceInLayout<Plan>::instances;
  uint64_t share;    ///< bytes of a share
  uint64_t perChunk; ///< whole units in each chunk; with several instances (here and below): in each part of a chunk
  uint64_t longer;   ///< number of chunks of a share that have one more unit
  uint64_t nominal;  ///< length of the longest chunk in bytes, rounded up to a multiple of 16; at least 16
  bool even;         ///< true: all chunks have exactly `perChunk` units
  bool exact;        ///< true: all chunks have exactly `perChunk` units and `nominal` bytes

  MSCCLC_BOTH explicit Layout(uint64_t messageBytes, uint64_t givenUnit = Plan::unit, uint32_t all = 1)
      : Division<Plan>(givenUnit), InstanceInLayout<Plan>(all) {
    const uint64_t chunks = uint64_t{Plan::groupChunks == 0 ? 1 : Plan::groupChunks} * instances;
    share = messageBytes / Plan::shares;
    const uint64_t units = (share + unit - 1) / unit;
    perChunk = units / chunks;
    longer = units % chunks;
    even = longer == 0 && share % unit == 0;
    nominal = (perChunk + (longer != 0)) * unit;
    if (nominal > share && !Division<Plan>::isGiven) // units of rows and blocks divide slices, and are multiples of 16
      nominal = share;
    nominal = nominal <= 16 ? 16 : (nominal + 15) / 16 * 16;
    exact = even && nominal == perChunk * unit;
  }

  /// Returns the layout as instance `i` sees it.
  MSCCLC_BOTH Layout ofInstance(uint32_t i) const {
    Layout layout = *this;
    if constexpr (mostInstances<Plan> > 1)
      layout.instance = i;
    return layout;
  }
  /// Returns the offset of chunk `k` of an input or output, in bytes. With several instances, it is the offset of this
  /// instance's part of the chunk.
  MSCCLC_BOTH uint64_t offset(uint32_t k) const {
    if (even)
      return (k * instances + instance) * perChunk * unit;
    const uint32_t group = k / chunksOfShare;
    return group * share + inShare(k % chunksOfShare * instances + instance);
  }
  /// Returns the length of chunk `k` in bytes. With several instances, it is the length of this instance's part of the
  /// chunk.
  MSCCLC_BOTH uint64_t bytes(uint32_t k) const {
    if (even)
      return perChunk * unit;
    const uint32_t c = k % chunksOfShare * instances + instance;
    return inShare(c + 1) - inShare(c);
  }

private:
  static constexpr uint32_t chunksOfShare = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
  /// Returns the offset in a share, in bytes, of its chunk `c`. With several instances, `c` is the number of a part.
  MSCCLC_BOTH uint64_t inShare(uint32_t c) const {
    const uint64_t at = (c * perChunk + (c < longer ? c : longer)) * unit;
    return at < share ? at : share;
  }
};

/// The places of a buffer's slots, in kernels that move rows by counts. A slot holds the rows that one rank sends to
/// one rank. All slots have room for the same number of rows, the capacity. A count says how many of these rows are
/// live.
enum class SlotLayout : uint8_t {
  None,   ///< the Plan has no counts
  Padded, ///< each slot begins at a fixed place
  Packed, ///< the rows of a slot follow the live rows of the slot before it
};
template <class Plan, class = void> struct SlotsOf : std::integral_constant<SlotLayout, SlotLayout::None> {};
template <class Plan>
struct SlotsOf<Plan, std::void_t<decltype(Plan::slots)>> : std::integral_constant<SlotLayout, Plan::slots> {};
template <class Plan> constexpr bool hasSlots = SlotsOf<Plan>::value != SlotLayout::None;
template <class Plan> constexpr bool isPacked = SlotsOf<Plan>::value == SlotLayout::Packed;

/// The number of ranks of a node, in a Plan whose counts go to other nodes through ports
/// (MscclcKernel::ranks_per_node). In other Plans, it is the number of all ranks.
template <class Plan, class = void> struct NodeOf : std::integral_constant<uint32_t, Plan::ranks> {};
template <class Plan>
struct NodeOf<Plan, std::void_t<decltype(Plan::ranksPerNode)>> : std::integral_constant<uint32_t, Plan::ranksPerNode> {
};
template <class Plan> constexpr uint32_t ranksPerNode = NodeOf<Plan>::value;
template <class Plan> constexpr uint32_t otherNodes = Plan::ranks / ranksPerNode<Plan> - 1;

/// The kind of work that a kernel does by an index (MscclcIndex). Before its first operation, the kernel packs rows
/// into the slots of its input. After its last operation, it unpacks the slots of its output.
enum class Experts : uint8_t {
  None,     ///< the Plan has no index
  Dispatch, ///< the kernel packs by the index
  Combine,  ///< the kernel unpacks by the index
};
template <class Plan, class = void> struct ExpertsOf : std::integral_constant<Experts, Experts::None> {};
template <class Plan>
struct ExpertsOf<Plan, std::void_t<decltype(Plan::expertRows)>> : std::integral_constant<Experts, Plan::expertRows> {};
template <class Plan> constexpr bool hasExperts = ExpertsOf<Plan>::value != Experts::None;
/// Returns the number of experts of a rank; 0 for a Plan without an index.
template <class Plan> constexpr uint32_t expertsOf() {
  if constexpr (hasExperts<Plan>)
    return Plan::experts;
  else
    return 0;
}

/// True for a Plan of a dispatch with `oncePerRank`. A slot then holds a row at most once, for all experts of the row
/// on the receiving rank.
template <class Plan, class = void> struct OncePerRank : std::false_type {};
template <class Plan>
struct OncePerRank<Plan, std::void_t<decltype(Plan::oncePerRank)>> : std::bool_constant<Plan::oncePerRank> {};

/// The number of rows in a block that a launch and its user hand over (MscclcKernel::ready_rows); 0: no blocks are
/// handed over.
template <class Plan, class = void> struct ReadyRows : std::integral_constant<uint32_t, 0> {};
template <class Plan>
struct ReadyRows<Plan, std::void_t<decltype(Plan::readyRows)>> : std::integral_constant<uint32_t, Plan::readyRows> {};

/// The offset of a chunk in its buffer, and its length, both in bytes.
struct Extent {
  uint64_t begin, bytes;
};
/// Returns the extent of chunk `part` of a slot. The slot begins at byte `begin` and has `live` live bytes. The buffer
/// has room for `room` of these bytes. The live bytes are divided among the chunks of the slot as a share is.
template <class Plan> MSCCLC_BOTH Extent liveExtentOf(uint64_t begin, uint64_t live, uint64_t room, uint32_t part) {
  const Layout<Plan> slot(live * Plan::shares);
  const uint64_t at = slot.offset(part), bytes = slot.bytes(part);
  const uint64_t left = at < room ? room - at : 0;
  return {begin + at, bytes < left ? bytes : left};
}

/// True for a Plan with `wideScratch`. Its scratch holds elements in the type in which they are added up.
template <class Plan, class = void> struct HasWideScratch : std::false_type {};
template <class Plan>
struct HasWideScratch<Plan, std::void_t<decltype(Plan::wideScratch)>> : std::bool_constant<Plan::wideScratch> {};
/// The type in which scratch holds elements of type T. spreadOf is the size of that type divided by the size of T.
template <class Plan, class T>
using HeldInScratch = std::conditional_t<HasWideScratch<Plan>::value, typename detail::Number<T>::Sum, T>;
template <class Plan, class T> constexpr unsigned spreadOf = sizeof(HeldInScratch<Plan, T>) / sizeof(T);

/// True for a Plan with a wire format: scratch holds blocks in the form Plan::Wire (mscclc/wire.cuh).
template <class Plan, class = void> struct HasWire : std::false_type {};
template <class Plan> struct HasWire<Plan, std::void_t<typename Plan::Wire>> : std::true_type {};

/// The part of a launch that a kernel does. In a Plan with `split`, a launch is two kernels: the first one sends, and
/// the second one receives. The operations of a block before its first wait are in the first kernel, and its other
/// operations are in the second one. The second kernel begins its work when the first one has ended, and sees all that
/// the first one did. This order is stronger than the synchronisation of a block's threads. So a proof for the
/// operations of blocks in sequence also holds for the two kernels. Between the kernels, all state is in memory:
/// counters, scratch and MscclcIndex::work.
enum class KernelPart : uint8_t { Whole, Send, Receive };
template <class Plan, class = void> struct IsSplit : std::false_type {};
template <class Plan> struct IsSplit<Plan, std::void_t<decltype(Plan::split)>> : std::bool_constant<Plan::split> {};
/// The number of kernels in a launch.
template <class Plan> constexpr uint32_t kernelsOfLaunch = IsSplit<Plan>::value ? 2 : 1;

/// True for a Plan with `lamportPackets`. Its packets have no flags (packets.cuh).
template <class Plan, class = void> struct HasLamportPackets : std::false_type {};
template <class Plan>
struct HasLamportPackets<Plan, std::void_t<decltype(Plan::lamportPackets)>> : std::bool_constant<Plan::lamportPackets> {
};
/// The size of packets divided by the size of their data.
template <class Plan> constexpr unsigned packetScale = Plan::packets && !HasLamportPackets<Plan>::value ? 2 : 1;
/// The number of equal parts of scratch, which launches use in turn.
template <class Plan>
constexpr unsigned scratchParts = HasLamportPackets<Plan>::value ? 3
                                  : Plan::doubleScratch          ? 2
                                                                 : 1;

/// Returns a distance between scratch chunks, in bytes. It is enough for all messages of up to this size whose units
/// have at most `unit` bytes. `spread`: see spreadOf.
template <class Plan> MSCCLC_BOTH uint64_t scratchStride(uint64_t messageBytes, unsigned spread, uint64_t unit) {
  constexpr uint64_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
  return (messageBytes / Plan::shares / chunks / 16 * 16 + unit) * spread;
}
/// Returns the size of one part of a rank's scratch, in bytes. Each instance has its own slots.
template <class Plan> MSCCLC_BOTH uint64_t scratchPartBytes(uint64_t stride) {
  return Plan::scratchSlots * mostInstances<Plan> * stride * packetScale<Plan>;
}
/// Returns the size of a rank's scratch, in bytes.
template <class Plan> MSCCLC_BOTH uint64_t scratchBytes(uint64_t stride) {
  return scratchPartBytes<Plan>(stride) * scratchParts<Plan>;
}

} // namespace mscclc::device
