#include "communicator/binding.h"

#include "communicator/communicator.h"

#include <algorithm>
#include <cstring>

namespace mscclc::rt {
namespace {

uint64_t largest(const MscclcKernel &kernel, uint64_t (*bytes)(uint32_t, uint64_t), uint64_t message) {
  uint64_t most = 0;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank)
    most = std::max(most, bytes(rank, message));
  return most;
}

Status checkFits(const MscclcKernel &kernel, const char *what, const Region *region, uint64_t offset, uint64_t bytes) {
  if (bytes == 0)
    return {};
  if (region == nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' needs an %s buffer", kernel.name, what);
  if (offset > region->bytes() || bytes > region->bytes() - offset)
    return failure(MSCCLC_ERROR_ARGUMENT,
                   "kernel '%s': %s of %llu bytes at offset %llu runs past its buffer of %llu bytes", kernel.name, what,
                   static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                   static_cast<unsigned long long>(region->bytes()));
  return {};
}

void *addressOf(const BufferOffsets &slice, uint32_t localIndex, uint32_t rank) {
  if (slice.region == nullptr)
    return nullptr;
  auto *base = static_cast<char *>(slice.region->at(localIndex, rank));
  return base == nullptr ? nullptr : base + slice.offset + rank * slice.rankStep;
}

uintptr_t numberOf(const void *address) {
  return reinterpret_cast<uintptr_t>(address);
}

} // namespace

Status resolvePlace(const MscclcKernel &kernel, const MscclcCall &call, const Region *input, const Region *output,
                    LaunchBuffers &place) {
  const uint64_t inputBytes = largest(kernel, kernel.input_bytes, call.message_bytes);
  const uint64_t outputBytes = largest(kernel, kernel.output_bytes, call.message_bytes);
  if ((kernel.flags & MSCCLC_IN_PLACE) == 0) {
    MSCCLC_TRY(checkFits(kernel, "input", input, call.input_offset, inputBytes));
    MSCCLC_TRY(checkFits(kernel, "output", output, call.output_offset, outputBytes));
    if (input == output && call.input_offset < call.output_offset + outputBytes &&
        call.output_offset < call.input_offset + inputBytes)
      return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' does not work in place, and input and output overlap",
                     kernel.name);
    place = {{input, call.input_offset, 0}, {output, call.output_offset, 0}};
    return {};
  }
  if (input != nullptr && output != nullptr && (input != output || call.input_offset != call.output_offset))
    return failure(MSCCLC_ERROR_ARGUMENT, "kernel '%s' works in place: give one buffer, or the same twice",
                   kernel.name);
  const bool fromOutput = input == nullptr;
  const BufferOffsets whole{fromOutput ? output : input, fromOutput ? call.output_offset : call.input_offset, 0};
  MSCCLC_TRY(checkFits(kernel, "input and output", whole.region, whole.offset, std::max(inputBytes, outputBytes)));
  place = {whole, whole};
  place.input.rankStep = mscclc_input_step(&kernel, call.message_bytes);
  place.output.rankStep = mscclc_output_step(&kernel, call.message_bytes);
  return {};
}

Status Binding::create(Communicator &communicator, const MscclcKernel &kernel, const LaunchBuffers &place,
                       const Region &scratch, const std::vector<Proxy *> &proxies, std::unique_ptr<Binding> &result) {
  std::unique_ptr<Binding> binding(new Binding(communicator));
  binding->tables_.resize(communicator.localRanks());
  for (uint32_t i = 0; i < communicator.localRanks(); ++i)
    MSCCLC_TRY(binding->fill(i, kernel, place, scratch, proxies[i]));
  result = std::move(binding);
  return {};
}

Status Binding::fill(uint32_t localIndex, const MscclcKernel &kernel, const LaunchBuffers &place, const Region &scratch,
                     Proxy *proxy) {
  const uint32_t self = communicator_.firstLocalRank() + localIndex;
  const BufferOffsets scratchSlice{&scratch, 0, 0};
  std::vector<MscclcBuffers> buffers(communicator_.ranks());
  for (uint32_t rank = 0; rank < communicator_.ranks(); ++rank) {
    MscclcBuffers &entry = buffers[rank];
    entry.input = addressOf(place.input, localIndex, rank);
    entry.output = addressOf(place.output, localIndex, rank);
    entry.scratch = addressOf(scratchSlice, localIndex, rank);
    lowBits_ |= numberOf(entry.input) | numberOf(entry.output) | numberOf(entry.scratch);
  }

  // A multicast mapping holds one offset for all ranks, and all ranks of the communicator.
  MscclcRankInfo info{};
  kernel.rank_info(self, &info);
  std::vector<void *> multicast(info.switch_channels, nullptr);
  for (uint32_t channel = 0; channel < info.switch_channels; ++channel) {
    MscclcSwitchInfo group{};
    kernel.switch_info(self, channel, &group);
    const BufferOffsets &slice = group.buffer == MSCCLC_INPUT    ? place.input
                                 : group.buffer == MSCCLC_OUTPUT ? place.output
                                                                 : scratchSlice;
    if (group.size != communicator_.ranks() || slice.rankStep != 0 || slice.region == nullptr ||
        slice.region->multicast(localIndex) == nullptr)
      continue;
    multicast[channel] = static_cast<char *>(slice.region->multicast(localIndex)) + slice.offset;
    lowBits_ |= numberOf(multicast[channel]);
  }

  Table &table = tables_[localIndex];
  const uint64_t buffersBytes = buffers.size() * sizeof(MscclcBuffers);
  const uint64_t multicastBytes = multicast.size() * sizeof(void *);
  Platform &platform = communicator_.platform();
  const int32_t device = communicator_.device(localIndex);
  MSCCLC_TRY(platform.allocate(device, buffersBytes + multicastBytes, MemoryKind::Plain, {}, table.memory));
  MSCCLC_TRY(platform.copy(device, table.memory, buffers.data(), buffersBytes));
  auto *const after = static_cast<char *>(table.memory) + buffersBytes;
  if (multicastBytes != 0)
    MSCCLC_TRY(platform.copy(device, after, multicast.data(), multicastBytes));
  table.buffers = static_cast<const MscclcBuffers *>(table.memory);
  table.multicast = reinterpret_cast<void *const *>(after);

  if (proxy != nullptr) {
    const auto room = [&](const BufferOffsets &slice) {
      return slice.region == nullptr ? 0 : slice.region->bytes() - slice.offset;
    };
    MSCCLC_TRY(proxy->addBinding(buffers, {room(place.input), room(place.output), room(scratchSlice)}, table.slots));
    table.proxy = proxy;
  }
  return {};
}

Binding::~Binding() {
  for (uint32_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].memory != nullptr)
      communicator_.platform().release(communicator_.device(i), tables_[i].memory);
    if (tables_[i].proxy != nullptr)
      tables_[i].proxy->removeBinding(tables_[i].slots);
  }
}

} // namespace mscclc::rt
