// The C interface of worlds, buffers and instances: checks handles, keeps what belongs to a world, reports failures.
#include "instance.h"
#include "kernel_facts.h"
#include "world.h"

#include <algorithm>
#include <cstring>

using namespace mscclc::rt;

struct MscclcBuffer {
  MscclcWorld *owner;
  std::unique_ptr<Region> region;
};

struct MscclcInstance {
  MscclcWorld *owner;
  std::unique_ptr<Instance> instance;
};

struct MscclcWorld {
  std::unique_ptr<World> world;
  std::vector<std::unique_ptr<MscclcBuffer>> buffers;
  std::vector<std::unique_ptr<MscclcInstance>> instances;
};

namespace {

/// Every call that touches devices leaves the caller's as it was.
DeviceGuard keepDevice(const MscclcWorld *world) {
  return DeviceGuard(world->world->platform());
}

Status noHandle(const char *what) {
  return failure(MSCCLC_ERROR_ARGUMENT, "no %s", what);
}

template <class T> void dropFrom(std::vector<std::unique_ptr<T>> &all, const T *gone) {
  all.erase(std::remove_if(all.begin(), all.end(), [&](const auto &entry) { return entry.get() == gone; }), all.end());
}

/// Everybody's launches are over, then everybody has unmapped what is not his: after that memory may be freed. A world
/// that has failed is taken down without waiting for anybody.
template <class Close> Status retire(World &world, const std::string &what, Close close) {
  MSCCLC_TRY(world.settle());
  const bool together = world.health().ok();
  if (together)
    MSCCLC_TRY(world.barrier(what + ": launches are over"));
  close();
  return together ? world.barrier(what + ": unmapped") : Status{};
}

Status checkLocal(const MscclcBuffer &buffer, uint32_t rank, uint64_t offset, uint64_t bytes) {
  if (!buffer.owner->world->isLocal(rank))
    return failure(MSCCLC_ERROR_ARGUMENT, "rank %u is not in this process", rank);
  if (offset > buffer.region->bytes() || bytes > buffer.region->bytes() - offset)
    return failure(MSCCLC_ERROR_ARGUMENT, "%llu bytes at offset %llu of a buffer of %llu",
                   static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset),
                   static_cast<unsigned long long>(buffer.region->bytes()));
  return {};
}

char *placeOf(const MscclcBuffer &buffer, uint32_t rank, uint64_t offset) {
  return static_cast<char *>(buffer.region->at(rank - buffer.owner->world->firstLocalRank(), rank)) + offset;
}

int32_t keep(MscclcWorld *world, const Status &status, std::unique_ptr<Region> region, MscclcBuffer **buffer) {
  if (!status.ok())
    return report(status);
  world->buffers.emplace_back(new MscclcBuffer{world, std::move(region)});
  *buffer = world->buffers.back().get();
  return MSCCLC_OK;
}

std::string sized(const char *what, uint64_t bytes) {
  return format("%s of %llu bytes", what, static_cast<unsigned long long>(bytes));
}

} // namespace

extern "C" {

void mscclc_world_options_init(MscclcWorldOptions *options) {
  *options = MscclcWorldOptions{};
  options->options_bytes = sizeof(*options);
}

int32_t mscclc_world_create(const MscclcWorldOptions *options, MscclcWorld **world) {
  if (options == nullptr || world == nullptr)
    return report(noHandle("options, or nowhere to put the world"));
  if (options->options_bytes != sizeof(*options))
    return report(failure(MSCCLC_ERROR_ARGUMENT, "options of %u bytes, not %zu: call mscclc_world_options_init",
                          options->options_bytes, sizeof(*options)));
  auto made = std::make_unique<MscclcWorld>();
  if (Status status = World::create(*options, made->world); !status.ok())
    return report(status);
  *world = made.release();
  return MSCCLC_OK;
}

int32_t mscclc_world_destroy(MscclcWorld *handle) {
  if (handle == nullptr)
    return MSCCLC_OK;
  const std::unique_ptr<MscclcWorld> owned(handle);
  const DeviceGuard guard = keepDevice(handle);
  World &world = *handle->world;
  const Status status = retire(world, "destroy world", [&] {
    for (const auto &entry : handle->instances)
      entry->instance->closeRemote();
    for (const auto &entry : handle->buffers)
      entry->region->closeRemote();
  });
  world.rendezvous().leave();
  handle->instances.clear();
  handle->buffers.clear();
  return report(status);
}

uint32_t mscclc_world_ranks(const MscclcWorld *world) {
  return world->world->ranks();
}
uint32_t mscclc_world_first_local_rank(const MscclcWorld *world) {
  return world->world->firstLocalRank();
}
uint32_t mscclc_world_local_ranks(const MscclcWorld *world) {
  return world->world->localRanks();
}
int32_t mscclc_world_device(const MscclcWorld *world, uint32_t local_rank_index) {
  return local_rank_index < world->world->localRanks() ? world->world->device(local_rank_index) : -1;
}
uint32_t mscclc_world_platform(const MscclcWorld *world) {
  return world->world->platform().kind();
}
void *mscclc_world_stream(const MscclcWorld *world, uint32_t rank) {
  return world->world->isLocal(rank) ? world->world->stream(rank - world->world->firstLocalRank()) : nullptr;
}

int32_t mscclc_world_synchronize(MscclcWorld *world) {
  if (world == nullptr)
    return report(noHandle("world"));
  const DeviceGuard guard = keepDevice(world);
  const Status settled = world->world->settle();
  const Status health = world->world->health();
  return report(health.ok() ? settled : health);
}

int32_t mscclc_world_barrier(MscclcWorld *world) {
  return report(world == nullptr ? noHandle("world") : world->world->barrier("barrier"));
}

int32_t mscclc_world_health(MscclcWorld *world) {
  return report(world == nullptr ? noHandle("world") : world->world->health());
}

int32_t mscclc_world_abort(MscclcWorld *world, const char *reason) {
  if (world == nullptr)
    return report(noHandle("world"));
  world->world->fail({MSCCLC_ERROR_ABORTED, reason == nullptr ? "aborted" : reason});
  return MSCCLC_OK;
}

int32_t mscclc_world_reset(MscclcWorld *world) {
  if (world == nullptr)
    return report(noHandle("world"));
  const DeviceGuard guard = keepDevice(world);
  return report(world->world->reset());
}

int32_t mscclc_buffer_allocate(MscclcWorld *world, uint64_t bytes, MscclcBuffer **buffer) {
  if (world == nullptr || buffer == nullptr)
    return report(noHandle("world, or nowhere to put the buffer"));
  const DeviceGuard guard = keepDevice(world);
  std::unique_ptr<Region> region;
  const Status status =
      Region::allocate(*world->world, bytes, MemoryKind::Multicast, sized("allocate a buffer", bytes), region);
  return keep(world, status, std::move(region), buffer);
}

int32_t mscclc_buffer_register(MscclcWorld *world, void *const *pointers, uint64_t bytes, MscclcBuffer **buffer) {
  if (world == nullptr || pointers == nullptr || buffer == nullptr)
    return report(noHandle("world or pointers, or nowhere to put the buffer"));
  const DeviceGuard guard = keepDevice(world);
  std::unique_ptr<Region> region;
  const Status status = Region::adopt(*world->world, pointers, bytes, sized("register a buffer", bytes), region);
  return keep(world, status, std::move(region), buffer);
}

int32_t mscclc_buffer_release(MscclcBuffer *buffer) {
  if (buffer == nullptr)
    return MSCCLC_OK;
  const DeviceGuard guard = keepDevice(buffer->owner);
  MscclcWorld *const owner = buffer->owner;
  const Status status = retire(*owner->world, "release a buffer", [&] {
    for (const auto &entry : owner->instances)
      entry->instance->forget(buffer->region.get());
    buffer->region->closeRemote();
  });
  dropFrom(owner->buffers, buffer);
  return report(status);
}

uint64_t mscclc_buffer_bytes(const MscclcBuffer *buffer) {
  return buffer->region->bytes();
}

void *mscclc_buffer_address(const MscclcBuffer *buffer, uint32_t rank) {
  return buffer->owner->world->isLocal(rank) ? placeOf(*buffer, rank, 0) : nullptr;
}

uint32_t mscclc_buffer_multicast(const MscclcBuffer *buffer) {
  return buffer->region->multicast() != nullptr ? 1 : 0;
}

int32_t mscclc_buffer_write(MscclcBuffer *buffer, uint32_t rank, uint64_t offset, const void *from, uint64_t bytes) {
  if (buffer == nullptr || (from == nullptr && bytes != 0))
    return report(noHandle("buffer, or nothing to write"));
  const DeviceGuard guard = keepDevice(buffer->owner);
  if (Status status = checkLocal(*buffer, rank, offset, bytes); !status.ok() || bytes == 0)
    return report(status);
  World &world = *buffer->owner->world;
  return report(
      world.platform().copy(world.device(rank - world.firstLocalRank()), placeOf(*buffer, rank, offset), from, bytes));
}

int32_t mscclc_buffer_read(const MscclcBuffer *buffer, uint32_t rank, uint64_t offset, void *to, uint64_t bytes) {
  if (buffer == nullptr || (to == nullptr && bytes != 0))
    return report(noHandle("buffer, or nowhere to read to"));
  const DeviceGuard guard = keepDevice(buffer->owner);
  if (Status status = checkLocal(*buffer, rank, offset, bytes); !status.ok() || bytes == 0)
    return report(status);
  World &world = *buffer->owner->world;
  return report(
      world.platform().copy(world.device(rank - world.firstLocalRank()), to, placeOf(*buffer, rank, offset), bytes));
}

int32_t mscclc_instance_create(MscclcWorld *world, const MscclcKernel *kernel, uint64_t max_message_bytes,
                               MscclcInstance **instance) {
  if (world == nullptr || kernel == nullptr || instance == nullptr)
    return report(noHandle("world or kernel, or nowhere to put the instance"));
  const DeviceGuard guard = keepDevice(world);
  std::unique_ptr<Instance> made;
  if (Status status = Instance::create(*world->world, *kernel, max_message_bytes, made); !status.ok())
    return report(status);
  world->instances.emplace_back(new MscclcInstance{world, std::move(made)});
  *instance = world->instances.back().get();
  return MSCCLC_OK;
}

int32_t mscclc_instance_destroy(MscclcInstance *instance) {
  if (instance == nullptr)
    return MSCCLC_OK;
  const DeviceGuard guard = keepDevice(instance->owner);
  MscclcWorld *const owner = instance->owner;
  const Status status = retire(*owner->world, "destroy an instance", [&] { instance->instance->closeRemote(); });
  dropFrom(owner->instances, instance);
  return report(status);
}

const MscclcKernel *mscclc_instance_kernel(const MscclcInstance *instance) {
  return &instance->instance->kernel();
}

uint64_t mscclc_instance_scratch_bytes(const MscclcInstance *instance) {
  return instance->instance->scratchBytes();
}

void mscclc_call_init(MscclcCall *call) {
  *call = MscclcCall{};
  call->call_bytes = sizeof(*call);
}

int32_t mscclc_launch(MscclcInstance *instance, const MscclcCall *call) {
  if (instance == nullptr || call == nullptr)
    return report(noHandle("instance or call"));
  if (call->call_bytes != sizeof(*call))
    return report(failure(MSCCLC_ERROR_ARGUMENT, "a call of %u bytes, not %zu: call mscclc_call_init", call->call_bytes,
                          sizeof(*call)));
  for (const MscclcBuffer *buffer : {call->input, call->output})
    if (buffer != nullptr && buffer->owner != instance->owner)
      return report(failure(MSCCLC_ERROR_ARGUMENT, "a buffer of another world"));
  const DeviceGuard guard = keepDevice(instance->owner);
  return report(instance->instance->launch(*call, call->input == nullptr ? nullptr : call->input->region.get(),
                                           call->output == nullptr ? nullptr : call->output->region.get()));
}
}
