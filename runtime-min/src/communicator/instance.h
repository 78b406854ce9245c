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
  /// Unmaps the memory of other processes. They may free it after all processes have done so.
  void disconnect();

  Communicator &communicator() { return communicator_; }
  const MscclcKernel &kernel() const { return kernel_; }
  uint64_t scratchBytes() const { return scratch_->bytes(); } ///< scratch of each rank

  /// Starts the local ranks. `input` and `output` are the buffers of the call.
  Status launch(const MscclcCall &call, const Memory *input, const Memory *output);
  const GraphHold &graphs() const { return graphs_; }
  /// Waits for all launches so far, except for those that graphs replay.
  Status settle();
  /// Those that its channels go through: to ranks of the load/store team, and to others.
  const std::vector<std::unique_ptr<Ports>> &ports() const { return ports_; }
  /// Everything as it was made. Nothing runs, on any rank, and what was sent has arrived.
  Status reset();

private:
  Instance(Communicator &communicator, const MscclcKernel &kernel) : communicator_(communicator), kernel_(kernel) {}

  /// A local rank.
  struct RankState {
    std::vector<MscclcMemoryChannel> memoryChannels;
    MscclcMemoryChannel *channelTable = nullptr; ///< the same on the device, with MSCCLC_CHANNEL_TABLE
    MscclcPortChannel *portChannels = nullptr;   ///< on the device
    MscclcStatus *status = nullptr;
    std::vector<MscclcBuffers> buffers; ///< the buffers of the launch in flight, by rank
    std::vector<void *> multicast;      ///< and by switch channel
    std::vector<void *> arrays;         ///< and of hooks
    std::vector<void *> countTables;    ///< one for each rank; none in a kernel without counts
    Event event = nullptr;
    Stream lastStream = nullptr;
    bool captured = false; ///< whether the current launch is captured
    bool launched = false; ///< launched and not waited for since; the watch reads it, too
  };

  Status examine(uint64_t maxRowBytes);
  Status agree(const Status &examined, uint64_t maxMessageBytes, uint64_t maxRowBytes);
  Status checkReach() const;
  /// Opens ports for channels that lead out of the load/store team, if any rank has one. Collective.
  Status openPorts();
  Status prepareRank(uint32_t localIndex);
  Status addMemoryChannels(uint32_t localIndex, std::vector<MscclcMemoryChannel> &channels) const;
  /// Finds out whether signals of a local rank to `peer` are stored as counts, because the link may lose additions.
  Status storesSignals(uint32_t localIndex, uint32_t peer, bool &stores) const;
  /// Adds the port channels, and their ends.
  void addPortChannels(uint32_t localIndex, std::vector<MscclcPortChannel> &channels, std::vector<PortEnd> &ends) const;
  /// Copies a table to memory of a local rank's device. Null if it is empty.
  template <class Row> Status upload(uint32_t localIndex, const std::vector<Row> &table, Row *&onDevice) const;
  Status writeSemaphores(uint32_t localIndex);
  /// Writes the addresses of a launch's buffers, for all local ranks. `lowBits`: a bitwise or of all addresses.
  void address(const LaunchBuffers &place, uintptr_t &lowBits);
  Status checkStreams(const MscclcCall &call) const;
  /// Checks that the kernels of a split launch take turns.
  Status checkPart(const MscclcCall &call) const;
  /// Checks the rows and arrays of a call, and takes the arrays, for all local ranks.
  Status takeHookArguments(const MscclcCall &call);
  /// Checks the counts of a call, for all local ranks.
  Status checkCounts(const MscclcCall &call) const;
  /// Checks the indices of experts of a call, for all local ranks.
  Status checkIndex(const MscclcCall &call) const;
  Status checkResidency(const MscclcVariant &variant, uint32_t threads);
  Status countResidents(const MscclcVariant &variant, uint32_t threads);
  /// Finds out which streams are captured. Their graphs keep the objects that the launch uses.
  Status keepInGraphs(const MscclcCall &call, const LaunchBuffers &place);
  Status countThreads(const MscclcVariant &variant, uint32_t &most);
  Status orderAfterOthers(const MscclcCall &call);
  /// Makes later work in the stream of a local rank wait for the last launch of `before` (or null) on rank `other`.
  Status orderAfter(const Instance *before, uint32_t other, uint32_t localIndex, Stream stream);
  Status start(const MscclcVariant &variant, uint32_t threads, const MscclcCall &call, const MscclcRankArgs &common,
               const LaunchBuffers &place, uint32_t localIndex);
  Status markLaunched(const MscclcCall &call, uint32_t localIndex);
  void wakePorts();
  /// True if a launch of the local rank may still run: one that nobody has waited for, or one of a graph. May be called
  /// from any thread.
  bool mayRun(uint32_t localIndex) const;
  void setLaunched(uint32_t localIndex, bool launched) {
    __atomic_store_n(&local_[localIndex].launched, launched, __ATOMIC_SEQ_CST);
  }
  /// Returns the arguments of a local rank. `common` has those that are the same for all ranks.
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
  std::unique_ptr<Memory> sync_;      ///< counters, and behind them the table of counts
  uint64_t countsAt_ = 0;             ///< byte of `sync_` at which the table begins
  std::unique_ptr<Memory> scratch_;
  std::vector<std::unique_ptr<Ports>> ports_;
  std::vector<RankState> local_;
  static constexpr uint32_t unknownThreads = UINT32_MAX;
  /// By variant: threads of a block with which all blocks fit, in all processes; in a single one asked for when wanted.
  std::vector<uint32_t> mostThreads_;
  GraphHold graphs_;
};

} // namespace mscclc::rt
