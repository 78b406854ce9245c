// Memory of the same size on every rank of a communicator, which every rank's device can reach.
#pragma once

#include "platform/platform.h"

namespace mscclc::rt {

class Communicator;

class Region {
public:
  /// Zeroed memory. `what` names it in messages. `kind`: Multicast makes a multicast mapping where the communicator has
  /// them. Collective.
  static Status allocate(Communicator &communicator, uint64_t bytes, MemoryKind kind, const std::string &what,
                         std::unique_ptr<Region> &result);
  /// Memory of the caller's, one pointer for each local rank. Collective.
  static Status adopt(Communicator &communicator, void *const *pointers, uint64_t bytes, const std::string &what,
                      std::unique_ptr<Region> &result);
  ~Region();

  /// Unmaps what belongs to other processes. They may free it when all have done so.
  void closeRemote();

  uint64_t bytes() const { return bytes_; }
  /// The memory of `rank` as the device of a local rank addresses it; null where it cannot.
  void *at(uint32_t localIndex, uint32_t rank) const;
  /// The multicast mapping over all ranks, for all devices of the process; or null.
  void *multicast() const { return multicastAddress_; }
  /// Zeroes the memory of the local ranks.
  Status clear();

private:
  Region(Communicator &communicator, uint64_t bytes) : communicator_(communicator), bytes_(bytes) {}
  Status connect(const std::string &what, Status mine);
  Status makeMulticast(const std::string &what);
  Status multicastStep(const std::string &what, const Status &mine, bool &allWell);

  Communicator &communicator_;
  const uint64_t bytes_;
  bool owned_ = false;
  std::vector<void *> local_; ///< by local rank
  struct Remote {
    int32_t device;
    uint32_t rank;
    ShareHandle handle;
    void *memory;
  };
  std::vector<Remote> remote_; ///< sorted by device, then rank
  void *multicastObject_ = nullptr;
  void *multicastAddress_ = nullptr;
};

} // namespace mscclc::rt
