// The platform interface of the runtime: memory, its sharing between processes, streams and copies. There is one
// implementation for CUDA, and one for host memory and kernels of the CPU stand-in.
#pragma once

#include "status.h"

#include <array>
#include <memory>
#include <vector>

namespace mscclc::rt {

/// A cudaStream_t, or a mscclc::standin::Stream *.
using Stream = void *;
/// A point in a stream. Other streams and the host can wait for it.
using Event = void *;
/// Identifies a device. It is the same in all processes of a machine.
using DeviceId = std::array<uint8_t, 16>;

struct DeviceFacts {
  DeviceId id{};
  uint32_t processors = 1;
  uint32_t hasMulticast = 0; ///< 1: the device can take part in multicast objects
};

/// The behaviour of a link when one device adds to a word of the other device's memory.
enum class RemoteAdd {
  Whole,   ///< no addition is lost, even if others add to the word at the same time
  Broken,  ///< one of two concurrent additions may be lost
  Unknown, ///< the other device is not visible from here
};

/// The data by which another process maps memory. It is sent by the rendezvous, with a file descriptor if `hasFile`.
struct ShareHandle {
  uint64_t offset = 0; ///< offset of the memory in the handle's object
  uint64_t bytes = 0;  ///< size of the handle's object
  uint32_t kind = 0;   ///< defined by the platform
  uint32_t hasFile = 0;
  std::array<uint8_t, 64> data{};
};

enum class MemoryKind {
  Plain,
  Private,   ///< only for the devices of one process; never shared
  Multicast, ///< can be bound to a multicast object
};

/// Multicast objects, one for a buffer of all ranks. One process makes the object, and the others open it. Then every
/// process adds its devices. When all devices are added, every process binds its memory and maps the object.
class Multicasts {
public:
  virtual ~Multicasts() = default;
  /// Makes a multicast object in the first process, and opens it in the other processes. `file` is the object's file.
  /// In the first process, it is -1 before the call; afterwards the caller sends the file and closes it.
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
  /// Counts the devices; 0 means any number.
  virtual Status deviceCount(int32_t &count) = 0;
  virtual Status examine(int32_t device, DeviceFacts &facts) = 0;
  /// Lets kernels on `device` reach memory of `peer`; `reaches` says whether they can.
  virtual Status connect(int32_t device, int32_t peer, bool &reaches) = 0;
  /// Finds the behaviour of additions that kernels on `device` make to memory of `peer`.
  virtual Status addsTo(int32_t device, const DeviceId &peer, RemoteAdd &adds) = 0;
  /// Makes `device` the current device of the calling thread.
  virtual Status use(int32_t device) = 0;
  /// Returns the current device of the calling thread, or -1.
  virtual int32_t current() = 0;

  /// Allocates memory of a device that can be shared, filled with zeros. `reachableFrom`: the devices of the process
  /// that will use it.
  virtual Status allocate(int32_t device, uint64_t bytes, MemoryKind kind, const std::vector<int32_t> &reachableFrom,
                          void *&memory) = 0;
  virtual void release(int32_t device, void *memory) = 0;
  /// Allocates host memory that devices access by the same pointer, filled with zeros.
  virtual Status allocatePinned(uint64_t bytes, void *&memory) = 0;
  virtual void releasePinned(void *memory) = 0;

  /// Checks that the caller's memory belongs to `device`, and is accessible to the devices `from` of the process. A
  /// failure contains the reason.
  virtual Status adopt(int32_t device, void *memory, uint64_t bytes, const std::vector<int32_t> &from) = 0;
  /// Makes [memory, memory + bytes) available to other processes. `file`: a descriptor to send along, or -1. The caller
  /// closes it.
  virtual Status share(int32_t device, void *memory, uint64_t bytes, ShareHandle &handle, int &file) = 0;
  /// Maps memory that another process shared, for kernels on `device`. The caller keeps `file`.
  virtual Status open(int32_t device, const ShareHandle &handle, int file, void *&memory) = 0;
  virtual void close(int32_t device, const ShareHandle &handle, void *memory) = 0;

  virtual Status createStream(int32_t device, bool urgent, Stream &stream) = 0;
  virtual void destroyStream(int32_t device, Stream stream) = 0;
  virtual Status synchronize(int32_t device, Stream stream) = 0;
  /// True if a stream of this device is being captured.
  virtual bool capturing(int32_t device, Stream stream) = 0;
  /// Makes the graph that captures a stream of this device keep `objects`. They are kept until this graph and all
  /// graphs made of it are gone, and the last replay is over. The objects end on a thread that must not wait for
  /// anything.
  virtual Status keepInGraph(int32_t device, Stream stream, std::vector<std::shared_ptr<const void>> objects) = 0;
  /// True for a default stream. Its work and the work in other streams of the device wait for each other.
  virtual bool isDefault(Stream stream) = 0;
  virtual Status createEvent(int32_t device, Event &event) = 0;
  virtual void destroyEvent(int32_t device, Event event) = 0;
  virtual Status record(int32_t device, Event event, Stream stream) = 0;
  /// Makes later work in `stream` start after the event, which may belong to any device.
  virtual Status follow(int32_t device, Stream stream, Event event) = 0;
  /// True if isPending reports when an event has come; otherwise isPending is always false.
  virtual bool tellsOfEvents() const = 0;
  /// True if the event has not come yet. May be called from any thread, also while streams are captured.
  virtual bool isPending(int32_t device, Event event) = 0;
  /// Makes the host wait for the event.
  virtual Status await(int32_t device, Event event) = 0;

  /// Copies between any two places that the process can access, and returns when done. Allowed while a stream is
  /// captured.
  virtual Status copy(int32_t device, void *to, const void *from, uint64_t bytes) = 0;
  virtual Status clear(int32_t device, void *memory, uint64_t bytes) = 0;
  /// Copies in stream order. `from` must stay valid until the copy is done.
  virtual Status copyInOrder(int32_t device, void *to, const void *from, uint64_t bytes, Stream stream) = 0;
  /// Stores *from in *to, in stream order. The store becomes visible after all earlier work of the stream. `from` is
  /// pinned memory, and must stay valid until the store is done.
  virtual Status storeInOrder(int32_t device, uint64_t *to, const uint64_t *from, Stream stream) = 0;

  /// Returns the multicast objects; null if the platform has none.
  virtual Multicasts *multicasts() { return nullptr; }
};

/// Restores the device of the calling thread at the end of a scope.
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
/// Makes the platform for CUDA. Fails with MSCCLC_ERROR_UNSUPPORTED in a build without CUDA, and on a machine without a
/// device.
Status createCudaPlatform(std::unique_ptr<Platform> &platform);
/// Makes the platform of this kind (MscclcPlatform).
Status createPlatform(uint32_t kind, std::unique_ptr<Platform> &platform);

} // namespace mscclc::rt
