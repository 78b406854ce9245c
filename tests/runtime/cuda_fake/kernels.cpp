// The tests' kernels, presented as if they had been built for a device: a library that registers them when it is
// loaded.
#include "../kernels.h"

#include "on_device.h"

namespace {

/// A kernel of the CPU stand-in, launched by the fake.
template <const MscclcKernel &(*host)()> struct OnDevice {
  static int32_t launch(const MscclcRankArgs *args, uint32_t threads, void *stream) {
    return cuda_fake::launchOnDevice(host(), *args, threads, stream);
  }
  static int32_t residentBlocks(uint32_t, uint32_t *blocks) {
    *blocks = 132;
    return MSCCLC_OK;
  }
  static int32_t registerIt(uint32_t flags) {
    // A kernel belongs to the library that contains its description.
    static MscclcKernel kernel;
    static MscclcVariant variant;
    kernel = host();
    variant = kernel.variants[0];
    variant.launch = launch;
    variant.resident_blocks = residentBlocks;
    kernel.variants = &variant;
    kernel.flags |= flags;
    return mscclc_register_kernel(&kernel);
  }
};

[[maybe_unused]] const int32_t registered[] = {
    OnDevice<testing::gather4>::registerIt(MSCCLC_USES_MULTICAST),
    OnDevice<testing::gather72>::registerIt(MSCCLC_USES_MULTICAST), OnDevice<testing::packets4>::registerIt(0),
    OnDevice<testing::ports4>::registerIt(0), OnDevice<testing::turns2>::registerIt(0)};

} // namespace
