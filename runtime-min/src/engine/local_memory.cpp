#include "engine/local_memory.h"

#include "engine/local.h"

#include <algorithm>
#include <cstring>

namespace mscclc::rt {
namespace {

/// What a process says about its part of a memory, followed by a handle for each of its ranks.
struct Offer {
  uint64_t bytes;
  int32_t code; ///< why there is no memory here; the handles are then left out
  int32_t reserved;
};

} // namespace

Status LocalMemory::allocate(LocalEngine &engine, uint64_t bytes, MemoryKind kind, const std::string &what,
                             std::unique_ptr<LocalMemory> &result) {
  std::unique_ptr<LocalMemory> memory(new LocalMemory(engine, bytes));
  memory->owned_ = true;
  Status mine;
  for (uint32_t i = 0; i < engine.localRanks() && bytes != 0 && mine.ok(); ++i) {
    void *part = nullptr;
    mine = engine.platform().allocate(engine.device(i), bytes, kind, engine.devices(), part);
    // Without this kind of memory on a rank all do without multicast.
    if (!mine.ok() && kind == MemoryKind::Multicast)
      mine = engine.platform().allocate(engine.device(i), bytes, MemoryKind::Plain, engine.devices(), part);
    if (mine.ok())
      memory->local_.push_back(part);
  }
  MSCCLC_TRY(memory->connect(what, std::move(mine)));
  if (kind == MemoryKind::Multicast && bytes != 0)
    MSCCLC_TRY(memory->makeMulticast(what));
  result = std::move(memory);
  return {};
}

Status LocalMemory::adopt(LocalEngine &engine, void *const *pointers, uint64_t bytes, const std::string &what,
                          std::unique_ptr<LocalMemory> &result) {
  std::unique_ptr<LocalMemory> memory(new LocalMemory(engine, bytes));
  Status mine;
  for (uint32_t i = 0; i < engine.localRanks() && bytes != 0; ++i) {
    memory->local_.push_back(pointers[i]);
    if (!mine.ok())
      continue;
    const uint32_t rank = engine.firstLocalRank() + i;
    if (pointers[i] == nullptr)
      mine = failure(MSCCLC_ERROR_ARGUMENT, "%s: no memory for rank %u", what.c_str(), rank);
    else if (mine = engine.platform().adopt(engine.device(i), pointers[i], bytes, engine.devices()); !mine.ok())
      mine.text = format("%s, rank %u: %s", what.c_str(), rank, mine.text.c_str());
  }
  MSCCLC_TRY(memory->connect(what, std::move(mine)));
  result = std::move(memory);
  return {};
}

/// Exchanges handles and maps the memory of other processes, once for each device of this one. `mine`: whether there is
/// memory here. A process that has none, or cannot map that of others, tells them: they would wait for it otherwise.
Status LocalMemory::connect(const std::string &what, Status mine) {
  if (engine_.processes() == 1)
    return mine;
  Bytes message(sizeof(Offer));
  std::vector<File> files;
  std::vector<int> descriptors;
  for (uint32_t i = 0; i < local_.size() && mine.ok(); ++i) {
    ShareHandle handle;
    int file = -1;
    mine = engine_.platform().share(engine_.device(i), local_[i], bytes_, handle, file);
    if (mine.ok() && handle.hasFile != 0) {
      files.emplace_back(file);
      descriptors.push_back(file);
    }
    const auto *begin = reinterpret_cast<const uint8_t *>(&handle);
    message.insert(message.end(), begin, begin + sizeof(handle));
  }
  const Offer offer{bytes_, mine.code, 0};
  std::memcpy(message.data(), &offer, sizeof(offer));
  if (!mine.ok())
    message.resize(sizeof(offer));
  std::vector<Message> all;
  MSCCLC_TRY(engine_.rendezvous().exchange(what, std::move(message), descriptors, all));
  if (mine.ok())
    mine = mapRemote(what, all);
  bool everywhere = false;
  MSCCLC_TRY(tell(what + ", mapped", mine, everywhere));
  MSCCLC_TRY(mine);
  return everywhere
             ? Status{}
             : failure(MSCCLC_ERROR_MEMORY, "%s: another process cannot map the memory of all ranks", what.c_str());
}

Status LocalMemory::mapRemote(const std::string &what, const std::vector<Message> &all) {
  for (uint32_t process = 0; process < all.size(); ++process) {
    if (process == engine_.rendezvous().self())
      continue;
    const ProcessInfo &info = engine_.rendezvous().processes()[process];
    Offer theirs{};
    const size_t handles = bytes_ == 0 ? 0 : info.ranks;
    if (all[process].bytes.size() >= sizeof(theirs))
      std::memcpy(&theirs, all[process].bytes.data(), sizeof(theirs));
    if (theirs.code != MSCCLC_OK)
      return failure(theirs.code, "%s: no memory on rank %u or its neighbours: %s", what.c_str(), info.firstRank,
                     mscclc_error_text(theirs.code));
    if (theirs.bytes != bytes_ || all[process].bytes.size() != sizeof(theirs) + handles * sizeof(ShareHandle))
      return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: %llu bytes here, %llu on rank %u", what.c_str(),
                     static_cast<unsigned long long>(bytes_), static_cast<unsigned long long>(theirs.bytes),
                     info.firstRank);
    size_t nextFile = 0;
    for (uint32_t i = 0; i < handles; ++i) {
      ShareHandle handle;
      std::memcpy(&handle, all[process].bytes.data() + sizeof(theirs) + i * sizeof(handle), sizeof(handle));
      int file = -1;
      if (handle.hasFile != 0) {
        if (nextFile >= all[process].files.size())
          return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: the handle of rank %u came without its file", what.c_str(),
                         info.firstRank + i);
        file = all[process].files[nextFile++].get();
      }
      for (const int32_t device : engine_.devices()) {
        void *memory = nullptr;
        MSCCLC_TRY(engine_.platform().open(device, handle, file, memory));
        remote_.push_back({device, info.firstRank + i, handle, memory});
      }
    }
  }
  std::sort(remote_.begin(), remote_.end(), [](const Remote &a, const Remote &b) {
    return a.device != b.device ? a.device < b.device : a.rank < b.rank;
  });
  return {};
}

/// Tells the others how a step went here.
Status LocalMemory::tell(const std::string &what, const Status &mine, bool &allWell) {
  std::vector<Message> all;
  MSCCLC_TRY(engine_.rendezvous().exchange(what, Bytes(1, mine.ok() ? 1 : 0), {}, all));
  allWell =
      std::all_of(all.begin(), all.end(), [](const Message &m) { return m.bytes.size() == 1 && m.bytes[0] == 1; });
  return {};
}

/// Where a step goes wrong anywhere, all do without multicast.
Status LocalMemory::makeMulticast(const std::string &what) {
  Platform &platform = engine_.platform();
  File file;
  Status mine;
  if (engine_.rendezvous().self() == 0) {
    int descriptor = -1;
    mine = platform.createMulticast(engine_.ranks(), bytes_, multicastObject_, descriptor);
    file = File(descriptor);
  }
  if (engine_.processes() > 1) {
    std::vector<Message> all;
    std::vector<int> files;
    if (file.valid())
      files.push_back(file.get());
    MSCCLC_TRY(engine_.rendezvous().exchange(what + ", multicast object", {}, files, all));
    if (engine_.rendezvous().self() != 0) {
      if (all[0].files.empty())
        mine = failure(MSCCLC_ERROR_UNSUPPORTED, "no multicast object");
      else
        mine = platform.openMulticast(all[0].files[0].get(), bytes_, engine_.ranks(), multicastObject_);
    }
  }
  for (uint32_t i = 0; i < local_.size() && mine.ok(); ++i)
    mine = platform.joinMulticast(multicastObject_, engine_.device(i));
  // Memory is bound once every device of the object is there.
  bool well = false;
  MSCCLC_TRY(tell(what + ", multicast devices", mine, well));
  for (uint32_t i = 0; i < local_.size() && well && mine.ok(); ++i)
    mine = platform.bindMulticast(multicastObject_, engine_.device(i), local_[i]);
  void *address = nullptr;
  if (well && mine.ok())
    mine = platform.mapMulticast(multicastObject_, engine_.devices(), address);
  bool bound = false;
  MSCCLC_TRY(tell(what + ", multicast memory", mine, bound));
  if (well && bound) {
    multicastAddress_ = address;
  } else if (multicastObject_ != nullptr) {
    platform.destroyMulticast(multicastObject_);
    multicastObject_ = nullptr;
  }
  return {};
}

void LocalMemory::disconnect() {
  if (multicastObject_ != nullptr)
    engine_.platform().destroyMulticast(multicastObject_);
  multicastObject_ = multicastAddress_ = nullptr;
  for (const Remote &remote : remote_)
    engine_.platform().close(remote.device, remote.handle, remote.memory);
  remote_.clear();
}

LocalMemory::~LocalMemory() {
  disconnect();
  for (uint32_t i = 0; i < local_.size() && owned_; ++i)
    engine_.platform().release(engine_.device(i), local_[i]);
}

void *LocalMemory::address(uint32_t localIndex, uint32_t rank) const {
  if (engine_.isLocal(rank))
    return local_[rank - engine_.firstLocalRank()];
  const int32_t device = engine_.device(localIndex);
  const auto found =
      std::lower_bound(remote_.begin(), remote_.end(), std::make_pair(device, rank),
                       [](const Remote &entry, const std::pair<int32_t, uint32_t> &key) {
                         return entry.device != key.first ? entry.device < key.first : entry.rank < key.second;
                       });
  return found != remote_.end() && found->device == device && found->rank == rank ? found->memory : nullptr;
}

} // namespace mscclc::rt
