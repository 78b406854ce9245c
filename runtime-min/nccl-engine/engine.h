// The engine on the program's NCCL communicators. Memory is in symmetric windows. Kernels load and store the memory of
// the ranks in NCCL's LSA team. The processes meet by one ncclAllGather. After that, they learn of each other's
// failures as with the local engine.
#pragma once

#include "engine/engine.h"
#include "library.h"

#include <atomic>
#include <mutex>

namespace mscclc::rt {

/// Data of the local ranks' NCCL communicators.
struct NcclRanks {
  NcclLibrary library;
  std::vector<NcclComm> comms;
  std::vector<int32_t> devices;
  uint32_t ranks = 0;
  uint32_t first = 0;
  RankRange team;

  /// Reads the data of `count` communicators. Fails unless they are consecutive ranks of the same communicator.
  static Status read(void *library, void *const *comms, uint32_t count, NcclRanks &result);

  /// Makes `call(i)` for each local rank i, on its device, in one NCCL group, and waits for the end of the group.
  /// `what` is the name of the NCCL function.
  Status inGroup(Platform &platform, const char *what, const std::function<int(size_t)> &call) const;
};

class NcclEngine : public Engine {
public:
  explicit NcclEngine(NcclRanks nccl) : nccl_(std::move(nccl)) {}
  void place(MscclcCommunicatorOptions &options) const override;
  Status meet(Platform &platform, const Site &, MeetingOptions options) override;
  RankRange team() const override { return nccl_.team; }
  bool outlasts() const override { return false; }
  std::unique_ptr<Memory> memory(uint64_t bytes) override;
  Status openPorts(const MscclcKernel &kernel, bool wanted, std::unique_ptr<Ports> &ports) override;
  void giveUp() override;
  Status health() override;
  void detach() override;

  /// Registers a status: giveUp() ends the waits that poll it.
  void addSettling(MscclcStatus *status);
  void removeSettling(MscclcStatus *status);
  /// True until detach(): the communicators still exist.
  bool isAttached() const { return attached_; }
  Platform &platform() { return *platform_; }
  const NcclRanks &nccl() const { return nccl_; }
  uint32_t localRanks() const { return static_cast<uint32_t>(nccl_.comms.size()); }

private:
  NcclRanks nccl_;
  Platform *platform_ = nullptr;
  std::mutex asking_; ///< held while the communicators are asked for their health
  std::atomic<bool> attached_{true};
  std::mutex givingUp_; ///< for `settling_`
  std::vector<MscclcStatus *> settling_;
};

} // namespace mscclc::rt
