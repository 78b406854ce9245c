// The C interface of communicators, buffers and instances. It checks handles, keeps the objects of a communicator, and
// reports failures.
#include "communicator/communicator.h"
#include "communicator/instance.h"
#include "communicator/left.h"
#include "kernels/kernel_facts.h"
#include "kernels/only_runtime.h"

#include <algorithm>
#include <cstring>

using namespace mscclc::rt;

struct MscclcBuffer {
  MscclcCommunicator *owner;
  std::unique_ptr<Memory> region;
};

struct MscclcCommunicator {
  ~MscclcCommunicator() {
    const DeviceGuard guard(communicator->platform());
    communicator->removeAll();
    buffers.clear();
  }
  const std::unique_ptr<Communicator> communicator;
  std::vector<std::unique_ptr<MscclcBuffer>> buffers;
};

namespace {

/// Returns the instance of a handle. The handle is the instance's address.
const Instance *of(const MscclcInstance *handle) {
  return reinterpret_cast<const Instance *>(handle);
}
Instance *of(MscclcInstance *handle) {
  return reinterpret_cast<Instance *>(handle);
}

/// Returns a guard that restores the caller's current device at the end of the call.
DeviceGuard keepDevice(const MscclcCommunicator *communicator) {
  return DeviceGuard(communicator->communicator->platform());
}

Status noHandle(const char *what) {
  return failure(MSCCLC_ERROR_ARGUMENT, "no %s", what);
}

/// The longest wait for the end of a graph. CUDA reports that end only some time after it.
constexpr std::chrono::milliseconds patience{1000};

/// Ends an object: waits until the launches of this process are over, and calls `close`. When retire() has returned,
/// this process may leave the communicator. With `together`, `close` is called only when the launches of all processes
/// are over, and retire() returns only when all processes have called `close`, so memory may then be freed. If the
/// communicator has failed, processes do not wait for each other. If `lasts()` says that a graph holds the object, in
/// this process or, with `together`, in any process, the object stays: `close` is not called, and the result is
/// MSCCLC_ERROR_IN_GRAPH.
template <class Lasts, class Close>
Status retire(Communicator &communicator, const std::string &what, bool together, Lasts lasts, Close close) {
  Status status = communicator.settle();
  const bool isWell = status.ok() && communicator.health().ok();
  std::vector<Message> all;
  if (isWell && lasts())
    status = failure(MSCCLC_ERROR_IN_GRAPH, "%s: a graph has captured launches of it; destroy the graph before",
                     what.c_str());
  if (isWell && together) {
    status = communicator.meeting().agree(what + ": launches are over", status, {}, all);
    if (all.empty())
      communicator.fail(status);
  } else if (isWell && status.ok()) {
    status = communicator.drainPorts();
  }
  if (status.code == MSCCLC_ERROR_IN_GRAPH)
    return status;
  close();
  if (!isWell || !status.ok() || !together)
    return status;
  status = communicator.meeting().exchange(what + ": unmapped", {}, all);
  if (!status.ok()) // another process may still use the object
    communicator.fail(status);
  return status;
}

Status checkLocal(const MscclcBuffer &buffer, uint32_t rank, uint64_t offset, uint64_t bytes) {
  if (!buffer.owner->communicator->isLocal(rank))
    return failure(MSCCLC_ERROR_ARGUMENT, "rank %u is not in this process", rank);
  if (offset > buffer.region->bytes() || bytes > buffer.region->bytes() - offset)
    return failure(MSCCLC_ERROR_ARGUMENT, "%llu bytes at offset %llu of a buffer of %llu", wide(bytes), wide(offset),
                   wide(buffer.region->bytes()));
  return {};
}

char *placeOf(const MscclcBuffer &buffer, uint32_t rank, uint64_t offset) {
  return buffer.region->at(rank - buffer.owner->communicator->firstLocalRank(), rank) + offset;
}

int32_t keep(MscclcCommunicator *communicator, const Status &status, std::unique_ptr<Memory> region,
             MscclcBuffer **buffer) {
  if (!status.ok())
    return report(status);
  communicator->buffers.emplace_back(new MscclcBuffer{communicator, std::move(region)});
  *buffer = communicator->buffers.back().get();
  return MSCCLC_OK;
}

/// Releases a buffer. Waits at most for the time `wait` until the graphs that hold the buffer have ended.
int32_t release(MscclcBuffer *buffer, std::chrono::milliseconds wait) {
  if (buffer == nullptr)
    return MSCCLC_OK;
  const DeviceGuard guard = keepDevice(buffer->owner);
  MscclcCommunicator *const owner = buffer->owner;
  const auto lasts = [&] { return buffer->region->graphs().lasts(wait); };
  const Status status = retire(*owner->communicator, "release a buffer", true, lasts, [&] {
    for (const auto &instance : owner->communicator->instances())
      for (const std::unique_ptr<Ports> &ports : instance->ports())
        ports->forget(buffer->region.get());
    buffer->region->disconnect();
  });
  if (status.code != MSCCLC_ERROR_IN_GRAPH)
    owner->buffers.erase(std::find_if(owner->buffers.begin(), owner->buffers.end(),
                                      [&](const auto &entry) { return entry.get() == buffer; }));
  return report(status);
}

/// Ends this process's part in a communicator. If the result is MSCCLC_ERROR_IN_GRAPH, nothing has ended.
Status leave(MscclcCommunicator &handle) {
  Communicator &communicator = *handle.communicator;
  const DeviceGuard guard = keepDevice(&handle);
  // A graph that holds a buffer also holds an instance.
  const auto lasts = [&] {
    return std::any_of(communicator.instances().begin(), communicator.instances().end(),
                       [](const auto &instance) { return instance->graphs().lasts(patience); });
  };
  const auto close = [&] {
    for (const auto &instance : communicator.instances())
      instance->disconnect();
    for (const auto &entry : handle.buffers)
      entry->region->disconnect();
  };
  Status status = retire(communicator, "destroy communicator", !communicator.outlasts(), lasts, close);
  if (status.code != MSCCLC_ERROR_IN_GRAPH)
    communicator.leave();
  return status;
}

/// Passes the communicator of `handle` to `call`, and reports the result. Fails if the handle is null.
template <class Do> int32_t on(MscclcCommunicator *handle, Do call) {
  if (handle == nullptr)
    return report(noHandle("communicator"));
  const DeviceGuard guard = keepDevice(handle);
  return report(call(*handle->communicator));
}

/// Copies from the host (`from`) to a local rank's part of a buffer. If `from` is null, copies from that part to the
/// host (`to`).
int32_t copyPart(const MscclcBuffer *buffer, uint32_t rank, uint64_t offset, void *to, const void *from,
                 uint64_t bytes) {
  if (buffer == nullptr || (to == nullptr && from == nullptr && bytes != 0))
    return report(noHandle("buffer, or nothing to copy"));
  const DeviceGuard guard = keepDevice(buffer->owner);
  if (Status status = checkLocal(*buffer, rank, offset, bytes); !status.ok() || bytes == 0)
    return report(status);
  Communicator &communicator = *buffer->owner->communicator;
  char *const part = placeOf(*buffer, rank, offset);
  return report(communicator.platform().copy(communicator.device(rank - communicator.firstLocalRank()),
                                             from != nullptr ? part : to, from != nullptr ? from : part, bytes));
}

std::string sized(const char *what, uint64_t bytes) {
  return format("%s of %llu bytes", what, wide(bytes));
}

} // namespace

extern "C" {

void mscclc_communicator_options_init(MscclcCommunicatorOptions *options) {
  *options = MscclcCommunicatorOptions{};
  options->options_bytes = sizeof(*options);
}

int32_t mscclc_communicator_create(const MscclcCommunicatorOptions *options, MscclcCommunicator **communicator) {
  if (options == nullptr || communicator == nullptr)
    return report(noHandle("options, or nowhere to put the communicator"));
  if (options->options_bytes != sizeof(*options))
    return report(failure(MSCCLC_ERROR_ARGUMENT,
                          "the options have %u bytes, not %zu: call mscclc_communicator_options_init",
                          options->options_bytes, sizeof(*options)));
  if (Status status = useRuntime(); !status.ok())
    return report(status);
  std::unique_ptr<Communicator> made;
  if (Status status = Communicator::create(*options, made); !status.ok())
    return report(status);
  *communicator = new MscclcCommunicator{std::move(made), {}};
  return MSCCLC_OK;
}

int32_t mscclc_communicator_create_nccl(void *nccl, MscclcCommunicator **communicator) {
  MscclcCommunicatorOptions options;
  mscclc_communicator_options_init(&options);
  options.nccl = &nccl;
  return mscclc_communicator_create(&options, communicator);
}

int32_t mscclc_communicator_destroy(MscclcCommunicator *handle) {
  if (handle == nullptr)
    return MSCCLC_OK;
  const Status status = leave(*handle);
  if (status.code == MSCCLC_ERROR_IN_GRAPH)
    return report(status);
  const std::shared_ptr<MscclcCommunicator> owned(handle);
  if (handle->communicator->outlasts())
    keepUntilAllLeft(*handle->communicator, owned);
  return report(status);
}

uint32_t mscclc_communicator_ranks(const MscclcCommunicator *communicator) {
  return communicator->communicator->ranks();
}
uint32_t mscclc_communicator_first_local_rank(const MscclcCommunicator *communicator) {
  return communicator->communicator->firstLocalRank();
}
uint32_t mscclc_communicator_local_ranks(const MscclcCommunicator *communicator) {
  return communicator->communicator->localRanks();
}
int32_t mscclc_communicator_device(const MscclcCommunicator *communicator, uint32_t local_rank_index) {
  return local_rank_index < communicator->communicator->localRanks()
             ? communicator->communicator->device(local_rank_index)
             : -1;
}
uint32_t mscclc_communicator_platform(const MscclcCommunicator *communicator) {
  return communicator->communicator->platform().kind();
}
void *mscclc_communicator_stream(const MscclcCommunicator *communicator, uint32_t rank) {
  return communicator->communicator->isLocal(rank)
             ? communicator->communicator->stream(rank - communicator->communicator->firstLocalRank())
             : nullptr;
}

int32_t mscclc_communicator_synchronize(MscclcCommunicator *communicator) {
  return on(communicator, [](Communicator &c) {
    const Status settled = c.settle();
    const Status health = c.explainedHealth();
    return health.ok() ? settled : health;
  });
}

int32_t mscclc_communicator_barrier(MscclcCommunicator *communicator) {
  return on(communicator, [](Communicator &c) {
    std::vector<Message> all;
    return c.meeting().exchange("barrier", {}, all);
  });
}

int32_t mscclc_communicator_health(MscclcCommunicator *communicator) {
  return on(communicator, [](Communicator &c) {
    c.watch().look();
    return c.explainedHealth();
  });
}

int32_t mscclc_communicator_abort(MscclcCommunicator *communicator, const char *reason) {
  return on(communicator, [&](Communicator &c) {
    c.fail({MSCCLC_ERROR_ABORTED, reason == nullptr ? "aborted" : reason});
    return Status{};
  });
}

int32_t mscclc_communicator_detach_nccl(MscclcCommunicator *communicator) {
  return on(communicator, [](Communicator &c) {
    c.watch().forgetLaunches(nullptr);
    c.engine().detach();
    return Status{};
  });
}

int32_t mscclc_communicator_reset(MscclcCommunicator *communicator) {
  return on(communicator, [](Communicator &c) { return c.reset(); });
}

int32_t mscclc_buffer_allocate(MscclcCommunicator *communicator, uint64_t bytes, MscclcBuffer **buffer) {
  if (communicator == nullptr || buffer == nullptr)
    return report(noHandle("communicator, or nowhere to put the buffer"));
  const DeviceGuard guard = keepDevice(communicator);
  std::unique_ptr<Memory> region;
  const Status status = communicator->communicator->allocate(sized("allocate a buffer", bytes), bytes, true, region);
  return keep(communicator, status, std::move(region), buffer);
}

int32_t mscclc_buffer_register(MscclcCommunicator *communicator, void *const *pointers, uint64_t bytes,
                               MscclcBuffer **buffer) {
  if (communicator == nullptr || pointers == nullptr || buffer == nullptr)
    return report(noHandle("communicator or pointers, or nowhere to put the buffer"));
  const DeviceGuard guard = keepDevice(communicator);
  std::unique_ptr<Memory> region = communicator->communicator->engine().memory(bytes);
  const Status status = region->adopt(sized("register a buffer", bytes), pointers);
  return keep(communicator, status, std::move(region), buffer);
}

int32_t mscclc_buffer_release(MscclcBuffer *buffer) {
  return release(buffer, patience);
}

int32_t mscclc_buffer_try_release(MscclcBuffer *buffer) {
  return release(buffer, {});
}

int32_t mscclc_buffer_find(const MscclcCommunicator *communicator, uint32_t rank, const void *pointer, uint64_t bytes,
                           const MscclcBuffer **buffer, uint64_t *offset) {
  if (communicator == nullptr || buffer == nullptr || offset == nullptr)
    return report(noHandle("communicator, or nowhere to put the buffer"));
  if (!communicator->communicator->isLocal(rank))
    return report(failure(MSCCLC_ERROR_ARGUMENT, "rank %u is not in this process", rank));
  *buffer = nullptr;
  *offset = 0;
  for (const auto &entry : communicator->buffers) {
    const uint64_t size = entry->region->bytes();
    const auto begin = reinterpret_cast<uintptr_t>(placeOf(*entry, rank, 0));
    const uint64_t at = reinterpret_cast<uintptr_t>(pointer) - begin;
    if (at >= size || bytes > size - at)
      continue;
    *buffer = entry.get();
    *offset = at;
    break;
  }
  return MSCCLC_OK;
}

uint64_t mscclc_buffer_bytes(const MscclcBuffer *buffer) {
  return buffer->region->bytes();
}

void *mscclc_buffer_address(const MscclcBuffer *buffer, uint32_t rank) {
  return buffer->owner->communicator->isLocal(rank) ? placeOf(*buffer, rank, 0) : nullptr;
}

uint32_t mscclc_buffer_multicast(const MscclcBuffer *buffer) {
  return buffer->region->multicast(0) != nullptr ? 1 : 0;
}

int32_t mscclc_buffer_write(MscclcBuffer *buffer, uint32_t rank, uint64_t offset, const void *from, uint64_t bytes) {
  return copyPart(buffer, rank, offset, nullptr, from, bytes);
}

int32_t mscclc_buffer_read(const MscclcBuffer *buffer, uint32_t rank, uint64_t offset, void *to, uint64_t bytes) {
  return copyPart(buffer, rank, offset, to, nullptr, bytes);
}

int32_t mscclc_instance_create(MscclcCommunicator *communicator, const MscclcKernel *kernel, uint64_t max_message_bytes,
                               MscclcInstance **instance) {
  return mscclc_instance_create_for_rows(communicator, kernel, max_message_bytes, 0, instance);
}

int32_t mscclc_instance_create_for_rows(MscclcCommunicator *communicator, const MscclcKernel *kernel,
                                        uint64_t max_message_bytes, uint64_t max_row_bytes, MscclcInstance **instance) {
  if (communicator == nullptr || kernel == nullptr || instance == nullptr)
    return report(noHandle("communicator or kernel, or nowhere to put the instance"));
  const DeviceGuard guard = keepDevice(communicator);
  Instance *made = nullptr;
  const Status status = Instance::create(*communicator->communicator, *kernel, max_message_bytes, max_row_bytes, made);
  if (status.ok())
    *instance = reinterpret_cast<MscclcInstance *>(made);
  return report(status);
}

int32_t mscclc_instance_destroy(MscclcInstance *instance) {
  if (instance == nullptr)
    return MSCCLC_OK;
  Communicator &communicator = of(instance)->communicator();
  const DeviceGuard guard(communicator.platform());
  const auto lasts = [&] { return of(instance)->graphs().lasts(patience); };
  const Status status = retire(communicator, "destroy an instance", true, lasts, [&] { of(instance)->disconnect(); });
  if (status.code != MSCCLC_ERROR_IN_GRAPH)
    communicator.remove(of(instance));
  return report(status);
}

const MscclcKernel *mscclc_instance_kernel(const MscclcInstance *instance) {
  return &of(instance)->kernel();
}

uint64_t mscclc_instance_scratch_bytes(const MscclcInstance *instance) {
  return of(instance)->scratchBytes();
}

void mscclc_call_init(MscclcCall *call) {
  *call = MscclcCall{};
  call->call_bytes = sizeof(*call);
}

int32_t mscclc_launch(MscclcInstance *instance, const MscclcCall *call) {
  if (instance == nullptr || call == nullptr)
    return report(noHandle("instance or call"));
  if (call->call_bytes != sizeof(*call))
    return report(failure(MSCCLC_ERROR_ARGUMENT, "the call structure has %u bytes, not %zu: call mscclc_call_init",
                          call->call_bytes, sizeof(*call)));
  if (call->num_arrays != 0 && call->arrays == nullptr)
    return report(failure(MSCCLC_ERROR_ARGUMENT, "no arrays, and their number is %u", call->num_arrays));
  for (const MscclcBuffer *buffer : {call->input, call->output})
    if (buffer != nullptr && buffer->owner->communicator.get() != &of(instance)->communicator())
      return report(failure(MSCCLC_ERROR_ARGUMENT, "the buffer is of another communicator"));
  const DeviceGuard guard(of(instance)->communicator().platform());
  const auto memoryOf = [](const MscclcBuffer *buffer) { return buffer == nullptr ? nullptr : buffer->region.get(); };
  return report(of(instance)->launch(*call, memoryOf(call->input), memoryOf(call->output)));
}
}
