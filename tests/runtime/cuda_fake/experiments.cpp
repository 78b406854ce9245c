// The experiments for the CPU stand-in, presented as if they had been built for a device: a library of experiments for
// the fake CUDA. Its programs are linked to it.
#include "on_device.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace {

const MscclcKernel &onHost(const char *name) {
  static void *const library = ::dlopen(EXPERIMENTS_ON_HOST, RTLD_NOW | RTLD_LOCAL);
  void *const symbol = library == nullptr ? nullptr : ::dlsym(library, (std::string("mscclc_kernel_") + name).c_str());
  if (symbol == nullptr) {
    std::fprintf(stderr, "cuda fake: %s\n", ::dlerror());
    std::abort();
  }
  return *reinterpret_cast<const MscclcKernel *(*)()>(symbol)();
}

/// Kernel `slot` of this library, which runs a kernel of the stand-in.
template <int slot> struct OnDevice {
  static inline const MscclcKernel *host = nullptr;

  static int32_t launch(const MscclcRankArgs *args, uint32_t threads, void *stream) {
    return cuda_fake::launchOnDevice(*host, *args, threads, stream);
  }
  static int32_t residentBlocks(uint32_t, uint32_t *blocks) {
    *blocks = 132;
    return MSCCLC_OK;
  }
  static int32_t registerIt(const char *name) {
    static MscclcKernel kernel;
    static MscclcVariant variant;
    host = &onHost(name);
    kernel = *host;
    variant = kernel.variants[0];
    variant.launch = launch;
    variant.resident_blocks = residentBlocks;
    kernel.variants = &variant;
    kernel.num_variants = 1;
    return mscclc_register_kernel(&kernel);
  }
};

[[maybe_unused]] const int32_t registered[] = {
    OnDevice<0>::registerIt("copy_1_of_1024"), OnDevice<1>::registerIt("put_1_of_1024"),
    OnDevice<2>::registerIt("puts_in_turn"), OnDevice<3>::registerIt("port_put"),
    OnDevice<4>::registerIt("multimem_1")};

} // namespace
