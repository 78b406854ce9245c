// The language of emitted kernels: chunks, slices, and one function for each kind of operation, in C++17. A CUDA
// compiler makes a GPU kernel of it. Any other compiler makes the same kernel for the CPU stand-in.
//
//   contract          file
//   Kernel, Rows      device/kernel.cuh     the state of a thread, the places it can name, and its part of the work
//   beginLaunch       device/begin.cuh      the beginning and the end of a block's launch, and reports of failures
//   Layout            device/layout.cuh     where chunk k of a message begins
//   liveExtent        device/counts.cuh     counts of live rows, for sizes that are known only at run time
//   packRows          device/experts.cuh    rows that go to experts by an index, or come back
//   await, announce   ready.cuh             blocks of rows that a launch and its user hand over; users call these, too
//   reduce, copy      device/move.cuh       plain chunks
//   …Packets          device/packets.cuh    packets
//   signal, wait, …   device/sync.cuh       memory channels, semaphores, barriers
//   port…             device/port.cuh       port channels
//   NetworkPort       device/gin.cuh        port channels over the network, with MSCCLC_GIN defined
//   switch…           device/switch.cuh     switch channels
//   the caller's data device/staging.cuh    copies of the caller's data at the beginning and the end of a launch
#pragma once

// nvcc splits -DMSCCLC_DTYPES=float,int32_t into two macros at the comma.
#if defined(float) || defined(double) || defined(int8_t) || defined(uint8_t) || defined(int32_t) ||                    \
    defined(uint32_t) || defined(int64_t) || defined(uint64_t) || defined(Half) || defined(Bfloat16) ||                \
    defined(Float8E4m3) || defined(Float8E5m2) || defined(Sum) || defined(Min) || defined(Max) || defined(Prod)
#error "nvcc takes what follows the comma of a list for another macro: write '-DMSCCLC_DTYPES=float\,int32_t'"
#endif

#include "mscclc/runtime_abi.h"

#ifdef __CUDACC__
#include "mscclc/device/cuda_platform.cuh"
#else
#include "mscclc/cpu_standin.h"
#endif
#ifdef MSCCLC_GIN
#include <nccl_device.h>
#endif
#include "mscclc/device/types.cuh"
#include "mscclc/ready.cuh"

#include "mscclc/device/layout.cuh"

#include "mscclc/device/begin.cuh"

#include "mscclc/device/kernel.cuh"

#include "mscclc/device/spread.cuh"

#include "mscclc/device/sync.cuh"

#include "mscclc/device/counts.cuh"

#ifdef MSCCLC_GIN
#include "mscclc/device/gin.cuh"
#endif

#include "mscclc/device/move.cuh"

#include "mscclc/device/staging.cuh"

#include "mscclc/device/experts.cuh"

#include "mscclc/device/packets.cuh"

#include "mscclc/device/port.cuh"

#include "mscclc/device/switch.cuh"

#include "mscclc/device/launch.cuh"
