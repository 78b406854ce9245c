#include "gather.h"

#include <thread>

namespace mscclc::rt {

NcclGather::~NcclGather() {
  for (size_t i = 0; i < streams_.size() && !stuck_; ++i)
    platform_.destroyStream(nccl_.devices[i], streams_[i]);
}

Status NcclGather::prepare() {
  for (const int32_t device : nccl_.devices) {
    Stream stream = nullptr;
    MSCCLC_TRY(platform_.createStream(device, false, stream));
    streams_.push_back(stream);
  }
  return {};
}

int32_t NcclGather::call(void *context, void *all, uint64_t each) {
  auto *self = static_cast<NcclGather *>(context);
  self->status_ = self->gather(static_cast<uint8_t *>(all), each);
  for (size_t i = 0; i < self->memory_.size() && !self->stuck_; ++i)
    self->platform_.release(self->nccl_.devices[i], self->memory_[i]);
  self->memory_.clear();
  return self->status_.code;
}

Status NcclGather::await(size_t localIndex) {
  const int32_t device = nccl_.devices[localIndex];
  Event done = nullptr;
  MSCCLC_TRY(platform_.createEvent(device, done));
  Status status = platform_.record(device, done, streams_[localIndex]);
  const auto end = std::chrono::steady_clock::now() + nccl_.library.patience;
  while (status.ok() && platform_.isPending(device, done)) {
    if (std::chrono::steady_clock::now() > end) {
      stuck_ = true;
      return failure(MSCCLC_ERROR_RENDEZVOUS, "ncclAllGather of rank %zu has not ended after %lld ms",
                     nccl_.first + localIndex, static_cast<long long>(nccl_.library.patience.count()));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  platform_.destroyEvent(device, done);
  return status.ok() ? platform_.synchronize(device, streams_[localIndex]) : status;
}

Status NcclGather::gather(uint8_t *all, uint64_t each) {
  for (const int32_t device : nccl_.devices) {
    void *memory = nullptr;
    MSCCLC_TRY(platform_.allocate(device, nccl_.ranks * each, MemoryKind::Plain, {}, memory));
    memory_.push_back(memory);
  }
  // The exchange works in place: rank r sends part r of its memory.
  const auto partOf = [&](size_t i) { return static_cast<uint8_t *>(memory_[i]) + (nccl_.first + i) * each; };
  for (size_t i = 0; i < memory_.size(); ++i)
    MSCCLC_TRY(platform_.copy(nccl_.devices[i], partOf(i), all + nccl_.first * each, each));
  MSCCLC_TRY(nccl_.inGroup(platform_, "ncclAllGather", [&](size_t i) {
    return nccl_.library.allGather(partOf(i), memory_[i], each, ncclBytesType, nccl_.comms[i], streams_[i]);
  }));
  for (size_t i = 0; i < memory_.size(); ++i)
    MSCCLC_TRY(await(i));
  return platform_.copy(nccl_.devices[0], all, memory_[0], nccl_.ranks * each);
}

} // namespace mscclc::rt
