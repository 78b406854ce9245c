// What launches that hang have left on the devices.
#include "communicator/instance.h"
#include "communicator/sync_layout.h"

namespace mscclc::rt {
namespace {

constexpr uint64_t launchRuns = uint64_t{1} << 63; ///< in MscclcRankArgs::launches

} // namespace

void Instance::addLaunches(hang::Report &report) const {
  const DeviceGuard guard(communicator_.platform());
  const bool onHost = communicator_.platform().kind() == MSCCLC_PLATFORM_HOST;
  const auto read = [&](const uint64_t *from, uint64_t &value) {
    if (onHost) // where a kernel writes it at this moment
      value = __atomic_load_n(from, __ATOMIC_RELAXED);
    return onHost || communicator_.platform().copy(communicator_.device(0), &value, from, sizeof(value)).ok();
  };
  const std::vector<uint32_t> gone = communicator_.engine().meeting().lostRanks(); // and with them their memory
  for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
    char *const part = sync_->at(0, rank);
    if (part == nullptr || infos_[rank].blocks == 0 || hang::holds(gone, rank))
      continue;
    const SyncLayout layout(infos_[rank]);
    uint64_t launches = 0, bytes = 0;
    if (!read(counterAt(part, layout.launches, 0), launches) || !read(counterAt(part, layout.finished, 1), bytes))
      continue;
    report.launches.push_back({kernel_.name, rank, launches & ~launchRuns, (launches & launchRuns) != 0, bytes});
  }
}

} // namespace mscclc::rt
