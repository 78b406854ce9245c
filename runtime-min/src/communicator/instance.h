// A kernel in a communicator: the counters, channel tables and scratch of its ranks, and how it is launched.
#pragma once

#include "communicator/communicator.h"
#include "communicator/launch_buffers.h"
#include "communicator/proxy.h"

#include <chrono>
#include <map>

namespace mscclc::rt {

class Instance {
public:
  /// Collective.
  static Status create(Communicator &communicator, const MscclcKernel &kernel, uint64_t maxMessageBytes,
                       std::unique_ptr<Instance> &result);
  ~Instance();
  /// Unmaps what belongs to other processes; they may free it when all have done so.
  void disconnect();

  Communicator &communicator() { return communicator_; }
  const MscclcKernel &kernel() const { return kernel_; }
  uint64_t scratchBytes() const { return scratch_->bytes(); } ///< of each rank

  /// Starts the local ranks. `input` and `output` are the call's buffers.
  Status launch(const MscclcCall &call, const Memory *input, const Memory *output);
  const GraphHold &graphs() const { return graphs_; }
  /// Waits for the launches so far, but for those that graphs replay.
  Status settle();
  /// Serves what the launches so far have asked the proxies for. No launch runs.
  Status drainProxies();
  /// Makes the proxies forget `region`. Nothing runs.
  void forget(const Memory *region);
  /// Settling signals that each end of a channel over the network has sent.
  uint64_t settlings() const { return settlings_; }
  /// Before a settling: forgets the stalls of the last one, and that it was given up.
  void beginSettling();
  /// Sends settling signals after all that the launches so far have sent over the network, so that there are `round`
  /// of them on each channel.
  Status sendSettling(uint64_t round);
  /// Waits until those of all ranks have arrived, and with them what was sent before, but not beyond `deadline`, nor
  /// after a node was lost or this process has aborted.
  Status awaitSettling(std::chrono::steady_clock::time_point deadline);
  /// Everything as it was made. Nothing runs, on any rank, and what was sent has arrived.
  Status reset();

private:
  Instance(Communicator &communicator, const MscclcKernel &kernel) : communicator_(communicator), kernel_(kernel) {}

  /// A local rank.
  struct RankState {
    MscclcChannel *channels = nullptr; ///< on the device: memory channels, then port channels
    MscclcStatus *status = nullptr;
    MscclcStatus *settling = nullptr; ///< of the ports' settling; null where it has none
    std::unique_ptr<Proxy> proxy;
    std::map<const Memory *, uint32_t> memories; ///< that the proxy knows, with its numbers
    std::vector<MscclcBuffers> buffers;          ///< of the launch under way, by rank
    std::vector<void *> multicast;               ///< and by switch channel
    Event event = nullptr;
    Stream lastStream = nullptr;
    bool captured = false; ///< the launch under way
    bool launched = false; ///< and not waited for since; the watch reads it too
  };

  Status examine();
  Status agree(const Status &examined, uint64_t maxMessageBytes);
  Status checkReach() const;
  /// Opens ports for the channels that lead out of the load/store team, if any rank has one. Collective.
  Status openPorts(const std::string &name);
  /// Port channels of the rank that has most: so many signals each rank's device communicator has.
  uint32_t mostPorts() const;
  /// MscclcNetworkBody::settle on all local ranks, for `time` (AWAIT), where there are ports.
  Status startSettling(MscclcSettleStep step, uint64_t sent, std::chrono::nanoseconds time = {});
  /// Waits for its steps so far.
  Status finishSettling();
  /// Sets the ports' signals to 0, and waits for it.
  Status clearSignals();
  /// What the waits of a settling have to say for it.
  Status settlingResult() const;
  /// Ends of other ranks that lead to a local rank over the network, and that it has no end for.
  uint32_t unpairedTo(uint32_t localIndex) const;
  const void *networkOf(uint32_t localIndex) const;
  Status prepareRank(uint32_t localIndex);
  Status addMemoryChannels(uint32_t localIndex, std::vector<MscclcChannel> &channels) const;
  /// Whether signals of a local rank to `peer` are stored as counts, as the link between them may lose additions.
  Status storesSignals(uint32_t localIndex, uint32_t peer, bool &stores) const;
  /// Adds the port channels, and for each what the proxy serves; nothing at all, if it serves none.
  Status addPortChannels(uint32_t localIndex, std::vector<MscclcChannel> &channels,
                         std::vector<ProxyChannel> &served) const;
  Status writeSemaphores(uint32_t localIndex);
  /// Writes down where the buffers of a launch lie, for all local ranks; `lowBits`: of all addresses, together.
  void address(const LaunchBuffers &place, uintptr_t &lowBits);
  /// The proxy's number for memory.
  uint32_t numberOf(const Memory *region, uint32_t localIndex);
  Status checkStreams(const MscclcCall &call) const;
  Status checkResidency(const MscclcVariant &variant, uint32_t threads);
  Status countResidents(const MscclcVariant &variant, uint32_t threads);
  /// Finds out which streams are captured; their graphs keep what the launch uses.
  Status keepInGraphs(const MscclcCall &call, const LaunchBuffers &place);
  Status countThreads(const MscclcVariant &variant, uint32_t &most);
  Status orderAfterOthers(const MscclcCall &call);
  /// Lets what comes into a local rank's stream wait for what `before` (or null) has launched on rank `other`.
  Status orderAfter(const Instance *before, uint32_t other, uint32_t localIndex, Stream stream);
  Status start(const MscclcVariant &variant, uint32_t threads, const MscclcCall &call, const MscclcRankArgs &common,
               const LaunchBuffers &place, uint32_t localIndex);
  Status markLaunched(const MscclcCall &call, uint32_t localIndex);
  /// Tells the threads that watch and serve launches, after that.
  void announce();
  /// Whether launches of a local rank may run: any that was not waited for, or those of a graph. From any thread.
  bool mayRun(uint32_t localIndex) const;
  void setLaunched(uint32_t localIndex, bool launched) {
    __atomic_store_n(&local_[localIndex].launched, launched, __ATOMIC_SEQ_CST);
  }
  /// The arguments of a local rank, of which `common` has those that are alike for all of a launch.
  MscclcRankArgs argsOf(const MscclcCall &call, uint32_t localIndex, const MscclcRankArgs &common,
                        const LaunchBuffers &place);
  Stream streamOf(const MscclcCall &call, uint32_t localIndex) const;

  Communicator &communicator_;
  const MscclcKernel &kernel_;
  std::vector<MscclcRankInfo> infos_; ///< by rank
  PrivateBuffers private_;
  uint64_t maxMessageBytes_ = 0;
  uint64_t scratchStride_ = 0;
  std::unique_ptr<Memory> sync_; ///< counters
  std::unique_ptr<Memory> scratch_;
  std::unique_ptr<Ports> ports_; ///< or null
  uint64_t settlings_ = 0;
  std::vector<RankState> local_;
  /// By variant: threads of a block with which all blocks fit, in all processes. Empty where there is but one.
  std::vector<uint32_t> mostThreads_;
  /// In a single process: by variant and threads, where that is known.
  std::map<std::pair<const MscclcVariant *, uint32_t>, Status> residency_;
  GraphHold graphs_;
};

} // namespace mscclc::rt
