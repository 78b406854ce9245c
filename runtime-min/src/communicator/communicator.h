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
  /// True if another rank, of any process, has the device of `rank`.
  bool sharesDevice(uint32_t rank) const;
  /// True if kernels on the device of a local rank can access the memory of `rank`.
  bool reaches(uint32_t localIndex, uint32_t rank) const;
  /// True if every rank has its own device, and all these take part in multicast objects.
  bool hasMulticast() const { return hasMulticast_; }
  Stream stream(uint32_t localIndex) const { return streams_[localIndex]; }
  /// True if launches of different instances follow each other.
  bool chains() const { return chains_; }
  uint64_t waitTimeoutNs() const { return waitTimeoutNs_; }
  /// A wait that takes so long is reported and goes on, in milliseconds; 0: none is.
  uint32_t reportMs() const { return reportMs_; }
  uint64_t setupTimeoutNs() const { return setupTimeoutNs_; }

  Status health() const { return watch_->health(); }
  /// Returns the first failure. Waits a short time for the description of its cause.
  Status explainedHealth() const {
    watch_->awaitDescription();
    return health();
  }
  /// Makes all waits give up, here and in the other processes. From any thread.
  void fail(const Status &reason);
  /// Announces to the other processes that this one ends its part. If the engine does not outlast the program's
  /// objects, waits until all living processes have left, too, but at most for the set-up timeout.
  void leave();
  /// Waits for the launches of all instances.
  Status settle();
  /// Waits until what they have asked their ports for is done. No launch runs here.
  Status drainPorts();
  /// Whether the other processes may go on to use the memory of this one when it has left.
  bool outlasts() const { return engine_->outlasts() && processes() > 1; }
  /// Allocates memory on every rank, filled with zeros. `multicast`: with a multicast mapping if the communicator has
  /// them. Collective.
  Status allocate(const std::string &what, uint64_t bytes, bool multicast, std::unique_ptr<Memory> &memory) {
    memory = engine_->memory(bytes);
    return memory->allocate(what, multicast && hasMulticast_);
  }
  /// Fills the memory of the local ranks with zeros.
  Status clear(const Memory &memory);
  /// After a failure: everything as it was made. Collective.
  Status reset();

  /// Kernels in the communicator, in the order in which they were loaded.
  const std::vector<std::unique_ptr<Instance>> &instances() const { return instances_; }
  Instance *add(std::unique_ptr<Instance> instance);
  void remove(const Instance *instance);
  void removeAll();
  /// By local rank: the instance that was launched last on it outside of captures, if it still exists; or null.
  std::vector<const Instance *> lastLaunched;

private:
  Communicator();
  Status placeRanks(const MscclcCommunicatorOptions &options);
  Status connectDevices();
  Status meet(const MscclcCommunicatorOptions &options);
  Status introduceRanks();
  /// Waits until what all launches so far have sent over the network has arrived, half as long as a set-up may take.
  Status settlePorts();

  std::unique_ptr<Platform> platform_;
  Site site_;
  std::vector<DeviceId> deviceIds_;                     ///< by rank
  std::map<std::pair<int32_t, int32_t>, bool> reaches_; ///< from a device of the process to another one
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

/// Makes the ports of a local rank to ranks of the load/store team, which a thread of the process serves. Where that is
/// part of the library (../ports), it sets it. `graphs`: those that replay launches of the kernel.
extern Status (*createProxy)(Communicator &communicator, uint32_t localIndex, const MscclcKernel &kernel,
                             const GraphHold &graphs, const PortRank &rank, std::unique_ptr<Ports> &ports);

} // namespace mscclc::rt
