// The tests' kernels as if they had been built for a device: a library that registers them when it is loaded.
#include "../kernels.h"

namespace {

// A library's kernels are those whose description lies in it.
MscclcKernel kernels[4];
MscclcVariant variants[4];
int count = 0;

int32_t registerForDevice(const MscclcKernel &host, uint32_t flags) {
  MscclcKernel &kernel = kernels[count] = host;
  MscclcVariant &variant = variants[count++] = host.variants[0];
  variant.resident_blocks = [](uint32_t, uint32_t *blocks) {
    *blocks = 132;
    return int32_t{MSCCLC_OK};
  };
  kernel.variants = &variant;
  kernel.flags |= flags;
  return mscclc_register_kernel(&kernel);
}

[[maybe_unused]] const int32_t registered[] = {
    registerForDevice(testing::gather4(), MSCCLC_USES_MULTICAST), registerForDevice(testing::packets4(), 0),
    registerForDevice(testing::ports4(), 0), registerForDevice(testing::turns2(), 0)};

} // namespace
