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
//
// A launch may take several instances of a program (LaunchInstances). Then each chunk is divided into as many parts, as
// if there were so many times the chunks, and instance i moves part i of each. An instance asks for its parts as if
// they were chunks.
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

/// A launch of a message of `fromBytes` bytes or more takes `count` instances of the program, a power of two. A Plan
/// may have a table `instances` of these, by size. The table is a part of the kernel's text, so all ranks take equally
/// many.
struct LaunchInstances {
  uint64_t fromBytes;
  uint32_t count;
};
/// How many instances of a Plan there are at most, and in a launch of a size (host). Without a table there is one.
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

/// The instance that asks for the places of chunks, of those in a launch.
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
  uint64_t perChunk; ///< whole units in every chunk, or part of one if there are several instances; so below
  uint64_t longer;   ///< number of chunks of a share with one more unit
  uint64_t nominal;  ///< bytes of the longest chunk, rounded up to 16; at least 16
  bool even;         ///< all chunks have exactly `perChunk` units
  bool exact;        ///< and these are `nominal` bytes

  MSCCLC_BOTH explicit Layout(uint64_t messageBytes, uint64_t givenUnit = Plan::unit, uint32_t all = 1)
      : Division<Plan>(givenUnit), InstanceInLayout<Plan>(all) {
    const uint64_t chunks = uint64_t{Plan::groupChunks == 0 ? 1 : Plan::groupChunks} * instances;
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

  /// Returns the layout as instance `i` sees it.
  MSCCLC_BOTH Layout ofInstance(uint32_t i) const {
    Layout layout = *this;
    if constexpr (mostInstances<Plan> > 1)
      layout.instance = i;
    return layout;
  }
  /// Returns the offset, in bytes, of chunk `k` of an input or output, or of the instance's part of it.
  MSCCLC_BOTH uint64_t offset(uint32_t k) const {
    if (even)
      return (k * instances + instance) * perChunk * unit;
    const uint32_t group = k / chunksOfShare;
    return group * share + inShare(k % chunksOfShare * instances + instance);
  }
  /// Returns the length of chunk `k`, or of that part, in bytes.
  MSCCLC_BOTH uint64_t bytes(uint32_t k) const {
    if (even)
      return perChunk * unit;
    const uint32_t c = k % chunksOfShare * instances + instance;
    return inShare(c + 1) - inShare(c);
  }

private:
  static constexpr uint32_t chunksOfShare = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
  /// Returns the offset of chunk or part `c` of a share in the share.
  MSCCLC_BOTH uint64_t inShare(uint32_t c) const {
    const uint64_t at = (c * perChunk + (c < longer ? c : longer)) * unit;
    return at < share ? at : share;
  }
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

/// The ranks of a node in a Plan whose counts go to other nodes through ports (MscclcKernel::ranks_per_node). Else all
/// ranks are of one node.
template <class Plan, class = void> struct NodeOf : std::integral_constant<uint32_t, Plan::ranks> {};
template <class Plan>
struct NodeOf<Plan, std::void_t<decltype(Plan::ranksPerNode)>> : std::integral_constant<uint32_t, Plan::ranksPerNode> {
};
template <class Plan> constexpr uint32_t ranksPerNode = NodeOf<Plan>::value;
template <class Plan> constexpr uint32_t otherNodes = Plan::ranks / ranksPerNode<Plan> - 1;

/// What a kernel does by an index (MscclcIndex): before its first operation it packs rows into the slots of its input,
/// and after its last one it unpacks those of its output.
enum class Experts : uint8_t {
  None,     ///< the Plan has no index
  Dispatch, ///< packs by the index
  Combine,  ///< unpacks by the index
};
template <class Plan, class = void> struct ExpertsOf : std::integral_constant<Experts, Experts::None> {};
template <class Plan>
struct ExpertsOf<Plan, std::void_t<decltype(Plan::expertRows)>> : std::integral_constant<Experts, Plan::expertRows> {};
template <class Plan> constexpr bool hasExperts = ExpertsOf<Plan>::value != Experts::None;
/// Returns the experts of a rank; 0 in a Plan without an index.
template <class Plan> constexpr uint32_t expertsOf() {
  if constexpr (hasExperts<Plan>)
    return Plan::experts;
  else
    return 0;
}

/// True for a Plan of a dispatch that says so: a row is in a slot once, for all of its experts on the slot's rank.
template <class Plan, class = void> struct OncePerRank : std::false_type {};
template <class Plan>
struct OncePerRank<Plan, std::void_t<decltype(Plan::oncePerRank)>> : std::bool_constant<Plan::oncePerRank> {};

/// The rows of a block that a launch and its user hand over (MscclcKernel::ready_rows), as a Plan says; 0: none.
template <class Plan, class = void> struct ReadyRows : std::integral_constant<uint32_t, 0> {};
template <class Plan>
struct ReadyRows<Plan, std::void_t<decltype(Plan::readyRows)>> : std::integral_constant<uint32_t, Plan::readyRows> {};

/// The place of a chunk in its buffer, and its length, in bytes.
struct Extent {
  uint64_t begin, bytes;
};
/// Returns the extent of chunk `part` of a slot of `live` bytes that begins at byte `begin`, and of which `room` bytes
/// have room. The live bytes of a slot are divided among its chunks as a share is.
template <class Plan> MSCCLC_BOTH Extent liveExtentOf(uint64_t begin, uint64_t live, uint64_t room, uint32_t part) {
  const Layout<Plan> slot(live * Plan::shares);
  const uint64_t at = slot.offset(part), bytes = slot.bytes(part);
  const uint64_t left = at < room ? room - at : 0;
  return {begin + at, bytes < left ? bytes : left};
}

/// True for a Plan that says so: its scratch holds elements in the type in which they are added up.
template <class Plan, class = void> struct HasWideScratch : std::false_type {};
template <class Plan>
struct HasWideScratch<Plan, std::void_t<decltype(Plan::wideScratch)>> : std::bool_constant<Plan::wideScratch> {};
/// The type in which scratch holds elements of T. spreadOf is its size divided by that of T.
template <class Plan, class T>
using HeldInScratch = std::conditional_t<HasWideScratch<Plan>::value, typename detail::Number<T>::Sum, T>;
template <class Plan, class T> constexpr unsigned spreadOf = sizeof(HeldInScratch<Plan, T>) / sizeof(T);

/// True for a Plan with a wire format: scratch holds blocks in the form Plan::Wire (mscclc/wire.cuh).
template <class Plan, class = void> struct HasWire : std::false_type {};
template <class Plan> struct HasWire<Plan, std::void_t<typename Plan::Wire>> : std::true_type {};

/// The part of a launch that a kernel does. In a Plan that says `split`, a launch is a kernel that sends and one that
/// receives. The operations of a block before its first wait are in the former, the others in the latter. A later
/// kernel of a stream begins when the earlier one has ended, and sees all that it did, which is more than the
/// synchronisation of a block's threads gives. So what is proven of the operations of blocks, one after the other,
/// holds for both. Between the two, all state is in memory: counters, scratch and MscclcIndex::work.
enum class KernelPart : uint8_t { Whole, Send, Receive };
template <class Plan, class = void> struct IsSplit : std::false_type {};
template <class Plan> struct IsSplit<Plan, std::void_t<decltype(Plan::split)>> : std::bool_constant<Plan::split> {};
/// The kernels of a launch.
template <class Plan> constexpr uint32_t kernelsOfLaunch = IsSplit<Plan>::value ? 2 : 1;

/// True for a Plan that says so: its packets have no flags (packets.cuh).
template <class Plan, class = void> struct HasLamportPackets : std::false_type {};
template <class Plan>
struct HasLamportPackets<Plan, std::void_t<decltype(Plan::lamportPackets)>> : std::bool_constant<Plan::lamportPackets> {
};
/// The size of packets divided by that of their data.
template <class Plan> constexpr unsigned packetScale = Plan::packets && !HasLamportPackets<Plan>::value ? 2 : 1;
/// The number of equal parts of scratch, which launches use in turn.
template <class Plan>
constexpr unsigned scratchParts = HasLamportPackets<Plan>::value ? 3
                                  : Plan::doubleScratch          ? 2
                                                                 : 1;

/// Returns a distance of two scratch chunks, in bytes, that is long enough for all messages of up to this size, whose
/// units have at most `unit` bytes. `spread`: that of their elements.
template <class Plan> MSCCLC_BOTH uint64_t scratchStride(uint64_t messageBytes, unsigned spread, uint64_t unit) {
  constexpr uint64_t chunks = Plan::groupChunks == 0 ? 1 : Plan::groupChunks;
  return (messageBytes / Plan::shares / chunks / 16 * 16 + unit) * spread;
}
/// Returns the bytes of one part of a rank's scratch. Each instance has its own slots.
template <class Plan> MSCCLC_BOTH uint64_t scratchPartBytes(uint64_t stride) {
  return Plan::scratchSlots * mostInstances<Plan> * stride * packetScale<Plan>;
}
/// Returns the bytes of a rank's scratch.
template <class Plan> MSCCLC_BOTH uint64_t scratchBytes(uint64_t stride) {
  return scratchPartBytes<Plan>(stride) * scratchParts<Plan>;
}

} // namespace mscclc::device
