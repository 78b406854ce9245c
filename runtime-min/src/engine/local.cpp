// The local engine: one process or several processes of one machine, which share memory by the platform's own means.
#include "engine/engine.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace mscclc::rt {
namespace {

class LocalEngine : public Engine {
public:
  Status meet(Platform &platform, const Site &site, MeetingOptions options) override {
    platform_ = &platform;
    site_ = &site;
    return Meeting::join(std::move(options), meeting_);
  }
  RankRange team() const override { return {0, site_->ranks}; }
  bool outlasts() const override { return true; }
  std::unique_ptr<Memory> memory(uint64_t bytes) override;

  Platform &platform() { return *platform_; }
  const Site &site() const { return *site_; }
  int32_t device(uint32_t localIndex) const { return site_->rankDevices[localIndex]; }

private:
  Platform *platform_ = nullptr;
  const Site *site_ = nullptr;
};

/// Memory that is mapped into every process for each of its devices.
class LocalMemory : public Memory {
public:
  LocalMemory(LocalEngine &engine, uint64_t bytes) : Memory(bytes), engine_(engine) {}
  ~LocalMemory() override;
  Status allocate(const std::string &what, bool multicast) override;
  Status adopt(const std::string &what, void *const *pointers) override;
  /// One mapping serves all devices of the process.
  void *multicast(uint32_t) const override { return multicastAddress_; }
  void disconnect() override;

private:
  void *address(uint32_t localIndex, uint32_t rank) const override;
  Status connect(const std::string &what, Status mine);
  Status makeMulticast(const std::string &what);
  Status mapRemote(const std::string &what, const std::vector<Message> &all);
  Status tell(const std::string &what, const Status &mine, bool &allWell);

  LocalEngine &engine_;
  bool owned_ = false;
  std::vector<void *> local_; ///< by local rank
  struct Remote {
    ShareHandle handle;
    void *memory;
  };
  std::map<std::pair<int32_t, uint32_t>, Remote> remote_; ///< by device and rank
  void *multicastObject_ = nullptr;
  void *multicastAddress_ = nullptr;
};

} // namespace

std::unique_ptr<Memory> LocalEngine::memory(uint64_t bytes) {
  return std::make_unique<LocalMemory>(*this, bytes);
}

std::unique_ptr<Engine> createLocalEngine() {
  return std::make_unique<LocalEngine>();
}

Status (*createNcclEngine)(const MscclcCommunicatorOptions &, std::unique_ptr<Engine> &) = nullptr;

Status LocalMemory::allocate(const std::string &what, bool multicast) {
  owned_ = true;
  Status mine;
  for (uint32_t i = 0; i < engine_.site().mine.count && bytes() != 0 && mine.ok(); ++i) {
    void *part = nullptr;
    mine =
        engine_.platform().allocate(engine_.device(i), bytes(), multicast ? MemoryKind::Multicast : MemoryKind::Plain,
                                    engine_.site().devices, part);
    // If a rank has no memory of this kind, all ranks do without multicast.
    if (!mine.ok() && multicast)
      mine = engine_.platform().allocate(engine_.device(i), bytes(), MemoryKind::Plain, engine_.site().devices, part);
    if (mine.ok())
      local_.push_back(part);
  }
  MSCCLC_TRY(connect(what, std::move(mine)));
  return multicast && bytes() != 0 ? makeMulticast(what) : Status{};
}

Status LocalMemory::adopt(const std::string &what, void *const *pointers) {
  Status mine;
  for (uint32_t i = 0; i < engine_.site().mine.count && bytes() != 0; ++i) {
    local_.push_back(pointers[i]);
    if (!mine.ok())
      continue;
    const uint32_t rank = engine_.site().mine.first + i;
    if (pointers[i] == nullptr)
      mine = failure(MSCCLC_ERROR_ARGUMENT, "%s: no memory for rank %u", what.c_str(), rank);
    else if (mine = engine_.platform().adopt(engine_.device(i), pointers[i], bytes(), engine_.site().devices);
             !mine.ok())
      mine.text = format("%s, rank %u: %s", what.c_str(), rank, mine.text.c_str());
  }
  return connect(what, std::move(mine));
}

/// Exchanges handles, and maps the memory of other processes, once for each device of this process. `mine`: whether
/// this process has its memory.
Status LocalMemory::connect(const std::string &what, Status mine) {
  if (engine_.meeting().processes().size() == 1)
    return mine;
  std::vector<ShareHandle> handles(local_.size());
  std::vector<File> files;
  std::vector<int> descriptors;
  for (uint32_t i = 0; i < local_.size() && mine.ok(); ++i) {
    int file = -1;
    mine = engine_.platform().share(engine_.device(i), local_[i], bytes(), handles[i], file);
    if (mine.ok() && handles[i].hasFile != 0) {
      files.emplace_back(file);
      descriptors.push_back(file);
    }
  }
  std::vector<Message> all, none;
  MSCCLC_TRY(engine_.meeting().agree(what, mine, bytesOf(handles.data(), handles.size()), all, descriptors));
  return engine_.meeting().agree(what + ", mapped", mapRemote(what, all), {}, none);
}

Status LocalMemory::mapRemote(const std::string &what, const std::vector<Message> &all) {
  for (uint32_t process = 0; process < all.size(); ++process) {
    if (process == engine_.meeting().self())
      continue;
    const RankRange &ranks = engine_.meeting().processes()[process].range;
    const auto &[handles, files] = all[process];
    if (handles.size() != (bytes() == 0 ? 0 : ranks.count * sizeof(ShareHandle)))
      return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: the size on rank %u differs", what.c_str(), ranks.first);
    size_t nextFile = 0;
    for (uint32_t i = 0; i * sizeof(ShareHandle) < handles.size(); ++i) {
      ShareHandle handle;
      std::memcpy(&handle, handles.data() + i * sizeof(handle), sizeof(handle));
      if (handle.hasFile != 0 && nextFile == files.size())
        return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: the handle of rank %u came without its file", what.c_str(),
                       ranks.first + i);
      const int file = handle.hasFile != 0 ? files[nextFile++].get() : -1;
      for (const int32_t device : engine_.site().devices) {
        void *memory = nullptr;
        if (Status mapped = engine_.platform().open(device, handle, file, memory); !mapped.ok())
          return failure(mapped.code, "%s: cannot map the memory of rank %u: %s", what.c_str(), ranks.first + i,
                         mapped.text.c_str());
        remote_[{device, ranks.first + i}] = {handle, memory};
      }
    }
  }
  return {};
}

/// Exchanges whether a step succeeded in all processes.
Status LocalMemory::tell(const std::string &what, const Status &mine, bool &allWell) {
  std::vector<Message> all;
  MSCCLC_TRY(engine_.meeting().exchange(what, Bytes(1, mine.ok() ? 1 : 0), all));
  allWell =
      std::all_of(all.begin(), all.end(), [](const Message &m) { return m.bytes.size() == 1 && m.bytes[0] == 1; });
  return {};
}

/// Makes a multicast mapping. If a step fails in any process, all use memory without multicast.
Status LocalMemory::makeMulticast(const std::string &what) {
  Multicasts &multicasts = *engine_.platform().multicasts();
  const bool isFirst = engine_.meeting().self() == 0;
  int made = -1;
  Status mine;
  if (isFirst)
    mine = multicasts.open(engine_.site().ranks, bytes(), made, multicastObject_);
  const File file(made);
  std::vector<Message> all;
  MSCCLC_TRY(engine_.meeting().exchange(what + ", multicast object", {}, all,
                                        file.valid() ? std::vector<int>{made} : std::vector<int>()));
  if (!isFirst && all[0].files.empty()) {
    mine = failure(MSCCLC_ERROR_UNSUPPORTED, "no multicast object");
  } else if (!isFirst) {
    int theirs = all[0].files[0].get();
    mine = multicasts.open(engine_.site().ranks, bytes(), theirs, multicastObject_);
  }
  for (uint32_t i = 0; i < local_.size() && mine.ok(); ++i)
    mine = multicasts.join(multicastObject_, engine_.device(i));
  // Memory is bound after every device has joined the object.
  bool well = false;
  MSCCLC_TRY(tell(what + ", multicast devices", mine, well));
  for (uint32_t i = 0; i < local_.size() && well && mine.ok(); ++i)
    mine = multicasts.bind(multicastObject_, engine_.device(i), local_[i]);
  void *address = nullptr;
  if (well && mine.ok())
    mine = multicasts.mapObject(multicastObject_, engine_.site().devices, address);
  bool bound = false;
  MSCCLC_TRY(tell(what + ", multicast memory", mine, bound));
  if (well && bound) {
    multicastAddress_ = address;
  } else if (multicastObject_ != nullptr) {
    multicasts.destroy(multicastObject_);
    multicastObject_ = nullptr;
  }
  return {};
}

void LocalMemory::disconnect() {
  if (multicastObject_ != nullptr)
    engine_.platform().multicasts()->destroy(multicastObject_);
  multicastObject_ = multicastAddress_ = nullptr;
  for (const auto &[at, remote] : remote_)
    engine_.platform().close(at.first, remote.handle, remote.memory);
  remote_.clear();
}

LocalMemory::~LocalMemory() {
  disconnect();
  for (uint32_t i = 0; i < local_.size() && owned_; ++i)
    engine_.platform().release(engine_.device(i), local_[i]);
}

void *LocalMemory::address(uint32_t localIndex, uint32_t rank) const {
  if (const uint32_t local = rank - engine_.site().mine.first; local < engine_.site().mine.count)
    return local_[local];
  const auto found = remote_.find({engine_.device(localIndex), rank});
  return found == remote_.end() ? nullptr : found->second.memory;
}

} // namespace mscclc::rt
