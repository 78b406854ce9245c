// What an emitted kernel is written in: chunks, slices, and one function for each kind of operation. C++17; compiled
// by a CUDA compiler it makes a kernel, by any other the same kernel for the CPU stand-in.
//
//   contract          file
//   Kernel, Chunk     impl/kernel.cuh     the thread's state; the places it can name; which part is its own
//   Layout            impl/layout.cuh     where chunk k of a message begins
//   reduce, copy      impl/move.cuh       plain chunks
//   …Packets          impl/packets.cuh    packets
//   signal, wait, …   impl/sync.cuh       memory channels, semaphores, barriers
//   port…             impl/port.cuh       port channels
//   switch…           impl/switch.cuh     switch channels
#pragma once

#include "mscclc/runtime_abi.h"

#ifdef __CUDACC__
#include "mscclc/impl/cuda_platform.cuh"
#else
#include "mscclc/cpu_standin.h"
#endif
#include "mscclc/impl/types.cuh"

#include "mscclc/impl/layout.cuh"

#include "mscclc/impl/kernel.cuh"

#include "mscclc/impl/sync.cuh"

#include "mscclc/impl/move.cuh"

#include "mscclc/impl/packets.cuh"

#include "mscclc/impl/port.cuh"

#include "mscclc/impl/switch.cuh"

#include "mscclc/impl/launch.cuh"
