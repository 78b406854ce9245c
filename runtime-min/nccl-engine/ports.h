// Ports over the network: one NCCL device communicator for each local rank.
#pragma once

#include "engine.h"

namespace mscclc::rt {

class NcclPorts : public Ports {
public:
  /// Fails on all ranks if the kernel has no body for ports, if this body is for another version of NCCL than the one
  /// that runs, or if NCCL has no network. Collective.
  static Status open(NcclEngine &engine, const MscclcKernel &kernel, std::unique_ptr<Ports> &result);
  ~NcclPorts() override;
  Status add(uint32_t localIndex, const PortRank &rank) override;
  void fill(uint32_t localIndex, const Memory *const (&)[4], MscclcRankArgs &args) override {
    args.network = ranks_[localIndex].made.data();
  }
  /// Sets the signals to 0: NCCL does not say what they begin with.
  Status reset() override;
  void beginSettling() override;
  Status sendSettling() override;
  Status awaitSettling(std::chrono::steady_clock::time_point deadline) override;

private:
  struct LocalRank {
    std::vector<uint64_t> made; ///< the device communicator; words, because its pointers need alignment
    PortRank ports;
    uint32_t unpaired = 0; ///< channel ends of other ranks that lead to it over the network without a paired end here
    MscclcStatus *settling = nullptr; ///< the status of a settling's waits
  };

  NcclPorts(NcclEngine &engine, const MscclcKernel &kernel);
  Status create(const std::string &what);
  uint32_t unpairedTo(uint32_t rank) const;
  /// MscclcNetworkBody::settle on all local ranks, for `time` (AWAIT).
  Status start(MscclcSettleStep step, uint64_t sent, std::chrono::nanoseconds time = {});
  /// Waits for the steps so far.
  Status finish();
  /// Returns the result of the waits of a settling.
  Status result() const;

  NcclEngine &engine_;
  const MscclcKernel &kernel_;
  uint32_t signals_ = 0;   ///< signals of each device communicator: as many as any rank has port channels
  uint64_t settlings_ = 0; ///< settling signals that each end has sent
  std::vector<LocalRank> ranks_;
  bool open_ = false;
};

} // namespace mscclc::rt
