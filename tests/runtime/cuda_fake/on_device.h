// Presents a kernel of the CPU stand-in as one of a device of the fake CUDA.
#pragma once

#include "fake.h"
#include "mscclc/cpu_standin.h"
#include "mscclc/runtime_abi.h"

#include <utility>
#include <vector>

namespace cuda_fake {

/// Launches a variant of `host`. The arguments are copied, because a device's kernel gets them as parameters.
inline int32_t launchOnDevice(const MscclcKernel &host, const MscclcRankArgs &args, uint32_t threads, void *stream,
                              size_t variant = 0) {
  MscclcRankInfo info{};
  host.rank_info(args.rank, &info);
  auto work = [&host, args, threads, variant,
               buffers = std::vector<MscclcBuffers>(args.buffers, args.buffers + host.ranks),
               multicast = std::vector<void *>(args.multicast, args.multicast + info.switch_channels)] {
    MscclcRankArgs copy = args;
    copy.buffers = buffers.data();
    copy.multicast = multicast.data();
    mscclc::standin::Stream own;
    host.variants[variant].launch(&copy, threads, &own);
  };
  cudaFakeLaunch(stream, std::move(work), (args.flags & MSCCLC_PDL) != 0 ? "cudaLaunchKernelExC" : "cudaLaunchKernel");
  return MSCCLC_OK;
}

} // namespace cuda_fake
