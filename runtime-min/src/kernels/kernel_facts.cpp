#include "kernels/kernel_facts.h"

#include <algorithm>
#include <iterator>

namespace mscclc::rt {

namespace {

/// True if the description has everything that a launcher needs.
bool isComplete(const MscclcKernel &k) {
  if (k.name == nullptr || k.collective == nullptr || k.ranks == 0 || k.threads == 0 || k.num_variants == 0 ||
      k.variants == nullptr || k.input_bytes == nullptr || k.output_bytes == nullptr || k.useful_threads == nullptr ||
      k.scratch_stride == nullptr || k.scratch_bytes == nullptr || k.rank_info == nullptr ||
      (k.num_arrays != 0 && k.arrays == nullptr))
    return false;
  for (uint32_t i = 0; i < k.num_variants; ++i)
    if (k.variants[i].launch == nullptr || k.variants[i].resident_blocks == nullptr)
      return false;
  for (uint32_t rank = 0; rank < k.ranks; ++rank) {
    MscclcRankInfo info{};
    k.rank_info(rank, &info);
    if ((info.memory_channels + info.port_channels != 0 && k.channel_info == nullptr) ||
        (info.switch_channels != 0 && (k.switch_info == nullptr || k.switch_member == nullptr)) ||
        (info.remote_buffers != 0 && k.remote_buffer_info == nullptr) ||
        (info.semaphores != 0 && k.semaphore_value == nullptr))
      return false;
  }
  return true;
}

} // namespace

Status checkDescription(const MscclcKernel *kernel) {
  if (kernel == nullptr)
    return failure(MSCCLC_ERROR_ARGUMENT, "no kernel");
  if (kernel->abi_magic != MSCCLC_ABI_MAGIC)
    return failure(MSCCLC_ERROR_KERNEL, "this is not the description of a kernel (magic 0x%08x)", kernel->abi_magic);
  if (kernel->abi_version != MSCCLC_ABI_VERSION)
    return failure(MSCCLC_ERROR_KERNEL, "the kernel has ABI version %u; this library runs version %u",
                   kernel->abi_version, MSCCLC_ABI_VERSION);
  if (!isComplete(*kernel))
    return failure(MSCCLC_ERROR_KERNEL, "the description of kernel '%s' is not complete",
                   kernel->name == nullptr ? "" : kernel->name);
  return {};
}

std::string identityOf(const MscclcKernel &kernel) {
  std::string identity;
  for (const char *text : {kernel.name, kernel.tool, kernel.source, kernel.switches, kernel.digest})
    identity += std::string(text == nullptr ? "" : text) + "\n";
  for (uint32_t i = 0; i < kernel.num_variants; ++i) {
    const MscclcVariant &variant = kernel.variants[i];
    identity += format("%u %u %u\n", variant.dtype, variant.reduce_op, variant.packet);
  }
  return identity;
}

Status checkPlatform(const MscclcKernel &kernel, uint32_t platform) {
  uint32_t blocks = 0;
  const bool forHost = kernel.num_variants != 0 && kernel.variants[0].resident_blocks(1, &blocks) == MSCCLC_OK &&
                       blocks == MSCCLC_ON_HOST;
  if (forHost == (platform == MSCCLC_PLATFORM_HOST))
    return {};
  return failure(MSCCLC_ERROR_KERNEL, "kernel '%s' was built for %s, the communicator is on %s", kernel.name,
                 forHost ? "the CPU stand-in" : "CUDA devices", forHost ? "CUDA devices" : "the host");
}

Status checkMessage(const MscclcKernel &kernel, uint64_t bytes, uint32_t dtype) {
  const auto size = wide(bytes);
  if (bytes < kernel.min_message_bytes || bytes > kernel.max_message_bytes)
    return failure(MSCCLC_ERROR_SIZE, "kernel '%s' takes messages of %llu to %llu bytes, not of %llu", kernel.name,
                   wide(kernel.min_message_bytes), wide(kernel.max_message_bytes), size);
  const uint32_t element = bytesOfType(dtype);
  if (element == 0)
    return failure(MSCCLC_ERROR_ARGUMENT, "no element type %u", dtype);
  if (kernel.message_shares != 0 && bytes % (uint64_t{kernel.message_shares} * element) != 0)
    return failure(MSCCLC_ERROR_SIZE,
                   "kernel '%s' takes messages of %u equal shares of whole %s: %llu is no multiple of %u", kernel.name,
                   kernel.message_shares, nameOfType(dtype), size, kernel.message_shares * element);
  const uint64_t block = uint64_t{std::max(kernel.block_elements, 1u)} * element;
  if (bytes / std::max(kernel.message_shares, 1u) % block != 0)
    return failure(
        MSCCLC_ERROR_SIZE,
        "a hook or wire format of kernel '%s' takes blocks of %u elements: a share of %llu bytes does not consist of "
        "whole blocks of %llu bytes",
        kernel.name, kernel.block_elements, size / std::max(kernel.message_shares, 1u), wide(block));
  return {};
}

Status checkRows(const MscclcKernel &kernel, uint64_t bytes, uint64_t rowBytes, uint32_t dtype) {
  const bool takesRows = (kernel.flags & MSCCLC_TAKES_ROWS) != 0;
  if (takesRows != (rowBytes != 0))
    return failure(MSCCLC_ERROR_ROWS,
                   takesRows ? "kernel '%s' takes rows: say how long they are"
                             : "kernel '%s' takes no rows, and a length of them is given",
                   kernel.name);
  if (!takesRows)
    return {};
  if (rowBytes % bytesOfType(dtype) != 0)
    return failure(MSCCLC_ERROR_ROWS, "kernel '%s': rows of %llu bytes do not consist of whole %s", kernel.name,
                   wide(rowBytes), nameOfType(dtype));
  const uint64_t share = bytes / std::max(kernel.message_shares, 1u);
  if (share % rowBytes != 0)
    return failure(MSCCLC_ERROR_ROWS, "kernel '%s': a share of %llu bytes does not consist of whole rows of %llu bytes",
                   kernel.name, wide(share), wide(rowBytes));
  return {};
}

bool isPrivate(const MscclcKernel &kernel, uint32_t buffer) {
  // The proxy of a port copies only from registered memory.
  if ((kernel.flags & MSCCLC_NEEDS_PORT) != 0)
    return false;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank) {
    MscclcRankInfo info{};
    kernel.rank_info(rank, &info);
    for (uint32_t k = 0; k < info.remote_buffers; ++k) {
      MscclcRemoteBufferInfo remote{};
      kernel.remote_buffer_info(rank, k, &remote);
      if (remote.buffer == buffer)
        return false;
    }
    for (uint32_t k = 0; k < info.switch_channels; ++k) {
      MscclcSwitchInfo group{};
      kernel.switch_info(rank, k, &group);
      if (group.buffer == buffer)
        return false;
    }
  }
  return true;
}

const MscclcVariant *findVariant(const MscclcKernel &kernel, uint32_t dtype, uint32_t reduceOp, uint32_t packet) {
  for (uint32_t i = 0; i < kernel.num_variants; ++i) {
    const MscclcVariant &variant = kernel.variants[i];
    const bool type = variant.dtype == dtype || variant.dtype == MSCCLC_ANY_DTYPE;
    const bool op = variant.reduce_op == reduceOp || variant.reduce_op == MSCCLC_NO_REDUCE ||
                    variant.reduce_op == MSCCLC_MIXED_REDUCE;
    if (type && op && (packet == MSCCLC_NO_PACKET || variant.packet == MSCCLC_NO_PACKET || variant.packet == packet))
      return &variant;
  }
  return nullptr;
}

std::vector<MscclcChannelInfo> channelsOf(const MscclcKernel &kernel, uint32_t rank, MscclcChannelType type) {
  MscclcRankInfo info{};
  kernel.rank_info(rank, &info);
  std::vector<MscclcChannelInfo> channels(type == MSCCLC_PORT ? info.port_channels : info.memory_channels);
  for (uint32_t k = 0; k < channels.size(); ++k)
    kernel.channel_info(rank, type, k, &channels[k]);
  return channels;
}

// Numbers of types and operations come from callers and from kernels of other versions, so they may be unknown.
namespace {

struct Named {
  uint32_t number;
  const char *name;
  uint32_t bytes;
};
constexpr Named types[] = {
#define MSCCLC_DTYPE(id, number, bytes, name, type) {number, name, bytes},
#include "mscclc/dtypes.def"
    {MSCCLC_ANY_DTYPE, "?", 0},
};
constexpr Named operations[] = {
#define MSCCLC_REDUCE_OP(id, number, name, type) {number, name, 0},
#include "mscclc/reduce_ops.def"
    {MSCCLC_NO_REDUCE, "none", 0},
    {MSCCLC_MIXED_REDUCE, "mixed", 0},
};

template <size_t Count> Named find(const Named (&all)[Count], uint32_t number) {
  const auto *const found =
      std::find_if(std::begin(all), std::end(all), [&](const Named &one) { return one.number == number; });
  return found == std::end(all) ? Named{number, "?", 0} : *found;
}

} // namespace

uint32_t bytesOfType(uint32_t dtype) {
  return find(types, dtype).bytes;
}

const char *nameOfType(uint32_t dtype) {
  return find(types, dtype).name;
}

/// Only the names of floats begin with these letters: "f16", "bf16".
bool isFloat(uint32_t dtype) {
  const char first = *nameOfType(dtype);
  return first == 'f' || first == 'b';
}

const char *nameOfReduceOp(uint32_t reduceOp) {
  return find(operations, reduceOp).name;
}

} // namespace mscclc::rt
