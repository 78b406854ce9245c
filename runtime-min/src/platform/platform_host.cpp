// The platform for host memory. Allocations are memory files, so that other processes can map them. The streams come
// from the CPU stand-in.
#include "mscclc/cpu_standin.h"
#include "platform/platform.h"
#include "process/file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>

namespace mscclc::rt {
namespace {

uint64_t wholePages(uint64_t bytes) {
  return (std::max<uint64_t>(bytes, 1) + 4095) / 4096 * 4096;
}

/// Maps a file; without a file, maps zeros.
Status mapFile(const File &file, uint64_t bytes, void *&memory) {
  const int flags = file.valid() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file.get(), 0);
  if (memory == MAP_FAILED) {
    memory = nullptr;
    return systemFailure(format("mmap of %llu bytes", wide(bytes)));
  }
  return {};
}

class HostPlatform final : public Platform {
public:
  uint32_t kind() const override { return MSCCLC_PLATFORM_HOST; }
  Status deviceCount(int32_t &count) override {
    count = 0;
    return {};
  }
  Status examine(int32_t device, DeviceFacts &facts) override {
    facts = {};
    std::memcpy(facts.id.data(), &device, sizeof(device));
    return {};
  }
  Status connect(int32_t, int32_t, bool &reaches) override {
    reaches = true;
    return {};
  }
  Status addsTo(int32_t, const DeviceId &, RemoteAdd &adds) override {
    adds = RemoteAdd::Whole;
    return {};
  }
  Status use(int32_t) override { return {}; }
  int32_t current() override { return -1; }

  Status allocate(int32_t, uint64_t bytes, MemoryKind kind, const std::vector<int32_t> &, void *&memory) override {
    bytes = wholePages(bytes);
    File file;
    if (kind != MemoryKind::Private) {
      file = File(::memfd_create("mscclc", MFD_CLOEXEC));
      if (!file.valid())
        return systemFailure("memfd_create");
      if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
        return systemFailure(format("memory of %llu bytes", wide(bytes)));
    }
    MSCCLC_TRY(mapFile(file, bytes, memory));
    const std::lock_guard<std::mutex> lock(mutex_);
    allocations_[static_cast<char *>(memory)] = {bytes, std::move(file)};
    return {};
  }
  void release(int32_t, void *memory) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = allocations_.find(static_cast<char *>(memory));
    if (found == allocations_.end())
      return;
    ::munmap(memory, found->second.bytes);
    allocations_.erase(found);
  }

  Status allocatePinned(uint64_t bytes, void *&memory) override {
    constexpr size_t line = 64;
    memory = std::aligned_alloc(line, (bytes + line - 1) / line * line);
    if (memory == nullptr)
      return systemFailure(format("memory of %llu bytes", wide(bytes)));
    std::memset(memory, 0, bytes);
    return {};
  }
  void releasePinned(void *memory) override { std::free(memory); }

  Status adopt(int32_t, void *, uint64_t, const std::vector<int32_t> &) override { return {}; }
  Status share(int32_t, void *memory, uint64_t bytes, ShareHandle &handle, int &file) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto after = allocations_.upper_bound(static_cast<char *>(memory));
    if (after != allocations_.begin()) {
      const auto &[base, allocation] = *std::prev(after);
      const auto offset = static_cast<uint64_t>(static_cast<char *>(memory) - base);
      if (offset + bytes <= allocation.bytes && allocation.file.valid()) {
        handle = {};
        handle.offset = offset;
        handle.bytes = allocation.bytes;
        handle.hasFile = 1;
        file = ::fcntl(allocation.file.get(), F_DUPFD_CLOEXEC, 0);
        return file >= 0 ? Status{} : systemFailure("dup");
      }
    }
    return failure(MSCCLC_ERROR_UNSUPPORTED, "host memory that other processes are to reach must come from "
                                             "mscclc_buffer_allocate");
  }
  Status open(int32_t, const ShareHandle &handle, int file, void *&memory) override {
    File duplicate(::fcntl(file, F_DUPFD_CLOEXEC, 0));
    MSCCLC_TRY(mapFile(duplicate, handle.bytes, memory));
    memory = static_cast<char *>(memory) + handle.offset;
    return {};
  }
  void close(int32_t, const ShareHandle &handle, void *memory) override {
    ::munmap(static_cast<char *>(memory) - handle.offset, handle.bytes);
  }

  Status createStream(int32_t, bool, Stream &stream) override {
    stream = new standin::Stream();
    return {};
  }
  void destroyStream(int32_t, Stream stream) override { delete static_cast<standin::Stream *>(stream); }
  Status synchronize(int32_t, Stream stream) override {
    static_cast<standin::Stream *>(stream)->synchronize();
    return {};
  }
  bool capturing(int32_t, Stream) override { return false; }
  Status keepInGraph(int32_t, Stream, std::vector<std::shared_ptr<const void>>) override {
    return failure(MSCCLC_ERROR_UNSUPPORTED, "the host has no graphs");
  }
  bool isDefault(Stream) override { return false; }

  // An event is the stream in which it was last recorded, and waiting for the event waits for the whole stream.
  Status createEvent(int32_t, Event &event) override {
    event = new Stream(nullptr);
    return {};
  }
  void destroyEvent(int32_t, Event event) override { delete static_cast<Stream *>(event); }
  Status record(int32_t, Event event, Stream stream) override {
    *static_cast<Stream *>(event) = stream;
    return {};
  }
  Status follow(int32_t device, Stream stream, Event event) override {
    return *static_cast<Stream *>(event) == stream ? Status{} : await(device, event);
  }
  bool tellsOfEvents() const override { return false; } // the stream of an event may be gone
  bool isPending(int32_t, Event) override { return false; }
  Status await(int32_t device, Event event) override {
    Stream stream = *static_cast<Stream *>(event);
    return stream == nullptr ? Status{} : synchronize(device, stream);
  }

  Status copy(int32_t, void *to, const void *from, uint64_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status clear(int32_t, void *memory, uint64_t bytes) override {
    std::memset(memory, 0, bytes);
    return {};
  }
  Status copyInOrder(int32_t, void *to, const void *from, uint64_t bytes, Stream) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status storeInOrder(int32_t, uint64_t *to, const uint64_t *from, Stream) override {
    __atomic_store_n(to, *from, __ATOMIC_RELEASE);
    return {};
  }

private:
  struct Allocation {
    uint64_t bytes = 0;
    File file;
  };

  std::mutex mutex_;
  std::map<char *, Allocation> allocations_;
};

} // namespace

std::unique_ptr<Platform> createHostPlatform() {
  return std::make_unique<HostPlatform>();
}

} // namespace mscclc::rt
