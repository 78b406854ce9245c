#include "engine/local.h"

#include <algorithm>

namespace mscclc::rt {

LocalEngine::LocalEngine(Setup setup)
    : EngineTable("local"), setup_(std::move(setup)), distinctDevices_(setup_.devices) {
  outlasts = 1;
  std::sort(distinctDevices_.begin(), distinctDevices_.end());
  distinctDevices_.erase(std::unique(distinctDevices_.begin(), distinctDevices_.end()), distinctDevices_.end());
}

Status LocalEngine::create(Setup setup, MscclcEngine *&engine) {
  std::unique_ptr<LocalEngine> made(new LocalEngine(std::move(setup)));
  MSCCLC_TRY(Rendezvous::join(made->setup_.meeting, {made->setup_.failed}, made->rendezvous_));
  engine = made.release();
  return {};
}

MscclcShape LocalEngine::shape() const {
  return {ranks(), firstLocalRank(), localRanks(), static_cast<uint32_t>(processes()), 0, ranks()};
}

Status LocalEngine::exchange(const std::string &what, Bytes mine, std::vector<Bytes> &all) {
  return rendezvous_->exchangeBytes(what, std::move(mine), all);
}

Status LocalEngine::allocate(const std::string &what, uint64_t bytes, bool multicast,
                             std::unique_ptr<LocalMemory> &memory) {
  return LocalMemory::allocate(*this, bytes, multicast ? MemoryKind::Multicast : MemoryKind::Plain, what, memory);
}

Status LocalEngine::adopt(const std::string &what, void *const *pointers, uint64_t bytes,
                          std::unique_ptr<LocalMemory> &memory) {
  return LocalMemory::adopt(*this, pointers, bytes, what, memory);
}

} // namespace mscclc::rt
