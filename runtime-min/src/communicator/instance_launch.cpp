// Launches of an instance.
#include "communicator/instance.h"
#include "communicator/sync_layout.h"
#include "kernels/kernel_facts.h"
#include "platform/profiler.h"

#include <algorithm>
#include <string_view>

namespace mscclc::rt {
namespace {

constexpr uint32_t hostThreads = 4; ///< threads of a block on the host, if the caller gives no number

/// Returns the index of the hooks' array `name`; MscclcKernel::num_arrays if the kernel has no such array.
uint32_t arrayOf(const MscclcKernel &kernel, const std::string &name) {
  uint32_t i = 0;
  while (i < kernel.num_arrays && name != kernel.arrays[i].name)
    ++i;
  return i;
}

} // namespace

Stream Instance::streamOf(const MscclcCall &call, uint32_t localIndex) const {
  return call.streams != nullptr ? call.streams[localIndex] : communicator_.stream(localIndex);
}

/// Checks that no two ranks of a device use the same stream. Ranks wait for each other, so no rank may be queued behind
/// another rank.
Status Instance::checkStreams(const MscclcCall &call) const {
  if (call.streams == nullptr)
    return {};
  const auto wrong = [&](uint32_t localIndex, const char *why) {
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s': the stream of rank %u %s", kernel_.name,
                   communicator_.firstLocalRank() + localIndex, why);
  };
  const bool onHost = communicator_.platform().kind() == MSCCLC_PLATFORM_HOST;
  for (uint32_t i = 0; i < local_.size(); ++i) {
    if (onHost && call.streams[i] == nullptr)
      return wrong(i, "is none");
    for (uint32_t j = 0; j < local_.size(); ++j) {
      if (i == j || communicator_.device(i) != communicator_.device(j))
        continue;
      if (call.streams[i] == call.streams[j])
        return wrong(i, "is that of another rank on its device");
      if (communicator_.platform().isDefault(call.streams[i]))
        return wrong(i, "is the default one, which waits for the streams of the other ranks on its device");
    }
  }
  return {};
}

Status Instance::checkPart(const MscclcCall &call) const {
  const auto wrong = [&](const char *why) { return failure(MSCCLC_ERROR_PART, "kernel '%s' %s", kernel_.name, why); };
  if (call.part > MSCCLC_RECEIVE)
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s': a launch has no part %u", kernel_.name, call.part);
  if ((kernel_.flags & MSCCLC_SPLIT) == 0)
    return call.part == MSCCLC_WHOLE ? Status{} : wrong("is one kernel: compile its program with .split");
  if (call.part != MSCCLC_RECEIVE)
    return sentBytes_ ? wrong("has sent, and the kernel that receives comes next") : Status{};
  if (!sentBytes_)
    return wrong("has not sent, so there is nothing to receive");
  return *sentBytes_ == call.message_bytes ? Status{}
                                           : wrong("has sent a message of another size than it is to receive");
}

Status Instance::takeHookArguments(const MscclcCall &call) {
  MSCCLC_TRY(checkRows(kernel_, call.message_bytes, call.row_bytes, call.dtype));
  if (maxRowBytes_ != 0 && kernel_.scratch_stride(call.message_bytes, call.row_bytes) > scratchStride_)
    return failure(
        MSCCLC_ERROR_ROWS,
        "kernel '%s' was loaded for rows of up to %llu bytes, not of %llu (the least common multiple with 16 "
        "counts)",
        kernel_.name, wide(maxRowBytes_), wide(call.row_bytes));
  for (uint32_t i = 0; i < call.num_arrays; ++i)
    if (call.arrays[i].name == nullptr || arrayOf(kernel_, call.arrays[i].name) == kernel_.num_arrays)
      return failure(MSCCLC_ERROR_ARGUMENT, "no hook of kernel '%s' takes an array '%s'", kernel_.name,
                     call.arrays[i].name == nullptr ? "" : call.arrays[i].name);
  for (uint32_t rank = 0; rank < local_.size(); ++rank) {
    std::vector<void *> &taken = local_[rank].arrays;
    taken.assign(kernel_.num_arrays, nullptr);
    for (uint32_t i = 0; i < call.num_arrays; ++i)
      if (call.arrays[i].pointers != nullptr)
        taken[arrayOf(kernel_, call.arrays[i].name)] = call.arrays[i].pointers[rank];
    for (uint32_t i = 0; i < kernel_.num_arrays; ++i)
      if (taken[i] == nullptr)
        return failure(MSCCLC_ERROR_ARGUMENT, "a hook of kernel '%s' takes an array '%s', and rank %u has none",
                       kernel_.name, kernel_.arrays[i].name, communicator_.firstLocalRank() + rank);
  }
  return {};
}

Status Instance::checkCounts(const MscclcCall &call) const {
  const bool takesIndex = (kernel_.flags & MSCCLC_TAKES_INDEX) != 0;
  const bool takesCounts = (kernel_.flags & MSCCLC_TAKES_COUNTS) != 0 && !takesIndex;
  if (takesCounts != (call.counts != nullptr))
    return failure(MSCCLC_ERROR_COUNTS,
                   takesCounts ? "kernel '%s' takes counts of rows, and the call has none"
                               : "kernel '%s' takes no counts of rows, and the call has some",
                   kernel_.name);
  if (takesIndex != (call.index != nullptr))
    return failure(MSCCLC_ERROR_COUNTS,
                   takesIndex ? "kernel '%s' takes an index of experts, and the call has none"
                              : "kernel '%s' takes no index of experts, and the call has one",
                   kernel_.name);
  if (takesIndex)
    return checkIndex(call);
  if (!takesCounts)
    return {};
  if (call.staging != nullptr) // a copy of the output would overwrite the bytes behind the rows that came
    return failure(MSCCLC_ERROR_UNSUPPORTED, "kernel '%s' takes counts of rows, so it copies no input or output",
                   kernel_.name);
  for (uint32_t i = 0; i < local_.size(); ++i) {
    const MscclcCounts &counts = call.counts[i];
    const uint32_t rank = communicator_.firstLocalRank() + i;
    if (counts.sent == nullptr)
      return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': rank %u brings no counts", kernel_.name, rank);
    if (counts.width != 4 && counts.width != 8)
      return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': counts have 4 or 8 bytes, not the %u of rank %u", kernel_.name,
                     counts.width, rank);
    if (counts.in_rows != call.counts[0].in_rows || counts.out_rows != call.counts[0].out_rows)
      return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': the buffers of ranks %u and %u have room for other rows",
                     kernel_.name, communicator_.firstLocalRank(), rank);
    if (counts.in_rows + counts.out_rows != 0 && (kernel_.flags & MSCCLC_PACKED_ROWS) == 0)
      return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': padded buffers have room for all rows", kernel_.name);
  }
  if (call.message_bytes / call.row_bytes >> 31 != 0)
    return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': a message of %llu bytes has 2^31 rows or more", kernel_.name,
                   wide(call.message_bytes));
  return {};
}

Status Instance::checkIndex(const MscclcCall &call) const {
  if (call.staging != nullptr)
    return failure(MSCCLC_ERROR_UNSUPPORTED, "kernel '%s' packs rows itself, so it copies no input or output",
                   kernel_.name);
  const auto bitsOf = [](const void *address) { return reinterpret_cast<uintptr_t>(address); };
  const std::string_view collective = kernel_.collective;
  const bool isCombine = collective.substr(0, collective.find('+')) == "combine";
  for (uint32_t i = 0; i < local_.size(); ++i) {
    const MscclcIndex &index = call.index[i];
    const auto wrong = [&](const char *what) {
      return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': the index of rank %u has %s", kernel_.name,
                     communicator_.firstLocalRank() + i, what);
    };
    const bool hasRows = index.rows != 0, hasLists = (kernel_.flags & MSCCLC_ONCE_PER_RANK) != 0;
    if (index.choices == 0 || index.rows >= (uint64_t{1} << 31) / index.choices)
      return wrong("no choices, or 2^31 entries or more");
    if (hasLists && index.choices != call.index[0].choices)
      return wrong("other choices than that of the first rank, and lists are as long on all");
    uint64_t sum = hasLists ? uint64_t{4} * index.choices : 0;
    if (hasLists && (call.row_bytes % 4 != 0 || sum > call.row_bytes))
      return wrong("lists of places, and rows are no multiples of 4 bytes, or shorter than a list");
    uint32_t payloads = 0;
    uintptr_t rows = 0;
    for (; payloads < MSCCLC_MAX_PAYLOADS && index.payloads[payloads].bytes != 0; ++payloads) {
      const MscclcPayload &payload = index.payloads[payloads];
      if ((isCombine ? payload.from : payload.to) == nullptr ||
          (hasRows && (isCombine ? payload.to : payload.from) == nullptr))
        return wrong("no rows, or no place for them");
      if (payload.bytes > call.row_bytes - sum)
        return wrong(hasLists ? "payloads that leave no room for lists of places in a row"
                              : "payloads that are longer than a row");
      if (payload.bytes != call.index[0].payloads[payloads].bytes)
        return wrong("payloads that are not as long as those of the first rank");
      sum += payload.bytes;
      rows |= bitsOf(payload.from) | bitsOf(payload.to);
    }
    for (uint32_t k = payloads; k < MSCCLC_MAX_PAYLOADS; ++k)
      if ((index.payloads[k].bytes | call.index[0].payloads[k].bytes) != 0)
        return wrong("a payload behind one of 0 bytes, or fewer payloads than that of the first rank");
    if (payloads == 0 || (isCombine && (payloads != 1 || sum != call.row_bytes)))
      return wrong(isCombine ? "not one payload that is as long as a row" : "no payload");
    if (index.work == nullptr || (hasRows && index.entries == nullptr))
      return wrong("no entries, or no memory to work in");
    if (isCombine && hasRows && index.weights == nullptr)
      return wrong("no weights");
    if (isCombine && (kernel_.flags & MSCCLC_SPLIT) != 0 && index.cells == nullptr)
      return wrong("no cells, and a kernel that sends does not wait for them");
    if ((index.ready != nullptr) != (kernel_.ready_rows != 0))
      return wrong(index.ready == nullptr ? "no words for the blocks of rows that the kernel hands over"
                                          : "words for blocks of rows, and the kernel hands over none");
    if (index.width != 4 && index.width != 8)
      return wrong("entries of neither 4 nor 8 bytes");
    const uintptr_t numbers = bitsOf(index.weights) | bitsOf(index.received) | bitsOf(index.cells) |
                              bitsOf(index.status) | bitsOf(index.work) | bitsOf(index.ready);
    if (bitsOf(index.entries) % index.width != 0 || numbers % 4 != 0 ||
        (isCombine && rows % bytesOfType(call.dtype) != 0))
      return wrong("an array that does not lie at multiples of its elements");
  }
  if (call.message_bytes / call.row_bytes >> 31 != 0)
    return failure(MSCCLC_ERROR_COUNTS, "kernel '%s': a message of %llu bytes has 2^31 rows or more", kernel_.name,
                   wide(call.message_bytes));
  return {};
}

void Instance::address(const LaunchBuffers &place, uintptr_t &lowBits) {
  const BufferOffsets scratch{scratch_.get(), 0, 0};
  const auto note = [&](void *address) {
    lowBits |= reinterpret_cast<uintptr_t>(address);
    return address;
  };
  for (uint32_t i = 0; i < local_.size(); ++i) {
    RankState &state = local_[i];
    state.buffers.resize(communicator_.ranks());
    for (uint32_t rank = 0; rank < communicator_.ranks(); ++rank)
      state.buffers[rank] = {note(place.input.at(i, rank)), note(place.output.at(i, rank)), note(scratch.at(i, rank))};
    // A multicast mapping has one offset for all ranks, and covers all ranks of the communicator.
    const uint32_t self = communicator_.firstLocalRank() + i;
    state.multicast.assign(infos_[self].switch_channels, nullptr);
    for (uint32_t channel = 0; channel < state.multicast.size(); ++channel) {
      MscclcSwitchInfo group{};
      kernel_.switch_info(self, channel, &group);
      const BufferOffsets &buffer = group.buffer == MSCCLC_INPUT    ? place.input
                                    : group.buffer == MSCCLC_OUTPUT ? place.output
                                                                    : scratch;
      if (group.size == communicator_.ranks() && buffer.rankStep == 0 && buffer.region != nullptr &&
          buffer.region->multicast(i) != nullptr)
        state.multicast[channel] = note(static_cast<char *>(buffer.region->multicast(i)) + buffer.offset);
    }
  }
}

Status Instance::keepInGraphs(const MscclcCall &call, const LaunchBuffers &place) {
  Platform &platform = communicator_.platform();
  for (uint32_t i = 0; i < local_.size(); ++i) {
    Stream stream = streamOf(call, i);
    local_[i].captured = platform.capturing(communicator_.device(i), stream);
    if (!local_[i].captured)
      continue;
    std::vector<std::shared_ptr<const void>> used{graphs_.keep()};
    for (const Memory *region : {place.input.region, place.output.region})
      if (region != nullptr)
        used.push_back(region->graphs().keep());
    MSCCLC_TRY(platform.keepInGraph(communicator_.device(i), stream, std::move(used)));
  }
  return {};
}

/// Orders a launch after earlier launches. Launches of one instance follow each other on each rank. Launches of
/// different instances also follow each other, over all ranks of a device, because the blocks of two kernels might not
/// fit on it together. If two devices then began with different kernels, each kernel would wait for ever for its blocks
/// on the other device. With MscclcCommunicatorOptions::unchained, launches of different instances are ordered only if
/// local ranks share a device.
Status Instance::orderAfterOthers(const MscclcCall &call) {
  for (uint32_t i = 0; i < local_.size(); ++i) {
    Stream stream = streamOf(call, i);
    if (local_[i].captured)
      continue;
    const int32_t device = communicator_.device(i);
    bool shared = false;
    for (uint32_t j = 0; j < local_.size(); ++j) {
      if (j == i || communicator_.device(j) != device)
        continue;
      shared = true;
      if (communicator_.lastLaunched[j] != this)
        MSCCLC_TRY(orderAfter(communicator_.lastLaunched[j], j, i, stream));
    }
    // The last launch on a rank follows all earlier launches on it.
    MSCCLC_TRY(orderAfter(shared || communicator_.chains() ? communicator_.lastLaunched[i] : this, i, i, stream));
  }
  return {};
}

/// Handles of destroyed streams are reused, and one handle can name streams of several threads. Only the communicator's
/// own streams can be identified by their handles.
Status Instance::orderAfter(const Instance *before, uint32_t other, uint32_t localIndex, Stream stream) {
  if (before == nullptr || !before->local_[other].launched)
    return {};
  const RankState &state = before->local_[other];
  if (state.lastStream == stream && stream == communicator_.stream(localIndex))
    return {};
  return communicator_.platform().follow(communicator_.device(localIndex), stream, state.event);
}

MscclcRankArgs Instance::argsOf(const MscclcCall &call, uint32_t localIndex, const MscclcRankArgs &common,
                                const LaunchBuffers &place) {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const MscclcRankInfo &info = infos_[self];
  const SyncLayout layout(info);
  const RankState &state = local_[localIndex];
  char *const own = sync_->at(localIndex, self);
  MscclcRankArgs args = common;
  args.rank = self;
  args.flags |= call.pdl != 0 && !communicator_.sharesDevice(self) ? MSCCLC_PDL : 0;
  args.flags |= call.part == MSCCLC_SEND ? MSCCLC_ONLY_SEND : call.part == MSCCLC_RECEIVE ? MSCCLC_ONLY_RECEIVE : 0;
  args.buffers = state.buffers.data();
  args.memory_channels = state.channelTable != nullptr ? state.channelTable : state.memoryChannels.data();
  args.memory_inbound = counterAt(own, layout.memoryInbound, 0);
  args.memory_expected = counterAt(own, layout.memoryExpected, 0);
  args.memory_sent = counterAt(own, layout.memorySent, 0);
  args.port_channels = state.portChannels;
  args.multicast = state.multicast.data();
  args.arrays = state.arrays.data();
  if (call.counts != nullptr)
    args.counts = call.counts[localIndex];
  if (call.index != nullptr)
    args.index = call.index[localIndex];
  args.counts.tables = state.countTables.empty() ? nullptr : state.countTables.data();
  args.barriers = counterAt(own, layout.barriers, 0);
  args.semaphores = reinterpret_cast<uint32_t *>(own + layout.semaphores);
  args.launches = counterAt(own, layout.launches, 0);
  args.finished = counterAt(own, layout.finished, 0);
  args.fifo.head = counterAt(own, layout.fifoHead, 0);
  const Memory *const tables = kernel_.ranks_per_node != 0 ? sync_.get() : nullptr;
  const BufferOffsets buffers[] = {place.input, place.output, {scratch_.get(), 0, 0}, {tables, countsAt_, 0}};
  const Memory *const memories[] = {buffers[0].region, buffers[1].region, buffers[2].region, tables};
  for (size_t kind = 0; kind < 4 && !ports_.empty(); ++kind) {
    const Window window = memories[kind] != nullptr ? memories[kind]->window(localIndex) : Window{};
    args.fifo.places[kind] = {buffers[kind].offset, buffers[kind].rankStep, 0, 0, window.handle, window.begins};
  }
  for (const std::unique_ptr<Ports> &ports : ports_)
    ports->fill(localIndex, memories, args);
  args.status = state.status;
  if (call.staging != nullptr) {
    args.staging = call.staging[localIndex];
    skipCopies(kernel_, call, self, private_, local_[localIndex].buffers[self], args.staging);
  }
  args.staging_state = counterAt(own, layout.staging, 0);
  return args;
}

Status Instance::start(const MscclcVariant &variant, uint32_t threads, const MscclcCall &call,
                       const MscclcRankArgs &common, const LaunchBuffers &place, uint32_t localIndex) {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  if (infos_[self].blocks == 0)
    return {};
  const MscclcRankArgs args = argsOf(call, localIndex, common, place);
  MSCCLC_TRY(communicator_.platform().use(communicator_.device(localIndex)));
  const int32_t code = variant.launch(&args, threads, streamOf(call, localIndex));
  return code == MSCCLC_OK ? Status{} : kernelFailure(code, kernel_.name, self);
}

/// Records a launch, so that later launches can follow it. A captured launch is not recorded, because the user who
/// replays its graph orders it.
Status Instance::markLaunched(const MscclcCall &call, uint32_t localIndex) {
  Platform &platform = communicator_.platform();
  RankState &state = local_[localIndex];
  Stream stream = streamOf(call, localIndex);
  if (infos_[communicator_.firstLocalRank() + localIndex].blocks == 0 || state.captured)
    return {};
  MSCCLC_TRY(platform.record(communicator_.device(localIndex), state.event, stream));
  state.lastStream = stream;
  setLaunched(localIndex, true);
  for (const std::unique_ptr<Ports> &ports : ports_)
    ports->launched(localIndex);
  communicator_.lastLaunched[localIndex] = this;
  return {};
}

void Instance::wakePorts() {
  for (const std::unique_ptr<Ports> &ports : ports_)
    ports->wake();
}

Status Instance::launch(const MscclcCall &call, const Memory *input, const Memory *output) {
  const LaunchRange range(kernel_.name, call.message_bytes);
  MSCCLC_TRY(communicator_.explainedHealth());
  MSCCLC_TRY(checkPart(call));
  MSCCLC_TRY(checkMessage(kernel_, call.message_bytes, call.dtype));
  // An empty message needs no launch, and double scratch must not switch halves for it. But a kernel with counts of
  // rows runs, because the counts are results.
  if (call.message_bytes == 0 && (kernel_.flags & (MSCCLC_TAKES_INDEX | MSCCLC_TAKES_COUNTS)) == 0)
    return {};
  if (call.message_bytes > maxMessageBytes_)
    return failure(MSCCLC_ERROR_SIZE, "kernel '%s' was loaded for messages of up to %llu bytes, not of %llu",
                   kernel_.name, wide(maxMessageBytes_), wide(call.message_bytes));
  const MscclcVariant *variant = findVariant(kernel_, call.dtype, call.reduce_op, call.packet);
  if (variant == nullptr)
    return failure(MSCCLC_ERROR_KERNEL, "kernel '%s' was not compiled for %s, operation %s", kernel_.name,
                   nameOfType(call.dtype), nameOfReduceOp(call.reduce_op));
  const bool onHost = communicator_.platform().kind() == MSCCLC_PLATFORM_HOST;
  uint32_t threads = call.threads;
  if (threads == 0)
    threads =
        onHost ? std::min(kernel_.threads, hostThreads) : kernel_.useful_threads(call.message_bytes, variant->packet);
  if (threads > kernel_.threads)
    return failure(MSCCLC_ERROR_THREADS, "kernel '%s' takes 1 to %u threads a block, not %u", kernel_.name,
                   kernel_.threads, threads);
  LaunchBuffers place;
  uintptr_t lowBits = 0;
  MSCCLC_TRY(takeHookArguments(call));
  MSCCLC_TRY(checkCounts(call));
  MSCCLC_TRY(resolvePlace(kernel_, call, input, output, place));
  MSCCLC_TRY(checkStreams(call));
  for (uint32_t i = 0; call.staging != nullptr && i < local_.size(); ++i)
    MSCCLC_TRY(checkStaging(kernel_, *variant, call, communicator_.firstLocalRank() + i, call.staging[i]));
  MSCCLC_TRY(checkResidency(*variant, threads));
  address(place, lowBits);
  if (variant->dtype != MSCCLC_ANY_DTYPE && lowBits % bytesOfType(call.dtype) != 0)
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s': a buffer or an offset is no multiple of the %u bytes of %s",
                   kernel_.name, bytesOfType(call.dtype), nameOfType(call.dtype));
  Status ordered = keepInGraphs(call, place);
  if (ordered.ok())
    ordered = orderAfterOthers(call);
  if (!ordered.ok()) {
    if (communicator_.processes() > 1) // the other processes launch, and would wait for these ranks
      communicator_.fail(ordered);
    return ordered;
  }

  MscclcRankArgs common{};
  common.abi_version = MSCCLC_ABI_VERSION;
  common.flags = lowBits % 16 == 0 ? MSCCLC_BUFFERS_ALIGNED : 0;
  common.report_ms = communicator_.reportMs();
  common.message_bytes = call.message_bytes;
  common.row_bytes = call.row_bytes;
  common.scratch_stride = scratchStride_;
  common.timeout_ns = communicator_.waitTimeoutNs();

  wakePorts();
  // From here on, this thread must not wait: ranks that already run wait for the others. Events are recorded after all
  // ranks have started: if streams share one of the device's queues, an event delays everything behind it.
  Status status;
  uint32_t started = 0;
  for (uint32_t i = 0; i < local_.size() && status.ok(); ++i) {
    status = start(*variant, threads, call, common, place, i);
    started += status.ok() ? 1 : 0;
  }
  for (uint32_t i = 0; i < started; ++i)
    if (Status recorded = markLaunched(call, i); status.ok())
      status = std::move(recorded);
  communicator_.watch().launched();
  wakePorts();
  // Running ranks, in this or another process, wait for the ranks that did not start. With a split kernel, the kernel
  // that sends may already run.
  if (!status.ok() && (started != 0 || communicator_.processes() > 1 || (kernel_.flags & MSCCLC_SPLIT) != 0))
    communicator_.fail(status);
  else if (status.ok() && call.part != MSCCLC_WHOLE)
    sentBytes_ = call.part == MSCCLC_SEND ? std::optional(call.message_bytes) : std::nullopt;
  return status;
}

} // namespace mscclc::rt
