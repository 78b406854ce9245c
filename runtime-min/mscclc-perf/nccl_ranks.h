// The NCCL communicators that --nccl runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::perf {

/// Sets NCCL_COMM_ID, so that processes that are forked later meet there. They need not exchange an identifier. Keeps a
/// value that the user has set.
void prepareNccl();

/// The device number of ranks on the host.
constexpr int32_t noDevice = -1;

/// The NCCL communicators of a process's ranks.
class NcclRanks {
public:
  /// Loads the library and makes the communicators of `devices.size()` ranks, from rank `first` of `ranks` on, each on
  /// its device. Collective. Throws runtime::Error if a function is missing or fails.
  NcclRanks(const std::string &library, uint32_t ranks, uint32_t first, const std::vector<int32_t> &devices);
  NcclRanks(const NcclRanks &) = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;
  ~NcclRanks();

  /// Returns the ncclComm_t of each local rank.
  void *const *communicators() const { return communicators_.data(); }
  /// Returns the handle that dlopen returned.
  void *library() const { return library_; }

private:
  void *library_ = nullptr;
  int (*destroy_)(void *communicator) = nullptr;
  std::vector<void *> communicators_;
};

} // namespace mscclc::perf
