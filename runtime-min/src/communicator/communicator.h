// A communicator: its ranks, the local ranks with their devices, and its state of health.
#pragma once

#include "communicator/watch.h"
#include "engine/engine.h"

namespace mscclc::rt {

class Instance;

class Communicator {
public:
  /// Collective.
  static Status create(const MscclcCommunicatorOptions &options, std::unique_ptr<Communicator> &result);
  ~Communicator();

  Platform &platform() { return *platform_; }
  Engine &engine() const { return *engine_; }
  Meeting &meeting() const { return engine_->meeting(); }
  Watch &watch() { return *watch_; }

  uint32_t ranks() const { return site_.ranks; }
  uint32_t firstLocalRank() const { return site_.mine.first; }
  uint32_t localRanks() const { return site_.mine.count; }
  bool isLocal(uint32_t rank) const { return rank - firstLocalRank() < localRanks(); }
  size_t processes() const { return meeting().processes().size(); }
  /// Device of a local rank.
  int32_t device(uint32_t localIndex) const { return site_.rankDevices[localIndex]; }
  const DeviceId &deviceId(uint32_t rank) const { return deviceIds_[rank]; }
  /// True if another rank, in any process, uses the same device as `rank`.
  bool sharesDevice(uint32_t rank) const;
  /// True if kernels on the device of a local rank can access the memory of `rank`.
  bool reaches(uint32_t localIndex, uint32_t rank) const;
  /// True if there are several ranks, each on its own device, and all these devices can take part in multicast objects.
  bool hasMulticast() const { return hasMulticast_; }
  Stream stream(uint32_t localIndex) const { return streams_[localIndex]; }
  /// True if launches of different instances follow each other.
  bool chains() const { return chains_; }
  uint64_t waitTimeoutNs() const { return waitTimeoutNs_; }
  /// Milliseconds after which a wait is reported, and continues; 0: waits are not reported.
  uint32_t reportMs() const { return reportMs_; }
  uint64_t setupTimeoutNs() const { return setupTimeoutNs_; }

  Status health() const { return watch_->health(); }
  /// Returns the first failure. Waits a short time for the description of its cause.
  Status explainedHealth() const {
    watch_->awaitDescription();
    return health();
  }
  /// Makes all waits give up, here and in the other processes. May be called from any thread.
  void fail(const Status &reason);
  /// Announces to the other processes that this process leaves. If its memory does not stay valid afterwards
  /// (Engine::outlasts), waits until all living processes have left, but at most for the set-up timeout.
  void leave();
  /// Waits for the launches of all instances.
  Status settle();
  /// Waits until the ports have done everything that launches have requested. Called when no launch of this process
  /// runs.
  Status drainPorts();
  /// True if other processes may still use the memory of this process after it has left.
  bool outlasts() const { return engine_->outlasts() && processes() > 1; }
  /// Allocates memory on every rank, filled with zeros. With `multicast`, the memory gets a multicast mapping if the
  /// communicator has multicast. Collective.
  Status allocate(const std::string &what, uint64_t bytes, bool multicast, std::unique_ptr<Memory> &memory) {
    memory = engine_->memory(bytes);
    return memory->allocate(what, multicast && hasMulticast_);
  }
  /// Fills the memory of the local ranks with zeros.
  Status clear(const Memory &memory);
  /// Restores the communicator's initial state after a failure. Collective.
  Status reset();

  /// Kernels in the communicator, in the order in which they were loaded.
  const std::vector<std::unique_ptr<Instance>> &instances() const { return instances_; }
  Instance *add(std::unique_ptr<Instance> instance);
  void remove(const Instance *instance);
  void removeAll();
  /// By local rank: the instance of the last launch outside captures. Null if there was none, or if the instance is
  /// gone.
  std::vector<const Instance *> lastLaunched;

private:
  Communicator();
  Status placeRanks(const MscclcCommunicatorOptions &options);
  Status connectDevices();
  Status meet(const MscclcCommunicatorOptions &options);
  Status introduceRanks();
  /// Waits until everything that launches have sent over the network has arrived. The limit is half of the set-up
  /// timeout.
  Status settlePorts();

  std::unique_ptr<Platform> platform_;
  Site site_;
  std::vector<DeviceId> deviceIds_; ///< by rank
  std::map<std::pair<int32_t, int32_t>, bool>
      reaches_; ///< by two devices of the process: true if the first reaches the second
  bool hasMulticast_ = false;
  uint64_t waitTimeoutNs_ = 0;
  uint32_t reportMs_ = 0;
  uint64_t setupTimeoutNs_ = 0;
  bool chains_ = true;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Engine> engine_;
  std::vector<Stream> streams_; ///< by local rank
  std::vector<std::unique_ptr<Instance>> instances_;
};

/// Makes a local rank's ports to ranks of the load/store team. A thread of the process serves these ports. `graphs`:
/// the graphs that replay launches of the kernel. The function is set by ../ports; null if that is not part of the
/// library.
extern Status (*createProxy)(Communicator &communicator, uint32_t localIndex, const MscclcKernel &kernel,
                             const GraphHold &graphs, const PortRank &rank, std::unique_ptr<Ports> &ports);

} // namespace mscclc::rt
