// What is under a communicator: memory that the ranks share, ways to other nodes, and how the processes stay in touch.
// `local` (one machine, on the runtime's own means) and `nccl` (an NCCL communicator that the program has) are engines.
#pragma once

#include "bootstrap/rendezvous.h"
#include "engine/graph_hold.h"
#include "mscclc/runtime_abi.h"
#include "platform/platform.h"

namespace mscclc::rt {

/// How ports name a memory: MscclcPlace says what is what.
struct Window {
  void *handle = nullptr;
  const uint64_t *begins = nullptr;
};

/// Memory of one size on every rank. Its destructor frees what the engine has allocated.
class Memory {
public:
  explicit Memory(uint64_t bytes) : bytes_(bytes) {}
  virtual ~Memory() = default;
  Memory(const Memory &) = delete;

  /// Takes zeroed memory; `multicast`: with a multicast mapping if it can be had. Collective, as is adopt.
  virtual Status allocate(const std::string &what, bool multicast) = 0;
  /// Takes the caller's memory, a pointer for each local rank.
  virtual Status adopt(const std::string &what, void *const *pointers) = 0;
  uint64_t bytes() const { return bytes_; }
  /// The part of `rank` as the device of a local rank addresses it; null where it cannot.
  char *at(uint32_t localIndex, uint32_t rank) const {
    return bytes_ == 0 ? nullptr : static_cast<char *>(address(localIndex, rank));
  }
  /// The multicast mapping over all ranks, as the device of a local rank addresses it; or null.
  virtual void *multicast(uint32_t localIndex) const = 0;
  /// As ports of a local rank name it; null where the engine has none.
  virtual Window window(uint32_t) const { return {}; }
  /// Lets go of the other ranks' parts. They may free theirs when all have done so.
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
  Stream stream = nullptr;                 ///< the communicator's
  Event done = nullptr;                    ///< is recorded after each launch outside of graphs
  const MscclcChannel *channels = nullptr; ///< on the device
  std::vector<PortEnd> ends;               ///< one for each channel
};

/// Port channels of an instance: those of a local rank that lead to ranks of the load/store team, or those of all local
/// ranks that lead to others. All hear of all local ranks.
class Ports {
public:
  virtual ~Ports() = default;
  /// The channels of a local rank are there. They outlive the ports, as does the event.
  virtual Status add(uint32_t, const PortRank &) { return {}; }
  /// Fills in where a launch's kernel finds the ports. `memories` are its buffers, by MscclcBufferKind.
  virtual void fill(uint32_t localIndex, const Memory *const (&memories)[3], MscclcRankArgs &args) = 0;
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

  // What is on its way arrives in these steps, between launches; each is taken by all instances before the next.
  /// Forgets that an earlier one was given up.
  virtual void beginSettling() {}
  /// Says to the peers that nothing more comes. Collective.
  virtual Status sendSettling() { return {}; }
  /// Waits for that of the peers, until `deadline` or Engine::giveUp.
  virtual Status awaitSettling(std::chrono::steady_clock::time_point) { return {}; }
};

/// What is here of a communicator.
struct Site {
  uint32_t ranks = 0;               ///< of all processes
  RankRange mine;                   ///< of this one
  std::vector<int32_t> rankDevices; ///< of each of these
  std::vector<int32_t> devices;     ///< each once, ascending
};

/// `what` names a collective call: processes that come to different calls fail by these names.
class Engine {
public:
  virtual ~Engine() = default;

  /// Says which ranks are here, on which devices, where what is under the engine knows.
  virtual void place(MscclcCommunicatorOptions &) const {}
  /// `options` lacks what the engine alone knows. Platform and site outlive the engine. Collective.
  virtual Status meet(Platform &platform, const Site &site, Rendezvous::Options options) = 0;
  /// The processes of the communicator.
  Rendezvous &meeting() const { return *meeting_; }
  /// Nobody hears of them any more when this returns.
  void endMeeting() { meeting_.reset(); }
  /// The load/store team: kernels of the local ranks may load and store the memory of these ranks.
  virtual RankRange team() const = 0;
  bool isNear(uint32_t rank) const { return rank - team().first < team().count; }
  /// Whether other processes may use the memory of this one when its program has no part in the communicator any more,
  /// and does not wait for them. Else what lies under the engine is the program's, and may end then.
  virtual bool outlasts() const = 0;

  /// Memory of `bytes` on every rank, that is yet to be taken.
  virtual std::unique_ptr<Memory> memory(uint64_t bytes) = 0;

  /// Opens ports for channels of a kernel to ranks outside the load/store team, where any process wants them (the
  /// second argument: this one); else the last one stays null. Collective.
  virtual Status openPorts(const MscclcKernel &, bool, std::unique_ptr<Ports> &) { return {}; }
  /// Makes the waits of ports give up, until their next settling. From any thread.
  virtual void giveUp() {}

  /// A failure that nobody told of. Asked again and again, from the thread that watches.
  virtual Status health() { return {}; }
  /// What lies under the engine ends before it: when this returns, nobody asks for its health any more, and memory and
  /// ports are let go of without a call of it. From any thread.
  virtual void detach() {}

protected:
  std::unique_ptr<Rendezvous> meeting_;
};

/// The engine of one machine, whose processes share memory as the platform can.
std::unique_ptr<Engine> createLocalEngine();
/// The engine on NCCL sets it (../nccl-engine), where it is part of the library. It makes an engine of the options'
/// NCCL communicators.
extern Status (*createNcclEngine)(const MscclcCommunicatorOptions &options, std::unique_ptr<Engine> &engine);

} // namespace mscclc::rt
