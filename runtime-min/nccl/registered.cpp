#include "registered.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace mscclc::nccl {
namespace {

struct Entry {
  Registered memory;
  const void *handle = nullptr; ///< handle of the registration; for an allocation its address
};
struct OfComm {
  std::vector<Entry> entries;
  uint64_t windows = 0; ///< number of symmetric windows so far
  std::vector<Registration> awaited;
};
struct Table {
  std::mutex mutex;
  std::map<Comm, OfComm> comms; ///< allocations belong to the null communicator
  uint64_t ids = 0;             ///< number of ids so far
};
/// Returns the only instance. It is never destroyed, because calls may come while the process ends.
Table &table() {
  static Table *const instance = new Table;
  return *instance;
}

void note(Comm comm, void *memory, uint64_t bytes, const void *handle, bool isSymmetric) {
  Table &all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  OfComm &own = all.comms[comm];
  own.entries.push_back({{++all.ids, isSymmetric ? ++own.windows : 0, static_cast<char *>(memory), bytes}, handle});
}

void forget(Comm comm, const void *handle) {
  Table &all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto own = all.comms.find(comm);
  if (own == all.comms.end())
    return;
  std::vector<Entry> &entries = own->second.entries;
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry &entry) { return entry.handle == handle; });
  if (found != entries.end())
    entries.erase(found);
}

} // namespace

void noteRegistration(const Registration &registration) {
  if (*registration.handle != nullptr)
    note(registration.comm, registration.memory, registration.bytes, *registration.handle, registration.isSymmetric);
}

void awaitRegistration(const Registration &registration) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().comms[registration.comm].awaited.push_back(registration);
}

bool awaitsRegistrations(Comm comm) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  const auto own = table().comms.find(comm);
  return own != table().comms.end() && !own->second.awaited.empty();
}

void endAwaited(Comm comm, bool isWell) {
  std::vector<Registration> ended;
  {
    const std::lock_guard<std::mutex> lock(table().mutex);
    if (const auto own = table().comms.find(comm); own != table().comms.end())
      ended.swap(own->second.awaited);
  }
  for (const Registration &registration : ended)
    if (isWell)
      noteRegistration(registration);
}

void forgetRegistration(Comm comm, const void *handle) {
  forget(comm, handle);
}

void forgetRegistrations(Comm comm) {
  const std::lock_guard<std::mutex> lock(table().mutex);
  table().comms.erase(comm);
}

void noteAllocation(void *memory, uint64_t bytes) {
  note(nullptr, memory, bytes, memory, false);
}

void forgetAllocation(const void *memory) {
  forget(nullptr, memory);
}

std::optional<Registered> findRegistered(Comm comm, const void *pointer, uint64_t bytes, bool ofAllRanks) {
  Table &all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto *const at = static_cast<const char *>(pointer);
  for (const Comm where : {comm, Comm{nullptr}}) {
    const auto own = all.comms.find(where);
    if (own == all.comms.end())
      continue;
    for (const auto &[memory, handle] : own->second.entries)
      if ((memory.window != 0 || !ofAllRanks) && at >= memory.begin && bytes <= memory.bytes &&
          static_cast<uint64_t>(at - memory.begin) <= memory.bytes - bytes)
        return memory;
  }
  return std::nullopt;
}

bool isRegistered(uint64_t id) {
  Table &all = table();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (const auto &[comm, own] : all.comms)
    for (const Entry &entry : own.entries)
      if (entry.memory.id == id)
        return true;
  return false;
}

} // namespace mscclc::nccl
