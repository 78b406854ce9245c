// Ports over the network: a device communicator of NCCL's for each local rank.
#pragma once

#include "engine.h"

namespace mscclc::rt {

class NcclPorts : public Ports {
public:
  /// Fails on all ranks alike: where the kernel has no body for them, where that is for another version of NCCL than
  /// the one that runs, and where NCCL has no network. Collective.
  static Status open(NcclEngine &engine, const std::string &what, const MscclcNetworkBody *body, uint32_t signals,
                     std::unique_ptr<Ports> &result);
  ~NcclPorts() override;
  const void *communicator(uint32_t localIndex) const override { return made_[localIndex].data(); }

private:
  explicit NcclPorts(NcclEngine &engine) : engine_(engine) {}
  Status create(const std::string &what, const MscclcNetworkBody &body, uint32_t signals);

  NcclEngine &engine_;
  /// By local rank. Of words, as its pointers want to be aligned.
  std::vector<std::vector<uint64_t>> made_;
  bool open_ = false;
};

} // namespace mscclc::rt
