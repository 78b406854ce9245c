#include "platform/platform.h"

namespace mscclc::rt {

#ifndef MSCCLC_WITH_CUDA
Status createCudaPlatform(std::unique_ptr<Platform> &) {
  return failure(MSCCLC_ERROR_UNSUPPORTED, "this build of the runtime has no CUDA");
}
#endif

Status createPlatform(uint32_t kind, std::unique_ptr<Platform> &platform) {
  switch (static_cast<MscclcPlatform>(kind)) {
  case MSCCLC_PLATFORM_HOST:
    platform = createHostPlatform();
    return {};
  case MSCCLC_PLATFORM_CUDA:
    return createCudaPlatform(platform);
  case MSCCLC_PLATFORM_AUTO:
    if (!createCudaPlatform(platform).ok())
      platform = createHostPlatform();
    return {};
  }
  return failure(MSCCLC_ERROR_ARGUMENT, "no platform %u", kind);
}

} // namespace mscclc::rt
