// The host side of an emitted kernel: its variants, and the start of a launch. A launch checks the launcher's arguments
// first.
#pragma once

#include <algorithm>
#include <numeric>

#pragma weak mscclc_register_kernel

// The list of the kernels in one library. All such libraries name their lists alike, so the list is hidden: no library
// can replace the list of another one.
extern "C" {
__attribute__((weak, visibility("hidden"))) const MscclcRegistered *mscclc_last_registered = nullptr;
__attribute__((weak, visibility("default"))) const MscclcRegistered *mscclc_library_kernels() {
  return mscclc_last_registered;
}
}

namespace mscclc::device {

template <class... Ts> struct Types {
  static constexpr unsigned count = sizeof...(Ts);
};

namespace host {

inline bool within(uint64_t v, uint64_t low, uint64_t high) {
  return v >= low && v <= high;
}

/// True for a Plan with hooks.
template <class Plan, class = void> struct HasHooks : std::false_type {};
template <class Plan> struct HasHooks<Plan, std::void_t<decltype(Plan::hookArrays)>> : std::true_type {};

/// Returns whether launches give the length of a row (MSCCLC_TAKES_ROWS).
template <class Plan> constexpr bool takesRows() {
  return (Plan::flags & MSCCLC_TAKES_ROWS) != 0;
}

/// The number of elements of a block that functions of hooks take. Each chunk consists of whole blocks. 1 if no
/// function takes blocks.
template <class Plan, class = void> struct BlockOf {
  static constexpr uint64_t elements = 1;
};
template <class Plan> struct BlockOf<Plan, std::void_t<decltype(Plan::blockElements)>> {
  static constexpr uint64_t elements = Plan::blockElements;
};

/// Returns the unit into which a message is divided, in bytes (layout.cuh).
template <class Plan> uint64_t unitOf(uint64_t rowBytes, uint64_t elementBytes) {
  if (!Division<Plan>::isGiven)
    return Plan::unit;
  uint64_t unit = std::lcm(Plan::unit, std::lcm(uint64_t{16}, BlockOf<Plan>::elements * elementBytes));
  return takesRows<Plan>() && rowBytes != 0 ? std::lcm(unit, rowBytes) : unit;
}

/// Returns the distance between scratch chunks, in bytes, that all messages of up to this size need (host). A shorter
/// message may have longer parts of chunks, because its launch may have fewer instances.
template <class Plan> uint64_t longestStride(uint64_t messageBytes, unsigned spread) {
  uint64_t longest = Layout<Plan>(messageBytes, Plan::unit, InstancesOf<Plan>::at(messageBytes)).nominal * spread;
  if constexpr (mostInstances<Plan> > 1)
    for (const LaunchInstances &row : Plan::instances)
      if (row.fromBytes != 0 && row.fromBytes <= messageBytes) {
        const uint64_t before = row.fromBytes - 1;
        const uint64_t stride = Layout<Plan>(before, Plan::unit, InstancesOf<Plan>::at(before)).nominal * spread;
        longest = stride > longest ? stride : longest;
      }
  return longest;
}

/// True if the payloads of an index, and a list of `listBytes` bytes behind them, fit into a launch's rows. If there
/// are no rows, arrays of [rows] may be null, because no rank accesses them.
inline bool checkPayloads(const MscclcRankArgs &args, bool isCombine, uint64_t listBytes) {
  if (listBytes > args.row_bytes || (listBytes != 0 && args.row_bytes % 4 != 0))
    return false;
  uint64_t sum = listBytes;
  uint32_t count = 0;
  for (const MscclcPayload &payload : args.index.payloads) {
    if (payload.bytes == 0)
      break;
    const void *const ofExperts = isCombine ? payload.from : payload.to;
    const void *const ofRows = isCombine ? payload.to : payload.from;
    if (ofExperts == nullptr || (ofRows == nullptr && args.index.rows != 0) || payload.bytes > args.row_bytes - sum)
      return false;
    sum += payload.bytes;
    ++count;
  }
  return count != 0 && (!isCombine || (count == 1 && sum == args.row_bytes));
}

/// True if 32 bits are enough for the number of a row in the layout of experts.
template <class Plan> bool placesFit(const MscclcRankArgs &args) {
  const uint64_t groups = Plan::isExpertMajor ? Plan::experts : Plan::ranks;
  return (args.message_bytes / args.row_bytes + groups * args.index.align) >> 32 == 0;
}

/// Checks the counts, or the index, of a launch whose shares consist of whole rows.
template <class Plan> int32_t checkCounts(const MscclcRankArgs &args) {
  if constexpr (hasExperts<Plan>) {
    const MscclcIndex &index = args.index;
    const bool isCombine = ExpertsOf<Plan>::value == Experts::Combine;
    const bool hasRows = index.entries != nullptr && (!isCombine || index.weights != nullptr);
    const bool hasCells = !isCombine || !IsSplit<Plan>::value || index.cells != nullptr;
    const bool isWhole = index.work != nullptr && (hasRows || index.rows == 0) && hasCells &&
                         checkPayloads(args, isCombine, OncePerRank<Plan>::value ? uint64_t{4} * index.choices : 0);
    const bool fits = index.choices != 0 && index.rows < (uint64_t{1} << 31) / index.choices &&
                      args.message_bytes / args.row_bytes >> 31 == 0 &&
                      (!OncePerRank<Plan>::value || placesFit<Plan>(args));
    const bool hasWords = (index.ready != nullptr) == (ReadyRows<Plan>::value != 0);
    const bool isStaged = args.staging.input != nullptr || args.staging.output != nullptr;
    return isWhole && fits && hasWords && !isStaged && args.counts.tables != nullptr &&
                   (index.width == 4 || index.width == 8)
               ? MSCCLC_OK
               : MSCCLC_ERROR_COUNTS;
  } else if constexpr (hasSlots<Plan>) {
    const MscclcCounts &counts = args.counts;
    if (counts.sent == nullptr || counts.tables == nullptr || (counts.width != 4 && counts.width != 8))
      return MSCCLC_ERROR_COUNTS;
    if (args.message_bytes / args.row_bytes >> 31 != 0 || args.staging.input != nullptr ||
        args.staging.output != nullptr)
      return MSCCLC_ERROR_COUNTS;
  }
  return MSCCLC_OK;
}

template <class Plan>
int32_t check(const MscclcRankArgs *args, uint32_t threads, const MscclcRankInfo &info, unsigned spread,
              uint64_t elementBytes) {
  if (args->abi_version != MSCCLC_ABI_VERSION)
    return MSCCLC_ERROR_ABI;
  constexpr uint32_t onlyOne = MSCCLC_ONLY_SEND | MSCCLC_ONLY_RECEIVE;
  if ((args->flags & onlyOne) == onlyOne || (!IsSplit<Plan>::value && (args->flags & onlyOne) != 0))
    return MSCCLC_ERROR_PART;
  if (args->rank >= Plan::ranks || info.blocks == 0)
    return MSCCLC_ERROR_RANK;
  if (threads == 0 || threads > Plan::threads)
    return MSCCLC_ERROR_THREADS;
  const uint64_t bytes = args->message_bytes;
  if (!within(bytes, Plan::minMessageBytes, Plan::maxMessageBytes) || bytes % Plan::shares != 0)
    return MSCCLC_ERROR_SIZE;
  if (Division<Plan>::isGiven && bytes % (Plan::shares * BlockOf<Plan>::elements * elementBytes) != 0)
    return MSCCLC_ERROR_SIZE;
  if (takesRows<Plan>() && (args->row_bytes == 0 || args->row_bytes % elementBytes != 0 || bytes % Plan::shares != 0 ||
                            bytes / Plan::shares % args->row_bytes != 0))
    return MSCCLC_ERROR_ROWS;
  if (const int32_t error = checkCounts<Plan>(*args))
    return error;
  const Layout<Plan> layout(bytes, unitOf<Plan>(args->row_bytes, elementBytes), InstancesOf<Plan>::at(bytes));
  constexpr uint64_t mostPackets = 0x7fffffff, leastPayload = 4; // limits of a row, so that 32 bits count its packets
  if (Plan::packets && layout.nominal * spread > mostPackets * leastPayload)
    return MSCCLC_ERROR_SIZE;
  const uint64_t stride = mostInstances<Plan> == 1 ? layout.nominal * spread : longestStride<Plan>(bytes, spread);
  if (Plan::scratchSlots != 0 && (args->scratch_stride % 16 != 0 || args->scratch_stride < stride))
    return MSCCLC_ERROR_SCRATCH;
  return MSCCLC_OK;
}

/// Returns the kernel's parameters for a launch. mscclc refuses to write a kernel whose parameters need more space than
/// CUDA has.
template <class Plan>
Parameters<Plan> parametersOf(const MscclcRankArgs &args, const MscclcRankInfo &info, uint64_t elementBytes) {
  using Given = Parameters<Plan>;
  static_assert(sizeof(Given) <= MSCCLC_PARAMETER_BYTES, "a kernel of so many ranks does not fit into its parameters");
  static_assert(sizeof(Given) - sizeof(Given::peers) - sizeof(Given::multicast) - sizeof(HookParameters<Plan>) -
                        sizeof(SlotParameters<Plan>) <=
                    MSCCLC_OTHER_PARAMETER_BYTES,
                "what mscclc leaves room for beside addresses");
  const uint32_t instances = InstancesOf<Plan>::at(args.message_bytes);
  const Layout<Plan> layout(args.message_bytes, unitOf<Plan>(args.row_bytes, elementBytes), instances);
  Given given{{args, {}}, {}, {}, {}, {}, layout, {}, {}};
  if constexpr (mostInstances<Plan> > 1) {
    given.blocks = info.blocks;
    given.weight = mostInstances<Plan> / instances;
  }
  given.args.arrays = nullptr;
  if constexpr (HasHooks<Plan>::value)
    for (uint32_t i = 0; i < Plan::hookArrays; ++i)
      given.arrays[i] = args.arrays[i];
  if constexpr (hasSlots<Plan>) {
    given.capacity = args.message_bytes / Plan::shares / args.row_bytes;
    for (uint32_t rank = 0; rank < Plan::ranks; ++rank)
      given.tables[rank] = args.counts.tables[rank];
    given.countChannel = info.port_channels;
  }
  if constexpr (hasExperts<Plan>) { // the kernel itself computes the counts
    const uint64_t entries = args.index.rows * args.index.choices;
    given.args.counts = {};
    given.args.counts.sent = static_cast<const uint32_t *>(args.index.work) + entries + 4 * Plan::ranks * Plan::experts;
    given.args.counts.width = 4;
  }
  given.args.counts.tables = nullptr;
  given.args.buffers = nullptr;
  given.args.multicast = nullptr;
  given.args.network = nullptr;
#ifdef MSCCLC_GIN
  if (args.network != nullptr)
    given.network = *static_cast<const ncclDevComm *>(args.network);
#endif
  if constexpr (!hasChannelTable<Plan>) {
    if constexpr (memoryChannels<Plan> != 0)
      std::copy_n(args.memory_channels, info.memory_channels * mostInstances<Plan>, given.channels);
    given.args.memory_channels = nullptr;
  }
  given.own = args.buffers[args.rank];
  for (uint32_t peer = 0; peer < Plan::ranks; ++peer) {
    const MscclcBuffers &buffers = args.buffers[peer];
    void *const ofKind[] = {buffers.input, buffers.output, buffers.scratch};
    for (unsigned kind = 0; kind < Given::kinds; ++kind)
      if (Given::lists(kind))
        given.peers[Given::listOf(kind)][peer] = ofKind[kind];
  }
  for (uint32_t channel = 0; channel < info.switch_channels; ++channel)
    given.multicast[channel] = args.multicast[channel];
  return given;
}

#ifdef __CUDACC__
/// Starts a kernel. With MSCCLC_PDL in `flags`, it may begin before the earlier kernel of the stream has ended. Code
/// for devices below sm_90 is started without this, because it cannot wait for that end.
inline cudaError_t start(const void *entry, uint32_t blocks, uint32_t threads, void *parameters, uint32_t flags,
                         cudaStream_t stream) {
  void *list[] = {parameters};
  cudaFuncAttributes code{};
  if ((flags & MSCCLC_PDL) == 0 || cudaFuncGetAttributes(&code, entry) != cudaSuccess || code.ptxVersion < 90)
    return cudaLaunchKernel(entry, dim3(blocks), dim3(threads), list, 0, stream);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, entry, list);
}
#endif

/// One compiled variant of a kernel. `Body` has the entry points for given types, and describes the ranks.
template <class Body, class T, class Op, class Packet> struct Variant {
  using Plan = typename Body::Plan;

  static int32_t launch(const MscclcRankArgs *args, uint32_t threads, void *stream) {
    MscclcRankInfo info{};
    if (args->rank < Plan::ranks)
      Body::rankInfo(args->rank, &info);
    if (const int32_t error = check<Plan>(args, threads, info, spreadOf<Plan, T>, sizeof(T)))
      return error;
    // A launch with a message of 0 bytes moves no data, but it sends and counts all signals.
    Parameters<Plan> given = parametersOf<Plan>(*args, info, sizeof(T));
    const uint32_t blocks = info.blocks * InstancesOf<Plan>::at(args->message_bytes);
    if constexpr (IsSplit<Plan>::value) {
      int32_t error = MSCCLC_OK;
      if ((args->flags & MSCCLC_ONLY_RECEIVE) == 0)
        error = startKernel<KernelPart::Send>(given, blocks, threads, stream);
      if (error == MSCCLC_OK && (args->flags & MSCCLC_ONLY_SEND) == 0)
        error = startKernel<KernelPart::Receive>(given, blocks, threads, stream);
      return error;
    } else {
      return startKernel<KernelPart::Whole>(given, blocks, threads, stream);
    }
  }

  static int32_t residentBlocks(uint32_t threads, uint32_t *blocks) {
#ifdef __CUDACC__
    if constexpr (IsSplit<Plan>::value) {
      uint32_t ofReceive = 0;
      int32_t error = residentBlocksOf<KernelPart::Send>(threads, blocks);
      if (error == MSCCLC_OK)
        error = residentBlocksOf<KernelPart::Receive>(threads, &ofReceive);
      *blocks = *blocks < ofReceive ? *blocks : ofReceive;
      return error;
    } else {
      return residentBlocksOf<KernelPart::Whole>(threads, blocks);
    }
#else
    static_cast<void>(threads);
    *blocks = MSCCLC_ON_HOST;
    return MSCCLC_OK;
#endif
  }

  static MscclcVariant describe() { return {DtypeOf<T>::code, Op::code, Packet::code, 0, &launch, &residentBlocks}; }

private:
  template <KernelPart part> static constexpr auto entryOf() {
    if constexpr (IsSplit<Plan>::value)
      return Body::template entry<T, Op, Packet, part>;
    else
      return Body::template entry<T, Op, Packet>;
  }
  template <KernelPart part>
  static int32_t startKernel(Parameters<Plan> &given, uint32_t blocks, uint32_t threads, void *stream) {
#ifdef __CUDACC__
    const cudaError_t result = start(reinterpret_cast<const void *>(entryOf<part>()), blocks, threads, &given,
                                     given.args.flags, static_cast<cudaStream_t>(stream));
    return result == cudaSuccess ? MSCCLC_OK : MSCCLC_ERROR_DEVICE + static_cast<int32_t>(result);
#else
    static_cast<standin::Stream *>(stream)->launch(blocks, threads, [given] { entryOf<part>()(given); });
    return MSCCLC_OK;
#endif
  }
#ifdef __CUDACC__
  template <KernelPart part> static int32_t residentBlocksOf(uint32_t threads, uint32_t *blocks) {
    const auto entry = reinterpret_cast<const void *>(entryOf<part>());
    // This loads the kernel. Loading may wait for running kernels, so it must not happen while other ranks already run
    // the same kernel.
    cudaFuncAttributes attributes;
    int device = 0, processors = 0, each = 0;
    cudaError_t result = cudaFuncGetAttributes(&attributes, entry);
    if (result == cudaSuccess)
      result = cudaGetDevice(&device);
    if (result == cudaSuccess)
      result = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (result == cudaSuccess)
      result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, entry, static_cast<int>(threads), 0);
    *blocks = static_cast<uint32_t>(processors * each);
    return result == cudaSuccess ? MSCCLC_OK : MSCCLC_ERROR_DEVICE + static_cast<int32_t>(result);
  }
#endif
};

template <class Plan, class... Packet> constexpr bool hasPacketsOf(Types<Packet...>) {
  return ((HasLamportPackets<Plan>::value == std::is_same_v<Packet, Lamport>) && ...);
}
template <class Held, class... Packet> constexpr uint32_t packetsFor(Types<Packet...>) {
  return (uint32_t{detail::carries<Held, Packet>()} + ...);
}

template <class Body, class Dtypes, class Ops, class Packets> struct Variants;
/// The variants of a kernel: one for each element type, operation and kind of packet, if the packet can carry the type.
template <class Body, class... T, class Ops, class Packets> struct Variants<Body, Types<T...>, Ops, Packets> {
  static constexpr uint32_t count = Ops::count * (packetsFor<HeldInScratch<typename Body::Plan, T>>(Packets{}) + ...);
  static_assert(count != 0, "no packet of the list carries elements of the types of the list");
  static_assert(hasPacketsOf<typename Body::Plan>(Packets{}),
                "a kernel has either packets with flags or Lamport packets, which lie otherwise in scratch");
  static MscclcVariant *table() {
    static MscclcVariant variants[count];
    MscclcVariant *next = variants;
    (forOps<T>(next, Ops{}), ...);
    return variants;
  }

private:
  template <class E, class... Op> static void forOps(MscclcVariant *&next, Types<Op...>) {
    (forPackets<E, Op>(next, Packets{}), ...);
  }
  template <class E, class Op, class... Packet> static void forPackets(MscclcVariant *&next, Types<Packet...>) {
    (add<E, Op, Packet>(next), ...);
  }
  template <class E, class Op, class Packet> static void add(MscclcVariant *&next) {
    if constexpr (detail::carries<HeldInScratch<typename Body::Plan, E>, Packet>())
      *next++ = Variant<Body, E, Op, Packet>::describe();
  }
};

template <class Body> uint64_t bytesOf(uint32_t rank, uint64_t messageBytes, uint32_t MscclcRankInfo::*chunks) {
  MscclcRankInfo info{};
  Body::rankInfo(rank, &info);
  return Layout<typename Body::Plan>(messageBytes).offset(info.*chunks);
}

/// The root of a Plan. 0 if its collective has no root.
template <class Plan, class = void> struct RootOf {
  static constexpr uint32_t value = 0;
};
template <class Plan> struct RootOf<Plan, std::void_t<decltype(Plan::root)>> {
  static constexpr uint32_t value = Plan::root;
};

/// The tags of a Plan; empty if it has none.
template <class Plan, class = void> struct TagsOf {
  static constexpr const char *value = "";
};
template <class Plan> struct TagsOf<Plan, std::void_t<decltype(Plan::tags)>> {
  static constexpr const char *value = Plan::tags;
};

/// The digest of a Plan; null if it has none, as in a plan that was written by hand.
template <class Plan, class = void> struct DigestOf {
  static constexpr const char *value = nullptr;
};
template <class Plan> struct DigestOf<Plan, std::void_t<decltype(Plan::digest)>> {
  static constexpr const char *value = Plan::digest;
};

/// Returns whether `operation` is one of `times` operations that begin at `first` and are `step` apart. Sets `j` to its
/// index among them.
inline bool isAmong(uint32_t operation, uint32_t first, uint32_t step, uint32_t times, int &j) {
  j = static_cast<int>((operation - first) / step);
  return operation >= first && (operation - first) % step == 0 && static_cast<uint32_t>(j) < times;
}

/// The function MscclcKernel::wait_info of a Body. Null if the Body has none, as in a kernel that was written by hand.
template <class Body, class = void> struct WaitInfoOf {
  static constexpr decltype(MscclcKernel::wait_info) value = nullptr;
};
template <class Body> struct WaitInfoOf<Body, std::void_t<decltype(&Body::waitInfo)>> {
  static constexpr decltype(MscclcKernel::wait_info) value = &Body::waitInfo;
};

/// The numbers of blocks, channels, semaphores and barriers for a Body whose launches have up to `most` instances.
/// Channel, semaphore or barrier k of instance i has the number k * most + i in the rank, as in Kernel::number(). The
/// number of a block is its index in the launch.
template <class Body> struct Replicated {
  static constexpr uint32_t most = mostInstances<typename Body::Plan>;

  static void rankInfo(uint32_t rank, MscclcRankInfo *info) {
    Body::rankInfo(rank, info);
    info->blocks *= most;
    info->memory_channels *= most;
    info->semaphores *= most;
    info->barriers *= most;
  }
  static void channelInfo(uint32_t rank, uint32_t type, uint32_t index, MscclcChannelInfo *info) {
    Body::channelInfo(rank, type, index / most, info);
    if (info->peer_channel != MSCCLC_UNPAIRED)
      info->peer_channel = info->peer_channel * most + index % most;
  }
  static uint32_t semaphoreValue(uint32_t rank, uint32_t index) { return Body::semaphoreValue(rank, index / most); }
  static void waitInfo(uint32_t rank, uint32_t block, uint32_t operation, uint32_t operand, MscclcWaitInfo *info) {
    MscclcRankInfo one{};
    Body::rankInfo(rank, &one);
    WaitInfoOf<Body>::value(rank, one.blocks == 0 ? block : block % one.blocks, operation, operand, info);
  }
};

/// The port channels of a Body whose counts go to other nodes. Behind the port channels of the program, a rank has one
/// more for each other node, in the order of nodes. Each leads to the rank with the same place in its node.
template <class Body, class Program> struct WithCountChannels : Program {
  static constexpr uint32_t together = ranksPerNode<typename Body::Plan>, others = otherNodes<typename Body::Plan>;

  static void rankInfo(uint32_t rank, MscclcRankInfo *info) {
    Program::rankInfo(rank, info);
    info->port_channels += others;
  }
  static void channelInfo(uint32_t rank, uint32_t type, uint32_t index, MscclcChannelInfo *info) {
    MscclcRankInfo own{}, peers{};
    Program::rankInfo(rank, &own);
    if (type != MSCCLC_PORT || index < own.port_channels)
      return Program::channelInfo(rank, type, index, info);
    const uint32_t node = rank / together, k = index - own.port_channels, other = k < node ? k : k + 1;
    info->peer = other * together + rank % together;
    Program::rankInfo(info->peer, &peers);
    info->peer_channel = peers.port_channels + (node < other ? node : node - 1);
  }
};

/// Returns the size of the longest type in a list, in bytes.
template <class... T> constexpr uint64_t longestOf(Types<T...>) {
  uint64_t longest = 0;
  ((longest = sizeof(T) > longest ? sizeof(T) : longest), ...);
  return longest;
}

/// Returns the spread (spreadOf), which must be the same for all types of a list. With different spreads, the places of
/// a chunk's parts in scratch would differ between launches.
template <class Plan, class First, class... T> constexpr unsigned spreadOfAll(Types<First, T...>) {
  static_assert(((spreadOf<Plan, T> == spreadOf<Plan, First>) && ...),
                "a kernel with wide scratch takes floats of one size");
  return spreadOf<Plan, First>;
}

template <class Plan, unsigned spread> uint32_t usefulThreads(uint64_t messageBytes, uint32_t packet) {
  if (takesRows<Plan>()) // all threads of a block share a row, however short the message is
    return Plan::threads;
  constexpr uint64_t warp = 32;
  const uint64_t word = packet == MSCCLC_LL8         ? 4 / spread
                        : packet == MSCCLC_LL16      ? 8 / spread
                        : packet == MSCCLC_NO_PACKET ? 16
                                                     : Lamport::bytes / spread;
  const Layout<Plan> layout(messageBytes, Plan::unit, InstancesOf<Plan>::at(messageBytes));
  const uint64_t words = Plan::mostRows * ((layout.nominal + word - 1) / word);
  const uint64_t threads = words == 0 ? warp : (words + warp - 1) / warp * warp;
  return threads < Plan::threads ? static_cast<uint32_t>(threads) : Plan::threads;
}

template <class Body, class Dtypes, class Ops, class Packets> MscclcKernel describe() {
  using Plan = typename Body::Plan;
  using Forms = Variants<Body, Dtypes, Ops, Packets>;
  MscclcKernel kernel{};
  kernel.abi_magic = MSCCLC_ABI_MAGIC;
  kernel.abi_version = MSCCLC_ABI_VERSION;
  kernel.name = Plan::name;
  kernel.collective = Plan::collective;
  kernel.tool = Plan::tool;
  kernel.source = Plan::source;
  kernel.switches = Plan::switches;
  kernel.tags = TagsOf<Plan>::value;
  kernel.ranks = Plan::ranks;
  kernel.flags = Plan::flags | (hasChannelTable<Plan> ? MSCCLC_CHANNEL_TABLE : 0);
  kernel.root = RootOf<Plan>::value;
  kernel.threads = Plan::threads;
  kernel.max_blocks = Plan::maxBlocks * mostInstances<Plan>;
  kernel.message_shares = Plan::shares;
  kernel.min_message_bytes = Plan::minMessageBytes;
  kernel.max_message_bytes = Plan::maxMessageBytes;
  kernel.buffer_alignment = Plan::bufferAlignment;
  kernel.block_elements = static_cast<uint32_t>(BlockOf<Plan>::elements);
  if constexpr (HasHooks<Plan>::value) {
    kernel.num_arrays = Plan::hookArrays;
    if constexpr (Plan::hookArrays != 0)
      kernel.arrays = Plan::arrays;
  }
  kernel.experts = expertsOf<Plan>();
  if constexpr (hasExperts<Plan>)
    kernel.groups = Plan::isExpertMajor ? Plan::experts : Plan::ranks;
  kernel.ready_rows = ReadyRows<Plan>::value;
  kernel.ranks_per_node = otherNodes<Plan> == 0 ? 0 : ranksPerNode<Plan>;
  kernel.num_variants = Forms::count;
  kernel.variants = Forms::table();
  kernel.input_bytes = [](uint32_t rank, uint64_t bytes) {
    return bytesOf<Body>(rank, bytes, &MscclcRankInfo::input_chunks);
  };
  kernel.output_bytes = [](uint32_t rank, uint64_t bytes) {
    return bytesOf<Body>(rank, bytes, &MscclcRankInfo::output_chunks);
  };
  constexpr unsigned spread = spreadOfAll<Plan>(Dtypes{});
  kernel.useful_threads = &usefulThreads<Plan, spread>;
  kernel.scratch_stride = [](uint64_t bytes, uint64_t rowBytes) {
    constexpr unsigned spreadOfTypes = spreadOfAll<Plan>(Dtypes{});
    return Division<Plan>::isGiven
               ? scratchStride<Plan>(bytes, spreadOfTypes, unitOf<Plan>(rowBytes, longestOf(Dtypes{})))
               : longestStride<Plan>(bytes, spreadOfTypes);
  };
  kernel.scratch_bytes = [](uint64_t stride) { return scratchBytes<Plan>(stride); };
  using OfProgram = std::conditional_t<mostInstances<Plan> == 1, Body, Replicated<Body>>;
  using AllInstances = std::conditional_t<otherNodes<Plan> == 0, OfProgram, WithCountChannels<Body, OfProgram>>;
  kernel.rank_info = &AllInstances::rankInfo;
  kernel.channel_info = &AllInstances::channelInfo;
  kernel.switch_info = &Body::switchInfo;
  kernel.switch_member = &Body::switchMember;
  kernel.remote_buffer_info = &Body::remoteBufferInfo;
  kernel.semaphore_value = &AllInstances::semaphoreValue;
  kernel.digest = DigestOf<Plan>::value;
  kernel.wait_info = WaitInfoOf<Body>::value == nullptr ? nullptr : WaitInfoOf<AllInstances>::value;
#ifdef MSCCLC_GIN
  if constexpr ((Plan::flags & MSCCLC_NEEDS_PORT) != 0)
    kernel.network = networkBody<Plan>();
#endif
  return kernel;
}

/// Adds a kernel to its library's list. If the library finds a registry, registers the kernel there, too.
inline int32_t registerKernel(const MscclcKernel *kernel) {
  bool isListed = false;
  for (const MscclcRegistered *known = mscclc_last_registered; known != nullptr; known = known->before)
    isListed = isListed || known->kernel == kernel;
  if (!isListed)
    mscclc_last_registered = new MscclcRegistered{kernel, mscclc_last_registered};
  return &mscclc_register_kernel != nullptr ? mscclc_register_kernel(kernel) : static_cast<int32_t>(MSCCLC_OK);
}

} // namespace host
} // namespace mscclc::device
