#include "communicator/region.h"

#include "communicator/communicator.h"

namespace mscclc::rt {

Status Region::allocate(Communicator &communicator, uint64_t bytes, bool multicast, const std::string &what,
                        std::unique_ptr<Region> &result) {
  std::unique_ptr<Region> region(new Region(communicator, bytes));
  MSCCLC_TRY(
      statusOf(communicator.engine().allocate(&communicator.engine(), what.c_str(), bytes,
                                              multicast && communicator.hasMulticast() ? 1 : 0, &region->memory_)));
  result = std::move(region);
  return {};
}

Status Region::adopt(Communicator &communicator, void *const *pointers, uint64_t bytes, const std::string &what,
                     std::unique_ptr<Region> &result) {
  std::unique_ptr<Region> region(new Region(communicator, bytes));
  MSCCLC_TRY(
      statusOf(communicator.engine().adopt(&communicator.engine(), what.c_str(), pointers, bytes, &region->memory_)));
  result = std::move(region);
  return {};
}

void Region::closeRemote() {
  communicator_.engine().disconnect(memory_);
}

Region::~Region() {
  if (memory_ != nullptr)
    communicator_.engine().release(memory_);
}

void *Region::at(uint32_t localIndex, uint32_t rank) const {
  return bytes_ == 0 ? nullptr : communicator_.engine().address(memory_, localIndex, rank);
}

void *Region::multicast(uint32_t localIndex) const {
  return communicator_.engine().multicast(memory_, localIndex);
}

MscclcWindow Region::window(uint32_t localIndex) const {
  MscclcWindow found{};
  if (bytes_ != 0 && communicator_.engine().window != nullptr)
    communicator_.engine().window(memory_, localIndex, &found);
  return found;
}

Status Region::clear() {
  for (uint32_t i = 0; i < communicator_.localRanks() && bytes_ != 0; ++i)
    MSCCLC_TRY(
        communicator_.platform().clear(communicator_.device(i), at(i, communicator_.firstLocalRank() + i), bytes_));
  return {};
}

} // namespace mscclc::rt
