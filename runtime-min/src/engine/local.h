// The local engine: one process or several of one machine, which share memory by the platform's own means.
#pragma once

#include "bootstrap/rendezvous.h"
#include "engine/local_memory.h"
#include "engine/table.h"

namespace mscclc::rt {

class LocalEngine : public EngineTable<LocalEngine, LocalMemory> {
public:
  struct Setup {
    Platform &platform;
    std::vector<int32_t> devices; ///< of each local rank
    Rendezvous::Options meeting;
    /// Called from a thread of the engine's: a process was lost, or aborted the communicator.
    std::function<void(const Status &)> failed;
  };
  /// Collective.
  static Status create(Setup setup, MscclcEngine *&engine);

  MscclcShape shape() const;
  Status exchange(const std::string &what, Bytes mine, std::vector<Bytes> &all);
  Status allocate(const std::string &what, uint64_t bytes, bool multicast, std::unique_ptr<LocalMemory> &memory);
  Status adopt(const std::string &what, void *const *pointers, uint64_t bytes, std::unique_ptr<LocalMemory> &memory);
  Status health() const { return {}; } // the rendezvous calls by itself
  void abort(const Status &reason) { rendezvous_->abort(reason); }
  void leave() { rendezvous_->leave(); }
  MscclcOthers others() const { return static_cast<MscclcOthers>(rendezvous_->others()); }
  void detach() {}

  Platform &platform() { return setup_.platform; }
  Rendezvous &rendezvous() { return *rendezvous_; }
  uint32_t ranks() const { return setup_.meeting.ranks; }
  uint32_t firstLocalRank() const { return setup_.meeting.firstRank; }
  uint32_t localRanks() const { return setup_.meeting.localRanks; }
  bool isLocal(uint32_t rank) const { return rank - firstLocalRank() < localRanks(); }
  size_t processes() const { return rendezvous_->processes().size(); }
  int32_t device(uint32_t localIndex) const { return setup_.devices[localIndex]; }
  /// The process's devices, each once, ascending.
  const std::vector<int32_t> &devices() const { return distinctDevices_; }

private:
  explicit LocalEngine(Setup setup);

  Setup setup_;
  std::vector<int32_t> distinctDevices_;
  std::unique_ptr<Rendezvous> rendezvous_;
};

} // namespace mscclc::rt
