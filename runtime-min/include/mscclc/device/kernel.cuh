// The state of one thread of a launch, the places that it can name, and the distribution of an operation's rows to
// threads.
#pragma once

namespace mscclc::device {

/// The layout of an operand's rows in their buffer.
enum class OperandLayout : uint8_t {
  Data,    ///< rows of an input or output, which lie as the chunks of the message do
  Scratch, ///< rows of scratch, at multiples of the scratch stride
  Packets, ///< rows of packets in scratch; the stride is twice as long if packets have flags
};

/// The rows of an operand: the chunks of a buffer from chunk `first` on. `base` may be null if only offsets are needed,
/// as for targets of ports.
struct Rows {
  char *base;
  int first;
  OperandLayout layout;
  uint8_t buffer; ///< MscclcBufferKind
  int owner;      ///< the rank that the buffer belongs to
  int slot = -1, slotStep = 0;

  /// Returns rows of scratch that hold chunks of slots. Chunk `c` of the slot from rank `s` to rank `d` has the number
  /// (`s` * ranks + `d`) * (chunks of a slot) + `c`. The first row holds the chunk with number `slot`. From each row to
  /// the next, the number grows by `slotStep`.
  MSCCLC_DEVICE Rows holding(int slot, int slotStep) const {
    Rows rows = *this;
    rows.slot = slot;
    rows.slotStep = slotStep;
    return rows;
  }
};

/// A part of an operand's rows. The rows are laid end to end, each `nominal` bytes long. The part consists of the bytes
/// [begin, end).
struct Slice {
  unsigned rows;
  uint64_t begin, end;
  uint64_t nominal;
  bool whole; ///< true: the slice is all of the rows

  /// Divides the slice into `count` parts, as equal as whole steps of `unit` bytes allow, and returns part `index`.
  /// Each block of a thread-block group takes one part.
  MSCCLC_DEVICE Slice part(int index, int count, uint64_t unit = 16) const {
    const uint64_t steps = (end - begin + (unit - 1)) / unit;
    Slice s = *this;
    s.whole = false;
    s.begin = min(begin + steps * index / count * unit);
    s.end = min(begin + steps * (index + 1) / count * unit);
    return s;
  }
  /// Returns iteration `i` of a pipeline with units of `bytes` bytes.
  MSCCLC_DEVICE Slice unit(uint64_t i, uint64_t bytes) const {
    Slice s = *this;
    s.whole = false;
    s.begin = min(begin + i * bytes);
    s.end = min(begin + (i + 1) * bytes);
    return s;
  }

private:
  MSCCLC_DEVICE uint64_t min(uint64_t at) const { return at < end ? at : end; }
};

/// Returns `a` modulo `n`, in [0, n).
MSCCLC_BOTH int mod(int a, int n) {
  if ((n & (n - 1)) == 0)
    return a & (n - 1);
  const int r = a % n;
  return r < 0 ? r + n : r;
}

/// The part of a kernel's parameters that all kernels have.
struct LaunchParameters {
  MscclcRankArgs args; ///< the launch's arguments; pointers to tables that only the launching thread reads are null
  MscclcBuffers own;
};

/// The part of a kernel's parameters for functions of hooks: the rank's `Plan::hookArrays` arrays.
template <class Plan, class = void> struct HookParameters {};
template <class Plan> struct HookParameters<Plan, std::void_t<decltype(Plan::hookArrays)>> {
  void *arrays[Plan::hookArrays == 0 ? 1 : Plan::hookArrays];
};

/// The part of a kernel's parameters for counts of rows (counts.cuh).
template <class Plan, bool = hasSlots<Plan>> struct SlotParameters {};
template <class Plan> struct SlotParameters<Plan, true> {
  uint64_t capacity;         ///< number of rows that a slot has room for
  void *tables[Plan::ranks]; ///< the table of counts of each rank
  uint32_t countChannel;     ///< number of the first port channel that brings counts to other nodes
};

/// The part of a kernel's parameters for launches of several instances.
template <class Plan, bool = (mostInstances<Plan> > 1)> struct InstanceParameters {
  static constexpr uint32_t weight = 1;
};
template <class Plan> struct InstanceParameters<Plan, true> {
  uint32_t blocks; ///< number of blocks of an instance
  uint32_t weight; ///< how many times a block counts: `mostInstances` / the number of instances in the launch
};

/// The largest number of memory channels of a rank.
template <class Plan> constexpr uint32_t memoryChannels = Plan::memoryChannels * mostInstances<Plan>;
/// True if the memory channels of a rank are in a table in device memory, and not among the parameters.
template <class Plan> constexpr bool hasChannelTable = memoryChannels<Plan> > MSCCLC_PARAMETER_CHANNELS;
/// The part of a kernel's parameters that says where memory channels lead.
template <class Plan, bool = (memoryChannels<Plan> != 0 && !hasChannelTable<Plan>)> struct ChannelParameters {};
template <class Plan> struct ChannelParameters<Plan, true> {
  MscclcMemoryChannel channels[memoryChannels<Plan>];
};

/// The parameters of a kernel, which lie in constant memory. `Plan::peerBuffers` has a bit for each kind of buffer that
/// the kernel accesses by address at other ranks. The parameters list only buffers of these kinds.
template <class Plan>
struct Parameters : LaunchParameters,
                    HookParameters<Plan>,
                    SlotParameters<Plan>,
                    InstanceParameters<Plan>,
                    ChannelParameters<Plan> {
  static constexpr unsigned kinds = 3;
  MSCCLC_BOTH static constexpr bool lists(unsigned kind) { return (Plan::peerBuffers >> kind & 1u) != 0; }
  /// Returns the index of the list for `kind`, which is the number of lists before it. listOf(kinds) is the number of
  /// all lists.
  MSCCLC_BOTH static constexpr unsigned listOf(unsigned kind) {
    unsigned n = 0;
    for (unsigned k = 0; k < kind; ++k)
      n += lists(k) ? 1 : 0;
    return n;
  }
  MSCCLC_BOTH static constexpr unsigned atLeastOne(unsigned n) { return n == 0 ? 1 : n; }

  Layout<Plan> layout; ///< layout of the message, computed once for all threads
  void *peers[atLeastOne(listOf(kinds))][listOf(kinds) == 0 ? 1 : Plan::ranks];
  void *multicast[atLeastOne(Plan::switchChannels)];
#ifdef MSCCLC_GIN
  ncclDevComm network{}; ///< the device communicator, for port channels over the network
#endif
};

namespace detail {
// staging.cuh
template <class Plan, class T, class Op>
MSCCLC_OUTLINE void stageInput(const MscclcRankArgs &args, char *to, uint64_t launch, unsigned weight);
template <class Plan, class T, class Op>
MSCCLC_OUTLINE void stageOutput(const MscclcRankArgs &args, const char *from, unsigned weight);
// packets.cuh
template <class K> MSCCLC_DEVICE void clearPackets(const K &k);
// counts.cuh
template <class K> MSCCLC_DEVICE Extent liveExtent(const K &k, const Rows &rows, unsigned row);
template <class K> MSCCLC_DEVICE uint64_t heldBytes(const K &k, const Rows &rows, unsigned row);
template <class K> MSCCLC_DEVICE void sendCounts(const K &k);
template <class K> MSCCLC_DEVICE void receiveCounts(const K &k);
// experts.cuh
template <class Plan, class T> MSCCLC_DEVICE void packRows(const Parameters<Plan> &parameters, uint64_t launch);
template <class Plan, class T> MSCCLC_DEVICE void unpackRows(const Parameters<Plan> &parameters, uint64_t launch);
} // namespace detail

namespace detail {

/// Returns `a` / `b`, rounded down, for numbers up to 1024; `b` must not be 0. A device multiplies by a reciprocal,
/// which takes a quarter of the instructions. The result is exact: (a + 1/2) / b is at least 1 / (2b) away from a whole
/// number, and the error of the product is below a / b * 2^-21.
MSCCLC_DEVICE unsigned divideSmall(unsigned a, unsigned b) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>((static_cast<float>(a) + 0.5f) * reciprocal(static_cast<float>(b)));
#else
  return a / b;
#endif
}

/// Returns the instance that the block belongs to. The blocks of an instance follow each other, and instance 0 comes
/// first.
template <class Plan> MSCCLC_DEVICE uint32_t instanceOf(const Parameters<Plan> &p) {
  if constexpr (mostInstances<Plan> == 1)
    return 0;
  else
    return divideSmall(blockId(), p.blocks);
}
/// Returns the number of the block in its instance.
template <class Plan> MSCCLC_DEVICE int blockOf(const Parameters<Plan> &p, [[maybe_unused]] uint32_t instance) {
  if constexpr (mostInstances<Plan> == 1)
    return static_cast<int>(blockId());
  else
    return static_cast<int>(blockId() - instance * p.blocks);
}

} // namespace detail

/// The state of a thread. `PlanT` holds the constants of the plan; see the head of an emitted file.
template <class PlanT, class T, class OpT, class PacketT, KernelPart part = KernelPart::Whole> class Kernel {
public:
  using Plan = PlanT;
  using Element = T;
  using Op = OpT;
  using Packet = PacketT;
  using Held = HeldInScratch<Plan, T>;                  ///< the type of elements in scratch
  static constexpr unsigned spread = spreadOf<Plan, T>; ///< the size of Held divided by the size of T
  static constexpr bool sends = part != KernelPart::Receive,
                        receives = part != KernelPart::Send; ///< whether the kernel sends, and whether it receives
  /// True if loops over rows are functions; false if they are inlined.
  using Outlined = std::bool_constant<Plan::outlined>;

  const Parameters<Plan> &parameters;
  const MscclcRankArgs &args;
  const Layout<Plan> layout; ///< the layout for the block's instance
  const int rank, block;     ///< the block's number in its instance
  const unsigned thread, threads;
  uint64_t launch;    ///< number of launches before this one
  uint32_t flag;      ///< the flag that this launch's packets carry
  uint64_t scratchAt; ///< offset of the part of scratch that this launch uses, in bytes
  bool wide;          ///< true: every chunk of every buffer begins at a multiple of 16 bytes

  MSCCLC_DEVICE explicit Kernel(const Parameters<Plan> &p)
      : parameters(p), args(p.args),
        layout(Plan::messageBytes != 0 && !Division<Plan>::isGiven && mostInstances<Plan> == 1
                   ? Layout<Plan>(Plan::messageBytes)
                   : p.layout.ofInstance(detail::instanceOf(p))),
        rank(static_cast<int>(args.rank)), block(detail::blockOf(p, layout.instance)), thread(detail::threadId()),
        threads(detail::threadCount()),
        launch(detail::beginLaunch<kernelsOfLaunch<Plan>, part == KernelPart::Receive ? 1 : 0>(
            args, uint64_t{detail::blockCount()} * p.weight, layout.instance == 0)),
        flag(detail::packetFlag(launch)) {
    scratchAt = launch % scratchParts<Plan> * scratchPartBytes<Plan>(args.scratch_stride);
    wide = (args.flags & MSCCLC_BUFFERS_ALIGNED) != 0 && Plan::unit % 16 == 0 &&
           (Plan::shares == 1 || layout.share % 16 == 0);
    if constexpr (isPacked<Plan>)
      wide = wide && args.row_bytes % 16 == 0;
    if constexpr (sends)
      begin();
  }

  // Functions that return places. Indices count chunks of the buffer. For packets, they count chunks of payload.
  MSCCLC_DEVICE Rows input(int index) const {
    return {static_cast<char *>(parameters.own.input), index, OperandLayout::Data, MSCCLC_INPUT, rank};
  }
  MSCCLC_DEVICE Rows output(int index) const {
    return {static_cast<char *>(parameters.own.output), index, OperandLayout::Data, MSCCLC_OUTPUT, rank};
  }
  MSCCLC_DEVICE Rows scratch(int index) const {
    return {static_cast<char *>(parameters.own.scratch), index, OperandLayout::Scratch, MSCCLC_SCRATCH, rank};
  }
  MSCCLC_DEVICE Rows packets(int index) const {
    return {static_cast<char *>(parameters.own.scratch), index, OperandLayout::Packets, MSCCLC_SCRATCH, rank};
  }
  MSCCLC_DEVICE Rows peerInput(int peer, int index) const {
    return {ofPeer<MSCCLC_INPUT>(peer), index, OperandLayout::Data, MSCCLC_INPUT, peer};
  }
  MSCCLC_DEVICE Rows peerOutput(int peer, int index) const {
    return {ofPeer<MSCCLC_OUTPUT>(peer), index, OperandLayout::Data, MSCCLC_OUTPUT, peer};
  }
  MSCCLC_DEVICE Rows peerScratch(int peer, int index) const {
    return {ofPeer<MSCCLC_SCRATCH>(peer), index, OperandLayout::Scratch, MSCCLC_SCRATCH, peer};
  }
  MSCCLC_DEVICE Rows peerPackets(int peer, int index) const {
    return {ofPeer<MSCCLC_SCRATCH>(peer), index, OperandLayout::Packets, MSCCLC_SCRATCH, peer};
  }
  // These return the same places at the peer of a port channel. The places have no address, because this device need
  // not have access to them.
  static MSCCLC_DEVICE Rows portInput(int index) { return {nullptr, index, OperandLayout::Data, MSCCLC_INPUT, -1}; }
  static MSCCLC_DEVICE Rows portOutput(int index) { return {nullptr, index, OperandLayout::Data, MSCCLC_OUTPUT, -1}; }
  static MSCCLC_DEVICE Rows portScratch(int index) {
    return {nullptr, index, OperandLayout::Scratch, MSCCLC_SCRATCH, -1};
  }
  static MSCCLC_DEVICE Rows portPackets(int index) {
    return {nullptr, index, OperandLayout::Packets, MSCCLC_SCRATCH, -1};
  }

  /// Returns the extent of row `row` of the operand: its offset in its buffer, and its bytes of payload. A scratch row
  /// has room for the longest chunk. If rows hold slots, the call waits for a count, so callers that need both values
  /// call it only once.
  MSCCLC_DEVICE Extent extentOf(const Rows &c, unsigned row) const {
    const uint32_t k = static_cast<uint32_t>(c.first) + row;
    if (c.layout == OperandLayout::Data) {
      if constexpr (hasSlots<Plan>)
        return detail::liveExtent(*this, c, row);
      else
        return {layout.offset(k), layout.bytes(k)};
    }
    const unsigned scale = c.layout == OperandLayout::Packets ? packetScale<Plan> : 1;
    uint64_t bytes = layout.nominal;
    if constexpr (hasSlots<Plan>)
      if (c.slot >= 0)
        bytes = detail::heldBytes(*this, c, row);
    return {scratchAt + number(k) * args.scratch_stride * scale, bytes};
  }
  MSCCLC_DEVICE uint64_t offsetOf(const Rows &c, unsigned row) const { return extentOf(c, row).begin; }
  MSCCLC_DEVICE char *rowOf(const Rows &c, unsigned row) const { return c.base + offsetOf(c, row); }
  MSCCLC_DEVICE uint64_t bytesOf(const Rows &c, unsigned row) const { return extentOf(c, row).bytes; }

  /// Returns the slice of all bytes of `rows` rows.
  MSCCLC_DEVICE Slice whole(unsigned rows) const { return {rows, 0, rows * layout.nominal, layout.nominal, true}; }
  /// Returns the number of iterations of a pipeline over `chunks` chunks in units of `bytes` bytes.
  MSCCLC_DEVICE uint64_t units(uint64_t chunks, uint64_t bytes) const {
    return (chunks * layout.nominal + bytes - 1) / bytes;
  }

  /// Returns the rank's number of a channel, a semaphore, a barrier or a slot of scratch, whose number in the instance
  /// is `index`.
  template <class I> MSCCLC_DEVICE I number(I index) const {
    return index * static_cast<I>(mostInstances<Plan>) + static_cast<I>(layout.instance);
  }
  /// Returns memory channel `index` of the rank.
  MSCCLC_DEVICE const MscclcMemoryChannel &memoryChannel(int index) const {
    if constexpr (hasChannelTable<Plan>)
      return args.memory_channels[index];
    else
      return parameters.channels[index];
  }

  /// Synchronises the threads of the block.
  MSCCLC_DEVICE void sync() const { detail::syncBlock(); }

  /// Ends the block's launch. It synchronises the block first, so all threads have read the launch's number before the
  /// counter changes.
  MSCCLC_DEVICE void finish() const {
    if constexpr (receives)
      end();
    detail::syncBlock();
    if (thread != 0)
      return;
    detail::endLaunch(args, parameters.weight);
  }

private:
  /// Does the work that comes before the first operation of a block.
  MSCCLC_DEVICE void begin() const {
    if constexpr (hasExperts<Plan>)
      detail::packRows<Plan, T>(parameters, launch);
    else if (args.staging.input != nullptr)
      detail::stageInput<Plan, T, Op>(args, static_cast<char *>(parameters.own.input), launch, parameters.weight);
    else if (thread == 0)
      detail::launchBegins(args.rank, launch);
    if constexpr (HasLamportPackets<Plan>::value)
      detail::clearPackets(*this);
    if constexpr (hasSlots<Plan>)
      detail::sendCounts(*this);
  }
  /// Does the work that comes after the last operation of a block.
  MSCCLC_DEVICE void end() const {
    if constexpr (hasSlots<Plan>)
      detail::receiveCounts(*this);
    if constexpr (hasExperts<Plan>)
      detail::unpackRows<Plan, T>(parameters, launch);
    else if (args.staging.output != nullptr)
      detail::stageOutput<Plan, T, Op>(args, static_cast<const char *>(parameters.own.output), parameters.weight);
  }
  template <unsigned Kind> MSCCLC_DEVICE char *ofPeer(int peer) const {
    using Given = Parameters<Plan>;
    static_assert(Given::lists(Kind), "the kernel says which buffers of peers it accesses");
    return static_cast<char *>(parameters.peers[Given::listOf(Kind)][peer]);
  }
};

namespace detail {

/// Calls body(row, begin, end, lane, lanes) for each row of a slice. This thread is number `lane` of the `lanes`
/// threads that share bytes [begin, end) of the row. Several short rows are processed at once, each by as many threads
/// as the row has words of `grain` bytes.
template <class K, class Body> MSCCLC_DEVICE void forRows(const K &k, const Slice &s, unsigned grain, Body body) {
  if (s.begin >= s.end)
    return;
  if (s.rows == 1) {
    body(0u, s.begin, s.end, k.thread, k.threads);
    return;
  }
  unsigned row = 0, rows = s.rows;
  if (!s.whole) {
    row = static_cast<unsigned>(s.begin / s.nominal);
    rows = static_cast<unsigned>((s.end + s.nominal - 1) / s.nominal);
  }
  unsigned lane = k.thread, lanes = k.threads, step = 1;
  const uint64_t grains = (s.nominal + grain - 1) / grain;
  if (grains < k.threads) {
    lanes = static_cast<unsigned>(grains);
    step = divideSmall(k.threads, lanes);
    const unsigned group = divideSmall(k.thread, lanes);
    lane = k.thread - group * lanes;
    row = group < step ? row + group : rows;
  }
  for (; row < rows; row += step) {
    if (s.whole) {
      body(row, uint64_t{0}, s.nominal, lane, lanes);
      continue;
    }
    const uint64_t at = row * s.nominal;
    body(row, s.begin > at ? s.begin - at : uint64_t{0}, s.end - at < s.nominal ? s.end - at : s.nominal, lane, lanes);
  }
}

} // namespace detail

/// The operands of a fused operation. f(i) returns operand `i` of N.
template <unsigned N, class F> struct Operands {
  static constexpr unsigned size = N;
  F f;
  MSCCLC_DEVICE auto operator()(unsigned i) const { return f(static_cast<int>(i)); }
};
template <unsigned N, class F> MSCCLC_DEVICE Operands<N, F> list(F f) {
  return {f};
}

/// True for a list that computes operand i, or the address of its rows, from i. The entries of any other list stay in
/// registers only if every index is a constant.
template <class L> constexpr bool isComputed = false;
template <unsigned N, class F> constexpr bool isComputed<Operands<N, F>> = true;

/// A single operand.
template <class V> struct One {
  static constexpr unsigned size = 1;
  V value;
  MSCCLC_DEVICE V operator()(unsigned) const { return value; }
};
template <class V> MSCCLC_DEVICE One<V> one(V value) {
  return {value};
}

/// A few operands, each given by itself. Lists of the same length have the same type, so they share code.
template <unsigned N, class V> struct Few {
  static constexpr unsigned size = N;
  V values[N];
  MSCCLC_DEVICE V operator()(unsigned i) const { return values[i]; }
};
template <class V, class... More> MSCCLC_DEVICE Few<1 + sizeof...(More), V> few(V first, More... more) {
  return {{first, more...}};
}

} // namespace mscclc::device
