// An exchange of host memory by ncclAllGather, with the signature of MscclcCommunicatorOptions::allgather.
#pragma once

#include "engine.h"

namespace mscclc::rt {

class NcclGather {
public:
  NcclGather(Platform &platform, const NcclRanks &nccl) : platform_(platform), nccl_(nccl) {}
  ~NcclGather();
  NcclGather(const NcclGather &) = delete;

  /// Makes a stream for each local rank.
  Status prepare();
  /// Exchanges `all`, which has a part of `each` bytes for each rank. The part of the first local rank is sent for all
  /// local ranks. `context` is a NcclGather. Returns 0 on success.
  static int32_t call(void *context, void *all, uint64_t each);
  /// Returns the result of the last call().
  const Status &status() const { return status_; }

private:
  Status gather(uint8_t *all, uint64_t each);
  /// Waits for a rank's stream, up to the limit `patience`.
  Status await(size_t localIndex);

  Platform &platform_;
  const NcclRanks &nccl_;
  std::vector<Stream> streams_;
  std::vector<void *> memory_; ///< the memory of each local rank during a call
  bool stuck_ = false;         ///< a stream did not end in time; its memory is not freed, because freeing would wait
  Status status_;
};

} // namespace mscclc::rt
