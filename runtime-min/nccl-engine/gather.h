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
  /// `context`: a NcclGather. `all` has a part for each rank; that of the first local rank is sent for all local ones.
  static int32_t call(void *context, void *all, uint64_t each);
  /// Why call() failed.
  const Status &status() const { return status_; }

private:
  Status gather(uint8_t *all, uint64_t each);
  /// Waits for a rank's stream, as long as there is patience.
  Status await(size_t localIndex);

  Platform &platform_;
  const NcclRanks &nccl_;
  std::vector<Stream> streams_;
  std::vector<void *> memory_; ///< of each local rank, during a call
  bool stuck_ = false;         ///< streams hold what does not end: nothing of theirs is freed, as that would wait
  Status status_;
};

} // namespace mscclc::rt
