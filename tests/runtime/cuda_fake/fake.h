// A fake CUDA for tests, which is loaded before the real library. Devices are this machine's memory, and streams are
// those of the CPU stand-in. It runs kernels that were built for the stand-in. It also checks how it is called: a
// double free, a leak, or a call without a device ends in a message that begins with "cuda fake:".
//
//   CUDA_FAKE_DEVICES=N             number of devices (1)
//   CUDA_FAKE_MULTICAST=1           the devices have multicast objects
//   CUDA_FAKE_NO_ATOMICS=1          links between devices have no atomic additions
//   CUDA_FAKE_FAILS=NAME            this function of the driver, or cudaGetDeviceCount, always fails
//   CUDA_FAKE_NO_MULTICAST_ROOM=1   a multicast object cannot be mapped in the process that created it
//   CUDA_FAKE_CLOSED_POOLS=1        memory pools give no other device access
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <functional>
#include <mutex>
#include <vector>

namespace cuda_fake {

/// Granularity of memory and multicast objects.
inline constexpr size_t granularity = size_t{2} << 20;

/// Counts a call of the program's.
void counted(const char *function);
[[noreturn]] void wrong(const char *what);
/// Returns the address of a driver function; null if the fake does not have it.
void *findDriverFunction(const char *name);
/// Ends the program with `what`, if the calling thread has no device, or may not wait while a stream is captured.
void needDevice(const char *what);
void needNoCapture(const char *what);
/// The device of the calling thread, or -1.
int currentDevice();
/// The allocation that `address` lies in; false if it is in none.
bool findAllocation(CUdeviceptr address, CUdeviceptr &base, size_t &bytes);
/// The pool that memory was taken from; null: none.
void *poolOf(CUdeviceptr address);
/// Returns the device of memory that the driver's functions mapped, or -1.
int deviceOfMapping(CUdeviceptr address);
/// The addresses that one of a multicast object stands for, of memory that this process bound; none: it is no such one.
std::vector<CUdeviceptr> multicastMembers(CUdeviceptr address);
/// Memory that other processes can map: a descriptor, or -1.
int newMemoryFile(size_t bytes);
/// Reports memory and driver objects that were not freed.
void reportAllocations();
void reportDriverLeftovers();

extern std::mutex mutex; ///< of all the fake's tables

} // namespace cuda_fake

/// Returns the number of calls of a function so far, or of all functions. A kernel launch is a call of
/// cudaLaunchKernel, or with MSCCLC_PDL of cudaLaunchKernelExC.
extern "C" uint64_t cudaFakeCalls(const char *function);

/// Starts a kernel: runs `work` in stream order, or once in each replay if the stream is being captured. `function`:
/// the call that is counted.
extern "C" void cudaFakeLaunch(void *stream, std::function<void()> work, const char *function = "cudaLaunchKernel");
