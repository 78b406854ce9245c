// Memory of the same size on every rank of a communicator.
#pragma once

#include "communicator/graph_hold.h"
#include "engine/engine.h"
#include "status.h"

#include <memory>
#include <vector>

namespace mscclc::rt {

class Communicator;

class Region {
public:
  /// Zeroed memory. `what` names it in messages. `multicast`: with a multicast mapping where the communicator has
  /// them. Collective.
  static Status allocate(Communicator &communicator, uint64_t bytes, bool multicast, const std::string &what,
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
  /// The multicast mapping over all ranks, as the device of a local rank addresses it; or null.
  void *multicast(uint32_t localIndex) const;
  /// As ports of a local rank name the memory; null where the engine has none.
  MscclcWindow window(uint32_t localIndex) const;
  const GraphHold &graphs() const { return graphs_; }
  /// Zeroes the memory of the local ranks.
  Status clear();

private:
  Region(Communicator &communicator, uint64_t bytes) : communicator_(communicator), bytes_(bytes) {}

  Communicator &communicator_;
  const uint64_t bytes_;
  MscclcMemory *memory_ = nullptr;
  GraphHold graphs_;
};

} // namespace mscclc::rt
