// What the device headers need of the machine, on CUDA. cpu_standin.h provides the same names on plain C++.
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
/// `blocksOnEach`: that each multiprocessor has to hold at once, and that leave a thread registers accordingly.
#define MSCCLC_KERNEL(threads, blocksOnEach) __global__ void __launch_bounds__(threads, blocksOnEach)
#define MSCCLC_PARAMETERS(type) const __grid_constant__ type
#define MSCCLC_TABLE static __constant__ const
/// Of tables that constant memory has no room for.
#define MSCCLC_LARGE_TABLE static __device__ const
#define MSCCLC_UNROLL _Pragma("unroll")
#define MSCCLC_NO_UNROLL _Pragma("unroll 1")
/// For loops over N operands: unrolled where the operands' pointers are held in registers (move.cuh).
#define MSCCLC_UNROLL_HELD _Pragma("unroll (N <= maxHeld ? N : 1)")

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

/// 1 / v, less than 2^-22 of it off.
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
/// Polls of a wait between two looks at host memory, each of which takes as long as several polls.
constexpr unsigned pollsBetweenChecks = 1024;

/// The same address for an instruction that reaches device and mapped host memory only.
MSCCLC_DEVICE uint64_t globalAddress(const void *p) {
  return __cvta_generic_to_global(p);
}
/// Tells the compiler that an address lies in device memory, as all buffers do.
MSCCLC_DEVICE void assumeGlobal(const void *p) {
  __builtin_assume(__isGlobal(p));
}

// Data. Plain accesses: ordered by the plan's own synchronisation.
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

/// The same value, of which the compiler knows no more: it neither computes it anew where it is used, nor what is made
/// of it where that is not needed.
MSCCLC_DEVICE uint32_t apart(uint32_t v) {
  asm volatile("" : "+r"(v));
  return v;
}
MSCCLC_DEVICE const char *apart(const char *p) {
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
/// Raises a counter at a peer by 1. Where `sent` is not null the counter has no other writer, and the link may not add:
/// then it is told how often it was raised.
template <bool Release> MSCCLC_DEVICE void raise(uint64_t *counter, uint64_t *sent) {
  if constexpr (Release)
    asm volatile("fence.acq_rel.sys;" ::: "memory");
  if (sent == nullptr) {
    asm volatile("red.relaxed.sys.global.add.u64 [%0], 1;" ::"l"(globalAddress(counter)) : "memory");
    return;
  }
  const uint64_t count = loadRelaxed(sent) + 1;
  storeRelaxed(sent, count);
  storeRelaxed(counter, count);
}
/// Within the device; both acquires and releases. Returns the value before.
MSCCLC_DEVICE uint64_t fetchAddDevice(uint64_t *p, uint64_t v) {
  uint64_t old;
  asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(globalAddress(p)), "l"(v) : "memory");
  return old;
}
/// The same without an order, of single bits.
MSCCLC_DEVICE uint64_t fetchOrDevice(uint64_t *p, uint64_t bits) {
  uint64_t old;
  asm volatile("atom.relaxed.gpu.global.or.b64 %0, [%1], %2;"
               : "=l"(old)
               : "l"(globalAddress(p)), "l"(bits)
               : "memory");
  return old;
}
/// Raises a counter of the device by 1, without an order.
MSCCLC_DEVICE void countDevice(uint64_t *p) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(globalAddress(p)) : "memory");
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
/// Words shared with the host.
MSCCLC_DEVICE uint32_t loadHost(const uint32_t *p) {
  return *const_cast<const volatile uint32_t *>(p);
}
MSCCLC_DEVICE void storeHost(uint32_t *p, uint32_t v) {
  __threadfence_system();
  *const_cast<volatile uint32_t *>(p) = v;
}
MSCCLC_DEVICE uint32_t fetchAddHost(uint32_t *p, uint32_t v) {
  return atomicAdd_system(p, v);
}
MSCCLC_DEVICE uint64_t fetchOrHost(uint64_t *p, uint64_t bits) {
  return atomicOr_system(reinterpret_cast<unsigned long long *>(p), static_cast<unsigned long long>(bits));
}

// Packets: data and flag travel in one 8-byte word, which is written and read at once; of the two words of a 16-byte
// packet each has the flag.
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
MSCCLC_DEVICE void storePacket16(void *p, Vec8 data, uint32_t flag) {
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1,%2};" ::"l"(globalAddress(p)), "l"(packetWord(data.w[0], flag)),
               "l"(packetWord(data.w[1], flag))
               : "memory");
}
MSCCLC_DEVICE void loadPacket16(const void *p, Vec8 &data, uint32_t &flag0, uint32_t &flag1) {
  uint64_t word0, word1;
  asm volatile("ld.relaxed.sys.global.v2.b64 {%0,%1}, [%2];"
               : "=l"(word0), "=l"(word1)
               : "l"(globalAddress(p))
               : "memory");
  data.w[0] = static_cast<uint32_t>(word0);
  flag0 = static_cast<uint32_t>(word0 >> 32);
  data.w[1] = static_cast<uint32_t>(word1);
  flag1 = static_cast<uint32_t>(word1 >> 32);
}

/// Orders what this thread did, and what it knows of, before what it does next, in the sight of all devices.
MSCCLC_DEVICE void fenceSystem() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}
/// Orders accesses through a multicast mapping and those through the devices' own addresses, which name the same
/// memory, where it lies on the way from one to the other (PTX ISA, proxies).
MSCCLC_DEVICE void fenceAliases() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.alias;" ::: "memory");
#endif
}

/// Relaxed signals order against the previous launch by the kernel boundary; nothing to do on a device.
MSCCLC_DEVICE void launchBegins(uint32_t /*rank*/, uint64_t /*launch*/) {}
MSCCLC_DEVICE void peerLaunchSeen(uint32_t /*peer*/, uint64_t /*launch*/) {}

} // namespace mscclc::device::detail
