// Ports over the network: one NCCL device communicator for each local rank.
#pragma once

#include "engine.h"

namespace mscclc::rt {

class NcclPorts : public Ports {
public:
  /// Opens the ports of a kernel. Fails on all ranks if the kernel has no network body, if its body is for another
  /// version of NCCL than the one that runs, or if NCCL has no network. Collective.
  static Status open(NcclEngine &engine, const MscclcKernel &kernel, std::unique_ptr<Ports> &result);
  ~NcclPorts() override;
  Status add(uint32_t localIndex, const PortRank &rank) override;
  void fill(uint32_t localIndex, const Memory *const (&)[4], MscclcRankArgs &args) override {
    args.network = ranks_[localIndex].made.data();
  }
  /// Sets the signals to 0, because NCCL does not say with which values they begin.
  Status reset() override;
  void beginSettling() override;
  Status sendSettling() override;
  Status awaitSettling(std::chrono::steady_clock::time_point deadline) override;

private:
  struct LocalRank {
    std::vector<uint64_t> made; ///< the device communicator; made of words, because its pointers need alignment
    PortRank ports;
    /// The number of other ranks' channel ends that lead to this rank over the network, and have no paired end here.
    uint32_t unpaired = 0;
    MscclcStatus *settling = nullptr; ///< the status for the waits of MSCCLC_SETTLE_AWAIT
  };

  NcclPorts(NcclEngine &engine, const MscclcKernel &kernel);
  Status create(const std::string &what);
  uint32_t unpairedTo(uint32_t rank) const;
  /// Starts one step of MscclcNetworkBody::settle on all local ranks. `sent`: number of settling signals that each end
  /// sent before this settling. `time`: for MSCCLC_SETTLE_AWAIT, the time limit of all its waits.
  Status start(MscclcSettleStep step, uint64_t sent, std::chrono::nanoseconds time = {});
  /// Waits until all steps that start() has started are over.
  Status finish();
  /// Returns the result of the last MSCCLC_SETTLE_AWAIT.
  Status result() const;

  NcclEngine &engine_;
  const MscclcKernel &kernel_;
  uint32_t signals_ = 0;   ///< signals of each device communicator: the most port channels of any rank
  uint64_t settlings_ = 0; ///< settling signals that each end has sent so far
  std::vector<LocalRank> ranks_;
  bool open_ = false;
};

} // namespace mscclc::rt
