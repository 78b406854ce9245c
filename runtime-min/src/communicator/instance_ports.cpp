// Ports of an instance to other nodes: how they are opened, and how what is on its way over them arrives before a
// reset.
#include "communicator/instance.h"
#include "kernels/kernel_facts.h"

#include <algorithm>
#include <utility>

namespace mscclc::rt {

Status Instance::openPorts(const std::string &name) {
  if ((kernel_.flags & MSCCLC_NEEDS_PORT) == 0 || !communicator_.engine().hasPorts())
    return {};
  uint8_t mine = 0;
  for (uint32_t i = 0; i < communicator_.localRanks(); ++i)
    for (const MscclcChannelInfo &paired : channelsOf(kernel_, communicator_.firstLocalRank() + i, MSCCLC_PORT))
      if (paired.peer < kernel_.ranks && sync_->at(i, paired.peer) == nullptr)
        mine = 1;
  std::vector<Bytes> all;
  MSCCLC_TRY(communicator_.exchange(name + ": other nodes", {mine}, all));
  if (std::none_of(all.begin(), all.end(), [](const Bytes &theirs) { return theirs == Bytes{1}; }))
    return {};
  return communicator_.engine().openPorts(name, kernel_.network, mostPorts(), ports_);
}

uint32_t Instance::mostPorts() const {
  uint32_t most = 0;
  for (const MscclcRankInfo &info : infos_)
    most = std::max(most, info.port_channels);
  return most;
}

const void *Instance::networkOf(uint32_t localIndex) const {
  return ports_ ? ports_->communicator(localIndex) : nullptr;
}

uint32_t Instance::unpairedTo(uint32_t localIndex) const {
  uint32_t ends = 0;
  for (uint32_t rank = 0; rank < kernel_.ranks; ++rank)
    for (const MscclcChannelInfo &channel : channelsOf(kernel_, rank, MSCCLC_PORT))
      if (sync_->at(localIndex, rank) == nullptr && channel.peer == communicator_.firstLocalRank() + localIndex &&
          channel.peer_channel >= infos_[channel.peer].port_channels)
        ++ends;
  return ends;
}

Status Instance::startSettling(MscclcSettleStep step, uint64_t sent, std::chrono::nanoseconds time) {
  for (uint32_t i = 0; i < communicator_.localRanks() && ports_; ++i) {
    const uint32_t self = communicator_.firstLocalRank() + i;
    MscclcRankArgs args{};
    args.rank = self;
    args.network = networkOf(i);
    args.status = local_[i].settling;
    args.timeout_ns = static_cast<uint64_t>(time.count());
    if (local_[i].channels != nullptr)
      args.port_channels = local_[i].channels + infos_[self].memory_channels;
    const MscclcSettling settling{step, mostPorts(), infos_[self].port_channels, unpairedTo(i), sent, settlings_};
    MSCCLC_TRY(communicator_.platform().use(communicator_.device(i)));
    if (const int32_t code = kernel_.network->settle(&args, &settling, communicator_.stream(i)); code != MSCCLC_OK)
      return kernelFailure(code, kernel_.name, self);
  }
  return {};
}

Status Instance::finishSettling() {
  for (uint32_t i = 0; i < communicator_.localRanks() && ports_; ++i)
    MSCCLC_TRY(communicator_.platform().synchronize(communicator_.device(i), communicator_.stream(i)));
  return {};
}

Status Instance::clearSignals() {
  MSCCLC_TRY(startSettling(MSCCLC_SETTLE_CLEAR, settlings_));
  return finishSettling();
}

void Instance::beginSettling() {
  for (const RankState &state : local_)
    if (state.settling != nullptr)
      *state.settling = {};
}

Status Instance::sendSettling(uint64_t round) {
  // Where a start fails some ends have sent and others have not: those shall be missed.
  const uint64_t sent = std::exchange(settlings_, round);
  return startSettling(MSCCLC_SETTLE_SEND, sent);
}

Status Instance::awaitSettling(std::chrono::steady_clock::time_point deadline) {
  const std::chrono::nanoseconds left = deadline - std::chrono::steady_clock::now();
  MSCCLC_TRY(startSettling(MSCCLC_SETTLE_AWAIT, settlings_, std::max(left, std::chrono::nanoseconds(1))));
  MSCCLC_TRY(finishSettling());
  return settlingResult();
}

Status Instance::settlingResult() const {
  for (const RankState &state : local_) {
    if (state.settling == nullptr || __atomic_load_n(&state.settling->abort, __ATOMIC_ACQUIRE) == 0)
      continue;
    if (Status lost = communicator_.health(); lost.code == MSCCLC_ERROR_PEER_LOST)
      return lost;
    if (state.settling->num_stalls == 0)
      return failure(MSCCLC_ERROR_ABORTED,
                     "kernel '%s': the reset was aborted while it waited for what is on its way over the network",
                     kernel_.name);
    const MscclcStall &stall = state.settling->stalls[0];
    const std::string late = format("kernel '%s': what ", kernel_.name);
    const char *const limit = "in half the time of a set-up";
    if (stall.kind == MSCCLC_WAIT_FLUSH)
      return failure(MSCCLC_ERROR_TIMEOUT,
                     "%srank %u has sent to rank %u over the network has not left it %s (port channel %llu of rank %u)",
                     late.c_str(), stall.rank, stall.peer, limit, static_cast<unsigned long long>(stall.index),
                     stall.rank);
    if (stall.peer == MSCCLC_UNPAIRED)
      return failure(MSCCLC_ERROR_TIMEOUT,
                     "%sother nodes have sent to rank %u over the network has not arrived %s (by port channels that it "
                     "has no end of)",
                     late.c_str(), stall.rank, limit);
    return failure(MSCCLC_ERROR_TIMEOUT,
                   "%srank %u has sent to rank %u over the network has not arrived %s (port channel %llu of rank %u)",
                   late.c_str(), stall.peer, stall.rank, limit, static_cast<unsigned long long>(stall.index),
                   stall.rank);
  }
  return {};
}

} // namespace mscclc::rt
