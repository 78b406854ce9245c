// Presents a kernel for the CPU stand-in as if it had been built for a device: a library for the fake CUDA that
// registers it. EMITTED is the emitted file, KERNEL the name of the kernel. With FAIL_AFTER=N, rank 1 refuses launch N
// and all later ones when rank 0 already runs.
#define MSCCLC_NO_AUTO_REGISTER
#include EMITTED

#include "../cuda_fake/on_device.h"

#include <atomic>
#include <vector>

#define NAME_OF(name) mscclc_kernel_##name
#define FUNCTION(name) NAME_OF(name)

namespace {

constexpr uint32_t threadsOfBlock = 2; // there are far more than cores
constexpr size_t mostVariants = 64;

const MscclcKernel &onHost() {
  return *FUNCTION(KERNEL)();
}

[[maybe_unused]] std::atomic<int> launchesOfRank1{0};

bool fails([[maybe_unused]] uint32_t rank) {
#ifdef FAIL_AFTER
  return rank == 1 && ++launchesOfRank1 > FAIL_AFTER;
#else
  return false;
#endif
}

template <size_t index> int32_t launch(const MscclcRankArgs *args, uint32_t threads, void *stream) {
  if (fails(args->rank))
    return MSCCLC_ERROR_DEVICE + 1;
  return cuda_fake::launchOnDevice(onHost(), *args, threads, stream, index);
}

int32_t residentBlocks(uint32_t, uint32_t *blocks) {
  *blocks = 4096;
  return MSCCLC_OK;
}

using Launch = int32_t (*)(const MscclcRankArgs *, uint32_t, void *);
template <size_t... index> std::vector<Launch> launches(std::index_sequence<index...>) {
  return {launch<index>...};
}

/// The network's body, whose launches are on streams of the fake.
int32_t settle(const MscclcRankArgs *args, const MscclcSettling *settling, void *stream) {
  cudaFakeLaunch(stream, [own = *args, step = *settling] {
    mscclc::standin::Stream onHosts;
    onHost().network->settle(&own, &step, &onHosts);
  });
  return MSCCLC_OK;
}

int32_t registerIt() {
  static MscclcKernel kernel = onHost();
  if (kernel.network != nullptr) {
    static MscclcNetworkBody network = *kernel.network;
    network.settle = settle;
    kernel.network = &network;
  }
  static std::vector<MscclcVariant> variants(kernel.variants, kernel.variants + kernel.num_variants);
  const std::vector<Launch> all = launches(std::make_index_sequence<mostVariants>());
  for (size_t i = 0; i < variants.size(); ++i) {
    variants[i].launch = all.at(i);
    variants[i].resident_blocks = residentBlocks;
  }
  kernel.variants = variants.data();
  kernel.threads = threadsOfBlock;
  kernel.useful_threads = [](uint64_t, uint32_t) { return threadsOfBlock; };
  return mscclc::device::host::registerKernel(&kernel);
}
[[maybe_unused]] const int32_t registeredOnDevice = registerIt();

} // namespace
