// A kernel in a communicator: the counters, channel tables and scratch of its ranks, and its launches.
#pragma once

#include "communicator/communicator.h"
#include "communicator/launch_buffers.h"

#include <chrono>
#include <map>
#include <optional>

namespace mscclc::rt {

class Instance {
public:
  /// `maxRowBytes`: bytes of the longest row, 0 for a kernel without rows. Collective.
  static Status create(Communicator &communicator, const MscclcKernel &kernel, uint64_t maxMessageBytes,
                       uint64_t maxRowBytes, Instance *&result);
  ~Instance();
  /// Unmaps the memory of other processes. A process may free its memory after all processes have done this.
  void disconnect();

  Communicator &communicator() { return communicator_; }
  const MscclcKernel &kernel() const { return kernel_; }
  uint64_t scratchBytes() const { return scratch_->bytes(); } ///< bytes of scratch on each rank

  /// Starts the local ranks. `input` and `output` are the buffers of the call.
  Status launch(const MscclcCall &call, const Memory *input, const Memory *output);
  const GraphHold &graphs() const { return graphs_; }
  /// Waits for all launches so far, except for the replays of graphs.
  Status settle();
  /// Returns the ports of the instance, to ranks inside and outside the load/store team.
  const std::vector<std::unique_ptr<Ports>> &ports() const { return ports_; }
  /// Restores the initial state. Called when no launch runs on any rank, and all sent data has arrived.
  Status reset();

private:
  Instance(Communicator &communicator, const MscclcKernel &kernel) : communicator_(communicator), kernel_(kernel) {}

  /// A local rank.
  struct RankState {
    std::vector<MscclcMemoryChannel> memoryChannels;
    MscclcMemoryChannel *channelTable = nullptr; ///< device copy of `memoryChannels`; null without MSCCLC_CHANNEL_TABLE
    MscclcPortChannel *portChannels = nullptr;   ///< channel table on the device
    MscclcStatus *status = nullptr;
    std::vector<MscclcBuffers> buffers; ///< buffers of the launch in flight, by rank
    std::vector<void *> multicast;      ///< multicast addresses of the launch, by switch channel
    std::vector<void *> arrays;         ///< the hooks' arrays of the launch
    std::vector<void *> countTables;    ///< count table of each rank; none in a kernel without counts
    Event event = nullptr;
    Stream lastStream = nullptr;
    bool captured = false; ///< whether the current launch is captured
    bool launched = false; ///< true from a launch until a wait for it; the watch also reads this
  };

  Status examine(uint64_t maxRowBytes);
  Status agree(const Status &examined, uint64_t maxMessageBytes, uint64_t maxRowBytes);
  Status checkReach() const;
  /// Opens ports for channels that lead out of the load/store team, if any rank has such a channel. Collective.
  Status openPorts();
  Status prepareRank(uint32_t localIndex);
  Status addMemoryChannels(uint32_t localIndex, std::vector<MscclcMemoryChannel> &channels) const;
  /// Finds out whether a local rank signals to `peer` by storing counts, because the link may lose additions.
  Status storesSignals(uint32_t localIndex, uint32_t peer, bool &stores) const;
  /// Adds a local rank's port channels to `channels`, and their ends to `ends`.
  void addPortChannels(uint32_t localIndex, std::vector<MscclcPortChannel> &channels, std::vector<PortEnd> &ends) const;
  /// Copies a table to the device of a local rank, and sets `onDevice`. Does nothing if the table is empty.
  template <class Row> Status upload(uint32_t localIndex, const std::vector<Row> &table, Row *&onDevice) const;
  Status writeSemaphores(uint32_t localIndex);
  /// Writes the addresses of a launch's buffers, for all local ranks. Adds the bits of all addresses to `lowBits`.
  void address(const LaunchBuffers &place, uintptr_t &lowBits);
  Status checkStreams(const MscclcCall &call) const;
  /// Checks that the sending and the receiving launches of a split kernel alternate.
  Status checkPart(const MscclcCall &call) const;
  /// Checks the row length and the hooks' arrays of a call, and stores the arrays' addresses, for all local ranks.
  Status takeHookArguments(const MscclcCall &call);
  /// Checks the counts of a call, for all local ranks.
  Status checkCounts(const MscclcCall &call) const;
  /// Checks the indices of experts of a call, for all local ranks.
  Status checkIndex(const MscclcCall &call) const;
  Status checkResidency(const MscclcVariant &variant, uint32_t threads);
  Status countResidents(const MscclcVariant &variant, uint32_t threads);
  /// Finds out which streams are captured. Makes their graphs keep the objects that the launch uses.
  Status keepInGraphs(const MscclcCall &call, const LaunchBuffers &place);
  Status countThreads(const MscclcVariant &variant, uint32_t &most);
  Status orderAfterOthers(const MscclcCall &call);
  /// Makes later work in `stream` of a local rank wait for the last launch of `before` on local rank `other`. Does
  /// nothing if `before` is null.
  Status orderAfter(const Instance *before, uint32_t other, uint32_t localIndex, Stream stream);
  Status start(const MscclcVariant &variant, uint32_t threads, const MscclcCall &call, const MscclcRankArgs &common,
               const LaunchBuffers &place, uint32_t localIndex);
  Status markLaunched(const MscclcCall &call, uint32_t localIndex);
  void wakePorts();
  /// True if a launch of the local rank may still run: nobody has waited for it, or a graph holds it. May be called
  /// from any thread.
  bool mayRun(uint32_t localIndex) const;
  void setLaunched(uint32_t localIndex, bool launched) {
    __atomic_store_n(&local_[localIndex].launched, launched, __ATOMIC_SEQ_CST);
  }
  /// Returns the arguments of a local rank. `common` has the arguments that are the same for all ranks.
  MscclcRankArgs argsOf(const MscclcCall &call, uint32_t localIndex, const MscclcRankArgs &common,
                        const LaunchBuffers &place);
  Stream streamOf(const MscclcCall &call, uint32_t localIndex) const;

  Communicator &communicator_;
  const MscclcKernel &kernel_;
  std::vector<MscclcRankInfo> infos_; ///< by rank
  PrivateBuffers private_;
  uint64_t maxMessageBytes_ = 0;
  uint64_t maxRowBytes_ = 0; ///< 0: no rows
  uint64_t scratchStride_ = 0;
  std::optional<uint64_t> sentBytes_; ///< message size of the last MSCCLC_SEND, until its MSCCLC_RECEIVE; else nothing
  std::unique_ptr<Memory> sync_;      ///< the counters, followed by the table of counts
  uint64_t countsAt_ = 0;             ///< byte of `sync_` at which the table of counts begins
  std::unique_ptr<Memory> scratch_;
  std::vector<std::unique_ptr<Ports>> ports_;
  std::vector<RankState> local_;
  /// By variant: the most threads of a block with which all blocks are resident, in all processes.
  std::vector<uint32_t> mostThreads_;
  GraphHold graphs_;
};

} // namespace mscclc::rt
