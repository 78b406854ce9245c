// The engine on NCCL communicators of the program's. Memory is in symmetric windows; the ranks whose memory kernels
// load and store are those of NCCL's LSA team. The processes hear of each other's failures as those of the local engine
// do: they meet by one ncclAllGather.
#pragma once

#include "engine/engine.h"
#include "library.h"

#include <atomic>

namespace mscclc::rt {

/// What NCCL knows of the local ranks' communicators.
struct NcclRanks {
  NcclLibrary library;
  std::vector<NcclComm> comms;
  std::vector<int32_t> devices;
  uint32_t ranks = 0;
  uint32_t first = 0;
  RankRange team;

  /// Fails where the communicators are not consecutive ranks of one and the same.
  static Status read(void *library, void *const *comms, uint32_t count, NcclRanks &result);

  /// `call(i)`, which is NCCL's function `what`, for the i-th local rank on its device: those of all in one group, for
  /// whose end this waits.
  Status inGroup(Platform &platform, const char *what, const std::function<int(size_t)> &call) const;
};

class NcclEngine : public Engine {
public:
  explicit NcclEngine(NcclRanks nccl) : nccl_(std::move(nccl)) {}
  void place(MscclcCommunicatorOptions &options) const override;
  Status meet(Platform &platform, const Site &, Rendezvous::Options options) override;
  RankRange team() const override { return nccl_.team; }
  bool outlasts() const override { return false; }
  std::unique_ptr<Memory> memory(uint64_t bytes) override;
  Status openPorts(const MscclcKernel &kernel, bool wanted, std::unique_ptr<Ports> &ports) override;
  void giveUp() override;
  Status health() override;
  void detach() override;

  /// giveUp() makes the waits give up that look at `status`.
  void addSettling(MscclcStatus *status);
  void removeSettling(MscclcStatus *status);
  /// Whether the communicators are still there.
  bool isAttached() const { return attached_; }
  Platform &platform() { return *platform_; }
  const NcclRanks &nccl() const { return nccl_; }
  uint32_t localRanks() const { return static_cast<uint32_t>(nccl_.comms.size()); }

private:
  NcclRanks nccl_;
  Platform *platform_ = nullptr;
  std::mutex asking_; ///< for the communicators' health
  std::atomic<bool> attached_{true};
  std::mutex givingUp_; ///< for `settling_`
  std::vector<MscclcStatus *> settling_;
};

} // namespace mscclc::rt
