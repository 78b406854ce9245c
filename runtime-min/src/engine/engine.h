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

/// A way of the local ranks' kernels to the memory of ranks outside the load/store team.
class Ports {
public:
  virtual ~Ports() = default;
  /// The device communicator of a local rank, as the kernel's body made it.
  virtual const void *communicator(uint32_t localIndex) const = 0;
};

/// `what` names a collective call: processes that come to different calls fail by these names.
class Engine {
public:
  virtual ~Engine() = default;

  /// Says which ranks are here, on which devices, where what is under the engine knows.
  virtual void place(MscclcCommunicatorOptions &) const {}
  /// `devices`: of each local rank. `options` lacks what the engine alone knows. Collective.
  virtual Status meet(Platform &platform, const std::vector<int32_t> &devices, Rendezvous::Options options) = 0;
  /// The processes of the communicator.
  Rendezvous &meeting() const { return *meeting_; }
  /// The load/store team: kernels of the local ranks may load and store the memory of these ranks.
  virtual RankRange team() const = 0;
  /// Whether other processes may use the memory of this one when its program has no part in the communicator any more,
  /// and does not wait for them. Else what lies under the engine is the program's, and may end then.
  virtual bool outlasts() const = 0;

  /// Memory of `bytes` on every rank, that is yet to be taken.
  virtual std::unique_ptr<Memory> memory(uint64_t bytes) = 0;

  /// An engine whose load/store team may be smaller than the communicator has ports.
  virtual bool hasPorts() const { return false; }
  /// Ports for a kernel with `body`, which is null where it has none, with `signals` signals on each rank. `what` is
  /// the kernel. Collective.
  virtual Status openPorts(const std::string &, const MscclcNetworkBody *, uint32_t, std::unique_ptr<Ports> &) {
    return failure(MSCCLC_ERROR_UNSUPPORTED, "there are no ports to other nodes");
  }

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
