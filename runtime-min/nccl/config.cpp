#include "config.h"

#include <climits>
#include <cstddef>
#include <cstring>

namespace mscclc::nccl {
namespace {

constexpr unsigned magic = 0xcafebeef; // NCCL_API_MAGIC
constexpr int undefined = INT_MIN;     // NCCL_CONFIG_UNDEF_INT

static_assert(offsetof(CollConfig, maxCtas) == 28 && offsetof(CollConfig, algorithms) == 40 &&
                  offsetof(CollConfig, policy) == 52 && offsetof(CollConfig, event) == 64 && sizeof(CollConfig) == 72,
              "as NCCL has it");

bool isSet(int value) {
  return value != undefined;
}

/// True if a kernel may ignore the configuration, except for the largest number of blocks.
bool asksNothing(const CollConfig &config) {
  const bool namesAlgorithm = config.algorithms != nullptr && *config.algorithms != '\0';
  const bool hasPolicy = isSet(config.policy) && config.policy != 0; // NCCL_CTA_POLICY_DEFAULT
  const bool isLimited = !isSet(config.maxCtas) || config.maxCtas > 0;
  return config.extensions == nullptr && !namesAlgorithm && !hasPolicy && config.event == nullptr && isLimited;
}

} // namespace

Call withConfig(Call call, const void *config) {
  if (config == nullptr)
    return call;
  call.foreignConfig = config;
  // The size of the configuration identifies its version. Later versions add members at the end.
  CollConfig known{};
  std::memcpy(&known.size, config, sizeof(known.size));
  if (known.size < offsetof(CollConfig, profilerTag) || known.size > sizeof(CollConfig))
    return call;
  std::memcpy(&known, config, known.size);
  if (known.magic != magic || !asksNothing(known))
    return call;
  call.foreignConfig = nullptr;
  call.config = known;
  call.maxBlocks = isSet(known.maxCtas) ? static_cast<uint32_t>(known.maxCtas) : 0;
  return call;
}

} // namespace mscclc::nccl
