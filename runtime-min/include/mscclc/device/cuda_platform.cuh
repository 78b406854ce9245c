// The platform that the device headers need, for CUDA. cpu_standin.h provides the same names in plain C++.
#pragma once

#include "mscclc/runtime_abi.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#define MSCCLC_DEVICE __device__ __forceinline__
#define MSCCLC_COLD inline __device__ __noinline__
#define MSCCLC_OUTLINE __device__ __noinline__
#define MSCCLC_BOTH __host__ __device__ __forceinline__
#define MSCCLC_BLOCK static __device__ __forceinline__
/// `blocksOnEach` is the number of blocks that each multiprocessor must hold at once. It limits the registers of a
/// thread.
#define MSCCLC_KERNEL(threads, blocksOnEach) __global__ void __launch_bounds__(threads, blocksOnEach)
#define MSCCLC_PARAMETERS(type) const __grid_constant__ type
#define MSCCLC_TABLE static __constant__ const
/// For tables that are too large for constant memory.
#define MSCCLC_LARGE_TABLE static __device__ const
#define MSCCLC_UNROLL _Pragma("unroll")
#define MSCCLC_NO_UNROLL _Pragma("unroll 1")
/// For loops over N operands. They are unrolled if the operands are few (move.cuh).
#define MSCCLC_UNROLL_FEW _Pragma("unroll (N <= maxUnrolled ? N : 1)")
/// For loops that are unrolled `unrolled` times.
#define MSCCLC_UNROLL_SOME _Pragma("unroll (unrolled)")

namespace mscclc::device::detail {

struct alignas(16) Vec16 {
  uint32_t w[4];
};
struct alignas(8) Vec8 {
  uint32_t w[2];
};

MSCCLC_DEVICE unsigned threadId() {
  return threadIdx.x;
}
MSCCLC_DEVICE unsigned threadCount() {
  return blockDim.x;
}
MSCCLC_DEVICE unsigned blockId() {
  return blockIdx.x;
}
MSCCLC_DEVICE unsigned blockCount() {
  return gridDim.x;
}
MSCCLC_DEVICE void syncBlock() {
  __syncthreads();
}
/// Returns shared memory of the block, for 1024 floats. Only kernels that call this reserve the memory.
MSCCLC_DEVICE float *sharedResults() {
  static __shared__ float results[1024];
  return results;
}

/// Returns 1 / `v` with a relative error below 2^-22.
MSCCLC_DEVICE float reciprocal(float v) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}
MSCCLC_DEVICE uint64_t nanoseconds() {
  uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
MSCCLC_DEVICE void pause() {}
/// The number of polls of a wait between two reads of host memory. Such a read takes as long as several polls.
constexpr unsigned pollsBetweenChecks = 1024;

/// Returns the address `p` in the form for instructions that access only global memory: device memory and mapped host
/// memory.
MSCCLC_DEVICE uint64_t globalAddress(const void *p) {
  return __cvta_generic_to_global(p);
}
/// Promises the compiler that a condition holds.
MSCCLC_DEVICE void assume(bool condition) {
  __builtin_assume(condition);
}
/// Promises the compiler that an address lies in device memory. All buffers do.
MSCCLC_DEVICE void assumeGlobal(const void *p) {
  __builtin_assume(__isGlobal(p));
}

// Accesses to data. They are plain, because the synchronisation of the plan orders them.
MSCCLC_DEVICE Vec16 load16(const void *p) {
  assumeGlobal(p);
  const uint4 v = *static_cast<const uint4 *>(p);
  return {{v.x, v.y, v.z, v.w}};
}
MSCCLC_DEVICE void store16(void *p, Vec16 v) {
  assumeGlobal(p);
  *static_cast<uint4 *>(p) = make_uint4(v.w[0], v.w[1], v.w[2], v.w[3]);
}
template <class Word> MSCCLC_DEVICE Word loadAs(const void *p) {
  assumeGlobal(p);
  if constexpr (sizeof(Word) == 16)
    return load16(p);
  else
    return *static_cast<const Word *>(p);
}
template <class Word> MSCCLC_DEVICE void storeAs(void *p, const Word &v) {
  assumeGlobal(p);
  if constexpr (sizeof(Word) == 16)
    store16(p, v);
  else
    *static_cast<Word *>(p) = v;
}

/// Returns `v`, but hides from the optimiser how it was computed. So the optimiser keeps the value in a register
/// instead of computing it again at each use. It also computes nothing from the value earlier than needed.
MSCCLC_DEVICE uint32_t apart(uint32_t v) {
  asm volatile("" : "+r"(v));
  return v;
}
MSCCLC_DEVICE uint64_t apart(uint64_t v) {
  asm volatile("" : "+l"(v));
  return v;
}
template <class V> MSCCLC_DEVICE V *apart(V *p) {
  asm volatile("" : "+l"(p));
  return p;
}

// Counters.
MSCCLC_DEVICE uint64_t loadRelaxed(const uint64_t *p) {
  uint64_t v;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(globalAddress(p)) : "memory");
  return v;
}
MSCCLC_DEVICE uint64_t loadAcquire(const uint64_t *p) {
  uint64_t v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(globalAddress(p)) : "memory");
  return v;
}
MSCCLC_DEVICE void storeRelaxed(uint64_t *p, uint64_t v) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(globalAddress(p)), "l"(v) : "memory");
}
MSCCLC_DEVICE void storeRelease(uint64_t *p, uint64_t v) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(globalAddress(p)), "l"(v) : "memory");
}
/// Raises a counter of a peer by 1. If `stores` is false, the addition is atomic. If it is true, the link to the peer
/// may not support atomics, and this end is the only writer of the counter: it counts its signals in `sent`, and stores
/// the new count.
template <bool Release> MSCCLC_DEVICE void raise(uint64_t *counter, bool stores, uint64_t *sent) {
  if constexpr (Release)
    asm volatile("fence.acq_rel.sys;" ::: "memory");
  if (!stores) {
    asm volatile("red.relaxed.sys.global.add.u64 [%0], 1;" ::"l"(globalAddress(counter)) : "memory");
    return;
  }
  const uint64_t count = loadRelaxed(sent) + 1;
  storeRelaxed(sent, count);
  storeRelaxed(counter, count);
}
/// Adds `v` to a word, atomically within the device, with acquire and release. Returns the previous value.
MSCCLC_DEVICE uint64_t fetchAddDevice(uint64_t *p, uint64_t v) {
  uint64_t old;
  asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(globalAddress(p)), "l"(v) : "memory");
  return old;
}
MSCCLC_DEVICE uint32_t fetchAddDevice(uint32_t *p, uint32_t v) {
  uint32_t old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(globalAddress(p)), "r"(v) : "memory");
  return old;
}
/// Sets bits of a word, atomically within the device, without ordering. Returns the previous value.
MSCCLC_DEVICE uint64_t fetchOrDevice(uint64_t *p, uint64_t bits) {
  uint64_t old;
  asm volatile("atom.relaxed.gpu.global.or.b64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(globalAddress(p)), "l"(bits)
               : "memory");
  return old;
}
/// Adds `v` to a word, atomically within the device, without ordering.
MSCCLC_DEVICE void addDevice(uint64_t *p, uint64_t v) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(globalAddress(p)), "l"(v) : "memory");
}
MSCCLC_DEVICE uint64_t loadAcquireDevice(const uint64_t *p) {
  uint64_t v;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(globalAddress(p)) : "memory");
  return v;
}
MSCCLC_DEVICE uint32_t loadAcquireDevice(const uint32_t *p) {
  uint32_t v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(globalAddress(p)) : "memory");
  return v;
}
MSCCLC_DEVICE void storeReleaseDevice(uint32_t *p, uint32_t v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(globalAddress(p)), "r"(v) : "memory");
}
MSCCLC_DEVICE void addReleaseDevice(uint32_t *p, uint32_t v) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(globalAddress(p)), "r"(v) : "memory");
}
MSCCLC_DEVICE bool replaceAcquireDevice(uint32_t *p, uint32_t expected, uint32_t desired) {
  uint32_t old;
  asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(globalAddress(p)), "r"(expected), "r"(desired)
               : "memory");
  return old == expected;
}
// Accesses to words that are shared with the host. Their instructions name global memory. Otherwise the compiler would
// add a second path, for shared memory, which takes instructions and registers.
MSCCLC_DEVICE uint32_t loadHost(const uint32_t *p) {
  uint32_t v;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(globalAddress(p)) : "memory");
  return v;
}
MSCCLC_DEVICE void storeHost(uint32_t *p, uint32_t v) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(globalAddress(p)), "r"(v) : "memory");
}
MSCCLC_DEVICE uint32_t fetchAddHost(uint32_t *p, uint32_t v) {
  uint32_t old;
  asm volatile("atom.relaxed.sys.global.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(globalAddress(p)), "r"(v) : "memory");
  return old;
}
MSCCLC_DEVICE uint64_t fetchOrHost(uint64_t *p, uint64_t bits) {
  uint64_t old;
  asm volatile("atom.relaxed.sys.global.or.b64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(globalAddress(p)), "l"(bits)
               : "memory");
  return old;
}

// Accesses to packets. Data and flag share one 8-byte word, which is written and read as a whole. Each of the two words
// of a 16-byte packet has the flag.
MSCCLC_DEVICE uint64_t packetWord(uint32_t data, uint32_t flag) {
  return uint64_t{flag} << 32 | data;
}
MSCCLC_DEVICE void storePacket8(void *p, uint32_t data, uint32_t flag) {
  asm volatile("st.relaxed.sys.global.b64 [%0], %1;" ::"l"(globalAddress(p)), "l"(packetWord(data, flag)) : "memory");
}
MSCCLC_DEVICE void loadPacket8(const void *p, uint32_t &data, uint32_t &flag) {
  uint64_t word;
  asm volatile("ld.relaxed.sys.global.b64 %0, [%1];" : "=l"(word) : "l"(globalAddress(p)) : "memory");
  data = static_cast<uint32_t>(word);
  flag = static_cast<uint32_t>(word >> 32);
}
/// Accesses to two words of 8 bytes. Each word is written and read as a whole.
MSCCLC_DEVICE void storeWords16(void *p, Vec16 data) {
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1,%2};" ::"l"(globalAddress(p)),
               "l"(packetWord(data.w[0], data.w[1])), "l"(packetWord(data.w[2], data.w[3]))
               : "memory");
}
MSCCLC_DEVICE void loadWords16(const void *p, Vec16 &data) {
  uint64_t word0, word1;
  asm volatile("ld.relaxed.sys.global.v2.b64 {%0,%1}, [%2];"
               : "=l"(word0), "=l"(word1)
               : "l"(globalAddress(p))
               : "memory");
  data = {{static_cast<uint32_t>(word0), static_cast<uint32_t>(word0 >> 32), static_cast<uint32_t>(word1),
           static_cast<uint32_t>(word1 >> 32)}};
}
MSCCLC_DEVICE void storePacket16(void *p, Vec8 data, uint32_t flag) {
  storeWords16(p, {{data.w[0], flag, data.w[1], flag}});
}
MSCCLC_DEVICE void loadPacket16(const void *p, Vec8 &data, uint32_t &flag0, uint32_t &flag1) {
  Vec16 words;
  loadWords16(p, words);
  data = {{words.w[0], words.w[2]}};
  flag0 = words.w[1];
  flag1 = words.w[3];
}

/// Orders the earlier accesses of this thread, and all accesses that it has observed, before its later accesses. The
/// order holds for all devices.
MSCCLC_DEVICE void fenceSystem() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}
/// Orders accesses through a multicast mapping against accesses through the devices' own addresses, which name the same
/// memory (PTX ISA, proxies). The fence must be on the path from the one access to the other.
MSCCLC_DEVICE void fenceAliases() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.alias;" ::: "memory");
#endif
}

/// Waits until the earlier kernel of the stream has ended. Then all that it did is visible. Returns at once unless the
/// launch may begin before that end (MSCCLC_PDL).
MSCCLC_DEVICE void awaitEarlierKernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// Lets the next kernel of the stream begin if it was launched with MSCCLC_PDL. That kernel itself waits for the end of
/// this one.
MSCCLC_DEVICE void letNextKernelBegin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// These do nothing on a device, because the boundary between kernels orders relaxed signals after the previous launch.
MSCCLC_DEVICE void launchBegins(uint32_t /*rank*/, uint64_t /*launch*/) {}
MSCCLC_DEVICE void peerLaunchSeen(uint32_t /*peer*/, uint64_t /*launch*/) {}

} // namespace mscclc::device::detail
