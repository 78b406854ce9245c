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

  /// Allocates memory and fills it with zeros. `multicast`: with a multicast mapping if possible. Collective, as is
  /// adopt.
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
  /// Returns the window by which ports of a local rank refer to it; null if the engine has none.
  virtual Window window(uint32_t) const { return {}; }
  /// Releases the parts of other ranks. They may free theirs after all ranks have done so.
  virtual void disconnect() = 0;
  const GraphHold &graphs() const { return graphs_; }

protected:
  virtual void *address(uint32_t localIndex, uint32_t rank) const = 0;

private:
  const uint64_t bytes_;
  GraphHold graphs_;
};

/// An end of a port channel of a local rank. Addresses are the process's.
struct PortEnd {
  uint32_t peer = 0;
  bool isNear = false;             ///< the peer is of the load/store team
  uint64_t *peerInbound = nullptr; ///< null: the peer is not near, or has no end of the channel
  uint64_t *flushesDone = nullptr;
};

/// The port channels of a local rank.
struct PortRank {
  Stream stream = nullptr;                     ///< the communicator's
  Event done = nullptr;                        ///< is recorded after each launch outside of graphs
  const MscclcPortChannel *channels = nullptr; ///< on the device
  std::vector<PortEnd> ends;                   ///< one for each channel
};

/// Port channels of an instance: those of a local rank that lead to ranks of the load/store team, or those of all local
/// ranks that lead to others. All hear of all local ranks.
class Ports {
public:
  virtual ~Ports() = default;
  /// The channels of a local rank are there. They outlive the ports, as does the event.
  virtual Status add(uint32_t, const PortRank &) { return {}; }
  /// Fills in where a launch's kernel finds the ports. `memories`: by MscclcFifo::places.
  virtual void fill(uint32_t localIndex, const Memory *const (&memories)[4], MscclcRankArgs &args) = 0;
  /// Launches are about to begin, or have begun.
  virtual void wake() {}
  /// A launch of a local rank is on its way, and its event is recorded.
  virtual void launched(uint32_t) {}
  /// The launches of a local rank are over.
  virtual void settled(uint32_t) {}
  /// Serves what the launches so far have asked for, and waits until it has arrived. No launch runs.
  virtual Status drain() { return {}; }
  /// Nothing that runs or is captured uses `memory` any more.
  virtual void forget(const Memory *) {}
  /// Makes everything as new. Nothing runs, on any rank, and what was sent has arrived.
  virtual Status reset() = 0;

  // Settling: between launches, all data in flight arrives. All instances take a step before any takes the next one.
  /// Forgets that an earlier settling was given up.
  virtual void beginSettling() {}
  /// Sends the peers a message after which nothing more comes. Collective.
  virtual Status sendSettling() { return {}; }
  /// Waits for these messages of the peers, until `deadline` or Engine::giveUp.
  virtual Status awaitSettling(std::chrono::steady_clock::time_point) { return {}; }
};

/// The part of a communicator that is in this process.
struct Site {
  uint32_t ranks = 0;               ///< number of ranks of all processes
  RankRange mine;                   ///< the ranks of this process
  std::vector<int32_t> rankDevices; ///< the device of each rank of this process
  std::vector<int32_t> devices;     ///< each once, ascending
};

/// An engine. `what` is the name of a collective call: processes that make different calls fail with these names.
class Engine {
public:
  virtual ~Engine() = default;

  /// Sets the local ranks and their devices in the options, if the base of the engine determines them.
  virtual void place(MscclcCommunicatorOptions &) const {}
  /// `options` lacks the data that only the engine has. Platform and site outlive the engine. Collective.
  virtual Status meet(Platform &platform, const Site &site, MeetingOptions options) = 0;
  /// The processes of the communicator.
  Meeting &meeting() const { return *meeting_; }
  /// When this returns, they receive no further messages.
  void endMeeting() { meeting_.reset(); }
  /// The load/store team: kernels of the local ranks may load and store the memory of these ranks.
  virtual RankRange team() const = 0;
  bool isNear(uint32_t rank) const { return rank - team().first < team().count; }
  /// True if the memory of this process stays valid for other processes after its program has left the communicator.
  /// False if the engine depends on objects of the program, which may end then.
  virtual bool outlasts() const = 0;

  /// Returns memory of `bytes` bytes on every rank, which is not allocated yet.
  virtual std::unique_ptr<Memory> memory(uint64_t bytes) = 0;

  /// Opens ports for the channels of a kernel that lead out of the load/store team. `wanted`: whether this process
  /// needs them. If no process does, `ports` stays null. Collective.
  virtual Status openPorts(const MscclcKernel & /*kernel*/, bool /*wanted*/, std::unique_ptr<Ports> & /*ports*/) {
    return {};
  }
  /// Makes the waits of ports give up, until their next settling. From any thread.
  virtual void giveUp() {}

  /// Returns a failure that nobody has reported. Called repeatedly, from the watching thread.
  virtual Status health() { return {}; }
  /// Announces that the base of the engine ends before it. When this returns, nobody asks for its health any more, and
  /// memory and ports are released without calls of it. From any thread.
  virtual void detach() {}

protected:
  std::unique_ptr<Meeting> meeting_;
};

/// Makes the engine of one machine, whose processes share memory by the means of the platform.
std::unique_ptr<Engine> createLocalEngine();
/// The engine on NCCL sets it (../nccl-engine), if it is part of the library. It makes an engine of the NCCL
/// communicators in the options.
extern Status (*createNcclEngine)(const MscclcCommunicatorOptions &options, std::unique_ptr<Engine> &engine);

} // namespace mscclc::rt
