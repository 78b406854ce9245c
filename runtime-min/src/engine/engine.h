// The base of a communicator: memory that the ranks share, paths to other nodes, and the connection between processes.
// The engines are `local` (one machine, with the runtime's own means) and `nccl` (an NCCL communicator of the program).
#pragma once

#include "engine/graph_hold.h"
#include "mscclc/runtime_abi.h"
#include "platform/platform.h"
#include "process/meeting.h"

namespace mscclc::rt {

/// The names by which ports refer to a memory: see MscclcPlace.
struct Window {
  void *handle = nullptr;
  const uint64_t *begins = nullptr;
};

/// Memory of the same size on every rank. Its destructor frees memory that the engine has allocated.
class Memory {
public:
  explicit Memory(uint64_t bytes) : bytes_(bytes) {}
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;

  /// Allocates memory and fills it with zeros. With `multicast`, the memory gets a multicast mapping if possible.
  /// Collective, and so is adopt.
  virtual Status allocate(const std::string &what, bool multicast) = 0;
  /// Uses the caller's memory: one pointer for each local rank.
  virtual Status adopt(const std::string &what, void *const *pointers) = 0;
  uint64_t bytes() const { return bytes_; }
  /// Returns the part of `rank` as an address on the device of a local rank; null if it is not reachable.
  char *at(uint32_t localIndex, uint32_t rank) const {
    return bytes_ == 0 ? nullptr : static_cast<char *>(address(localIndex, rank));
  }
  /// Returns the multicast mapping over all ranks, as an address on the device of a local rank; or null.
  virtual void *multicast(uint32_t localIndex) const = 0;
  /// Returns the window by which a local rank's ports refer to this memory. Its handle is null if the engine has no
  /// windows.
  virtual Window window(uint32_t) const { return {}; }
  /// Releases the parts of other ranks. A rank may free its part after all ranks have done this.
  virtual void disconnect() = 0;
  const GraphHold &graphs() const { return graphs_; }

protected:
  virtual void *address(uint32_t localIndex, uint32_t rank) const = 0;

private:
  const uint64_t bytes_;
  GraphHold graphs_;
};

/// An end of a port channel of a local rank. Its pointers are addresses in this process.
struct PortEnd {
  uint32_t peer = 0;
  bool isNear = false;             ///< the peer is in the load/store team
  uint64_t *peerInbound = nullptr; ///< null: the peer is not in the load/store team, or has no end of the channel
  uint64_t *flushesDone = nullptr;
};

/// The port channels of a local rank.
struct PortRank {
  Stream stream = nullptr;                     ///< the communicator's
  Event done = nullptr;                        ///< recorded after each launch outside graphs
  const MscclcPortChannel *channels = nullptr; ///< channel table on the device
  std::vector<PortEnd> ends;                   ///< one for each channel
};

/// Ports of an instance. One object serves the channels of a local rank to the load/store team, or the channels of all
/// local ranks to other ranks. Each object is notified of the launches of all local ranks.
class Ports {
public:
  virtual ~Ports() = default;
  /// Adds the channels of a local rank. The channels and their event outlive the ports.
  virtual Status add(uint32_t, const PortRank &) { return {}; }
  /// Writes to `args` where a launch's kernel finds the ports. `memories`: in the order of MscclcFifo::places.
  virtual void fill(uint32_t localIndex, const Memory *const (&memories)[4], MscclcRankArgs &args) = 0;
  /// Called when launches are about to begin, and when they have begun.
  virtual void wake() {}
  /// Called when a launch of a local rank is in its stream, and its event is recorded.
  virtual void launched(uint32_t) {}
  /// Called when the launches of a local rank are over.
  virtual void settled(uint32_t) {}
  /// Serves all requests of the launches so far, and waits until their data has arrived. Called when no launch runs.
  virtual Status drain() { return {}; }
  /// Called when no launch, running or captured, uses `memory` any more.
  virtual void forget(const Memory *) {}
  /// Restores the initial state. Called when nothing runs on any rank, and all sent data has arrived.
  virtual Status reset() = 0;

  // The next three functions are the steps of a settling: between launches, all data in flight arrives. Every step is
  // done for all instances before the next step begins.
  /// Begins a settling. Forgets that an earlier settling was given up.
  virtual void beginSettling() {}
  /// Sends each peer a message behind all data that is in flight to it. Collective.
  virtual Status sendSettling() { return {}; }
  /// Waits until the peers' messages of sendSettling have arrived. Gives up at `deadline`, and at Engine::giveUp.
  virtual Status awaitSettling(std::chrono::steady_clock::time_point) { return {}; }
};

/// The part of a communicator that is in this process.
struct Site {
  uint32_t ranks = 0;               ///< number of ranks of all processes
  RankRange mine;                   ///< the ranks of this process
  std::vector<int32_t> rankDevices; ///< the device of each rank of this process
  std::vector<int32_t> devices;     ///< the devices of this process, each once, ascending
};

/// An engine. `what` is the name of a collective call. If processes make different calls, all fail, and the errors name
/// the calls.
class Engine {
public:
  virtual ~Engine() = default;

  /// Sets the local ranks and their devices in the options, if the engine's NCCL communicators determine them.
  virtual void place(MscclcCommunicatorOptions &) const {}
  /// Connects the processes. The engine completes `options` with its own data. `platform` and `site` outlive the
  /// engine. Collective.
  virtual Status meet(Platform &platform, const Site &site, MeetingOptions options) = 0;
  /// The processes of the communicator.
  Meeting &meeting() const { return *meeting_; }
  /// Ends the meeting. When this returns, no further message is handled.
  void endMeeting() { meeting_.reset(); }
  /// Returns the load/store team. Kernels of the local ranks may load and store the memory of these ranks.
  virtual RankRange team() const = 0;
  bool isNear(uint32_t rank) const { return rank - team().first < team().count; }
  /// True if the memory of this process stays valid for other processes after its program has left the communicator.
  /// False if the engine depends on objects of the program, which may end then.
  virtual bool outlasts() const = 0;

  /// Returns an object for memory of `bytes` bytes on every rank. The memory is not allocated yet.
  virtual std::unique_ptr<Memory> memory(uint64_t bytes) = 0;

  /// Opens ports for the channels of a kernel that lead out of the load/store team. `wanted`: whether this process
  /// needs them. If no process does, `ports` stays null. Collective.
  virtual Status openPorts(const MscclcKernel & /*kernel*/, bool /*wanted*/, std::unique_ptr<Ports> & /*ports*/) {
    return {};
  }
  /// Makes the waits of ports give up, until their next settling. May be called from any thread.
  virtual void giveUp() {}

  /// Returns a failure of the engine itself, if there is one. The watching thread calls this repeatedly.
  virtual Status health() { return {}; }
  /// Announces that the engine's NCCL communicators end before it. When this returns, nobody asks for their health any
  /// more, and memory and ports are released without using them. May be called from any thread.
  virtual void detach() {}

protected:
  std::unique_ptr<Meeting> meeting_;
};

/// Makes the engine of one machine, whose processes share memory by the means of the platform.
std::unique_ptr<Engine> createLocalEngine();
/// Makes an engine of the NCCL communicators in the options. The function is set by ../nccl-engine; null if that is not
/// part of the library.
extern Status (*createNcclEngine)(const MscclcCommunicatorOptions &options, std::unique_ptr<Engine> &engine);

} // namespace mscclc::rt
