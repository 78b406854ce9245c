// The NCCL communicators that --nccl runs on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::perf {

/// The processes of this machine that are about to be forked will meet at NCCL_COMM_ID, which NCCL takes in place of an
/// identifier that is passed around. Leaves alone what the user has set.
void prepareNccl();

/// In place of a rank's device, where ranks are on the host.
constexpr int32_t noDevice = -1;

/// The NCCL communicators of a process's ranks.
class NcclRanks {
public:
  /// Loads the library and makes `devices.size()` communicators of `ranks` ranks, from rank `first` on, each on its
  /// device. Collective. Throws runtime::Error if a function is missing or fails.
  NcclRanks(const std::string &library, uint32_t ranks, uint32_t first, const std::vector<int32_t> &devices);
  NcclRanks(const NcclRanks &) = delete;
  NcclRanks &operator=(const NcclRanks &) = delete;
  ~NcclRanks();

  /// ncclComm_t of each local rank.
  void *const *communicators() const { return communicators_.data(); }
  /// dlopen's.
  void *library() const { return library_; }

private:
  void *library_ = nullptr;
  int (*destroy_)(void *communicator) = nullptr;
  std::vector<void *> communicators_;
};

} // namespace mscclc::perf
