// The engine on NCCL communicators of the program's. Memory is in symmetric windows; the ranks whose memory kernels
// load and store are those of NCCL's LSA team. The processes hear of each other's failures as those of the local engine
// do: they meet by one ncclAllGather.
#pragma once

#include "bootstrap/rendezvous.h"
#include "engine/nccl_library.h"
#include "engine/nccl_memory.h"
#include "engine/table.h"
#include "platform/platform.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace mscclc::rt {

/// What NCCL knows of the local ranks' communicators.
struct NcclRanks {
  NcclLibrary library;
  std::vector<NcclComm> comms;
  std::vector<int32_t> devices;
  uint32_t ranks = 0;
  uint32_t first = 0;
  uint32_t teamFirst = 0;
  uint32_t teamRanks = 0;

  /// Fails where the communicators are not consecutive ranks of one and the same.
  static Status read(void *library, void *const *comms, uint32_t count, NcclRanks &result);

  /// `call(i)`, which is NCCL's function `what`, for the i-th local rank on its device: those of all in one group, for
  /// whose end this waits.
  Status inGroup(Platform &platform, const char *what, const std::function<int(size_t)> &call) const;
};

class NcclEngine : public EngineTable<NcclEngine, NcclMemory> {
public:
  struct Setup {
    Platform &platform;
    NcclRanks nccl;
    std::chrono::milliseconds timeout;
    /// Called from a thread of the engine's: a process was lost, or aborted the communicator.
    std::function<void(const Status &)> failed;
  };
  /// Collective.
  static Status create(Setup setup, MscclcEngine *&engine);

  MscclcShape shape() const;
  Status exchange(const std::string &what, Bytes mine, std::vector<Bytes> &all);
  Status allocate(const std::string &what, uint64_t bytes, bool multicast, std::unique_ptr<NcclMemory> &memory);
  Status adopt(const std::string &what, void *const *pointers, uint64_t bytes, std::unique_ptr<NcclMemory> &memory);
  Status health() const;
  void abort(const Status &reason) { rendezvous_->abort(reason); }
  void leave() {
    rendezvous_->leave();
    rendezvous_->awaitLeave();
  }
  MscclcOthers others() const { return static_cast<MscclcOthers>(rendezvous_->others()); }
  void detach();
  /// Whether the communicators are still there.
  bool isAttached() const { return attached_; }

  Platform &platform() { return setup_.platform; }
  const NcclRanks &nccl() const { return setup_.nccl; }
  uint32_t localRanks() const { return static_cast<uint32_t>(setup_.nccl.comms.size()); }

private:
  explicit NcclEngine(Setup setup);
  Status meet();

  Setup setup_;
  std::unique_ptr<Rendezvous> rendezvous_;
  mutable std::mutex asking_; ///< for the communicators' health
  std::atomic<bool> attached_{true};
};

} // namespace mscclc::rt
