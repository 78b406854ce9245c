// What the runtime needs of the machine: memory, its sharing between processes, streams and copies. One
// implementation on CUDA, one on host memory for kernels built for the CPU stand-in.
#pragma once

#include "status.h"

#include <array>
#include <memory>
#include <vector>

namespace mscclc::rt {

/// A cudaStream_t, or a mscclc::standin::Stream *.
using Stream = void *;
/// A point in a stream that others can wait for.
using Event = void *;
/// The same for the same device in all processes of a machine.
using DeviceId = std::array<uint8_t, 16>;

struct DeviceFacts {
  DeviceId id{};
  uint32_t processors = 1;
  uint32_t hasMulticast = 0; ///< 1: it can take part in multicast objects
};

/// What a link between devices does with additions to a word of the other device's memory.
enum class RemoteAdd {
  Whole,   ///< adds, whoever else adds to it at the same time
  Broken,  ///< may lose one of two
  Unknown, ///< the other device cannot be seen from here
};

/// How another process gets at memory; travels through the rendezvous, with a file descriptor if `hasFile`.
struct ShareHandle {
  uint64_t offset = 0; ///< of the memory within what the handle names
  uint64_t bytes = 0;  ///< of what the handle names
  uint32_t kind = 0;   ///< the platform's own
  uint32_t hasFile = 0;
  std::array<uint8_t, 64> data{};
};

enum class MemoryKind {
  Plain,
  Private,   ///< of one process's devices: never shared
  Multicast, ///< can be bound to a multicast object
};

/// Multicast objects, one for a buffer of all ranks. Made by one process, opened by the others; then every process adds
/// its devices, and when all have, binds its memory and maps the object.
class Multicasts {
public:
  virtual ~Multicasts() = default;
  /// `file`: of what the first process has made; in that process -1, and then the caller's to send and close.
  virtual Status open(uint32_t devices, uint64_t bytes, int &file, void *&object) = 0;
  virtual Status join(void *object, int32_t device) = 0;
  virtual Status bind(void *object, int32_t device, const void *memory) = 0;
  virtual Status mapObject(void *object, const std::vector<int32_t> &devices, void *&address) = 0;
  virtual void destroy(void *object) = 0;
};

class Platform {
public:
  virtual ~Platform() = default;

  virtual uint32_t kind() const = 0; ///< MscclcPlatform
  /// Devices there; 0 stands for any number.
  virtual Status deviceCount(int32_t &count) = 0;
  virtual Status examine(int32_t device, DeviceFacts &facts) = 0;
  /// Lets kernels on `device` reach memory of `peer`; `reaches` says whether they can.
  virtual Status connect(int32_t device, int32_t peer, bool &reaches) = 0;
  /// What becomes of additions that kernels on `device` make to memory of `peer`.
  virtual Status addsTo(int32_t device, const DeviceId &peer, RemoteAdd &adds) = 0;
  /// Makes `device` the calling thread's.
  virtual Status use(int32_t device) = 0;
  /// The calling thread's device, or -1.
  virtual int32_t current() = 0;

  /// Zeroed memory of a device that can be shared. `reachableFrom`: the process's devices that will use it.
  virtual Status allocate(int32_t device, uint64_t bytes, MemoryKind kind, const std::vector<int32_t> &reachableFrom,
                          void *&memory) = 0;
  virtual void release(int32_t device, void *memory) = 0;
  /// Zeroed host memory that devices address by the same pointer.
  virtual Status allocatePinned(uint64_t bytes, void *&memory) = 0;
  virtual void releasePinned(void *memory) = 0;

  /// Whether memory that the caller has is of `device`, and the process's devices `from` can access it; a failure says
  /// why not.
  virtual Status adopt(int32_t device, void *memory, uint64_t bytes, const std::vector<int32_t> &from) = 0;
  /// Makes [memory, memory + bytes) available to other processes. `file`: a descriptor to send along, or -1; it is the
  /// caller's to close.
  virtual Status share(int32_t device, void *memory, uint64_t bytes, ShareHandle &handle, int &file) = 0;
  /// Maps what another process shared, for kernels on `device`. `file` stays the caller's.
  virtual Status open(int32_t device, const ShareHandle &handle, int file, void *&memory) = 0;
  virtual void close(int32_t device, const ShareHandle &handle, void *memory) = 0;

  virtual Status createStream(int32_t device, bool urgent, Stream &stream) = 0;
  virtual void destroyStream(int32_t device, Stream stream) = 0;
  virtual Status synchronize(int32_t device, Stream stream) = 0;
  /// Whether a stream, of this device, is being captured.
  virtual bool capturing(int32_t device, Stream stream) = 0;
  /// The graph into which a stream, of this device, is captured, and all that is made of it, keep `objects`, until the
  /// last of them is gone and its replays are over. The objects end on a thread on which nothing may be waited for.
  virtual Status keepInGraph(int32_t device, Stream stream, std::vector<std::shared_ptr<const void>> objects) = 0;
  /// Whether work in a stream waits for that in the device's others, and theirs for it.
  virtual bool isDefault(Stream stream) = 0;
  virtual Status createEvent(int32_t device, Event &event) = 0;
  virtual void destroyEvent(int32_t device, Event event) = 0;
  virtual Status record(int32_t device, Event event, Stream stream) = 0;
  /// Work put into `stream` from now on starts after the event, whichever device it is of.
  virtual Status follow(int32_t device, Stream stream, Event event) = 0;
  /// Whether isPending says when an event has come; else it is false.
  virtual bool tellsOfEvents() const = 0;
  /// Whether the event is still to come. From any thread, also while streams are captured.
  virtual bool isPending(int32_t device, Event event) = 0;
  /// The host waits for the event.
  virtual Status await(int32_t device, Event event) = 0;

  /// Between any two places the process can reach; returns when done. Allowed while a stream is being captured.
  virtual Status copy(int32_t device, void *to, const void *from, uint64_t bytes) = 0;
  virtual Status clear(int32_t device, void *memory, uint64_t bytes) = 0;
  /// In stream order; `from` stays until done.
  virtual Status copyInOrder(int32_t device, void *to, const void *from, uint64_t bytes, Stream stream) = 0;
  /// In stream order, visible after all that came before: *to = *from, `from` pinned memory that stays until done.
  virtual Status storeInOrder(int32_t device, uint64_t *to, const uint64_t *from, Stream stream) = 0;

  /// Null where there are none.
  virtual Multicasts *multicasts() { return nullptr; }
};

/// Gives the calling thread its device back at the end of a scope.
class DeviceGuard {
public:
  explicit DeviceGuard(Platform &platform) : platform_(platform), device_(platform.current()) {}
  ~DeviceGuard() {
    if (device_ >= 0)
      static_cast<void>(platform_.use(device_).ok());
  }
  DeviceGuard(const DeviceGuard &) = delete;
  DeviceGuard &operator=(const DeviceGuard &) = delete;

private:
  Platform &platform_;
  const int32_t device_;
};

std::unique_ptr<Platform> createHostPlatform();
/// Fails with MSCCLC_ERROR_UNSUPPORTED in a build without CUDA and on a machine without a device.
Status createCudaPlatform(std::unique_ptr<Platform> &platform);
/// By MscclcPlatform.
Status createPlatform(uint32_t kind, std::unique_ptr<Platform> &platform);

} // namespace mscclc::rt
