// A user of a kernel that hands rows over by blocks. It is compiled behind the kernel's text, as a part of its library
// (kernel_text.py). Two tiles of each row are copied by different blocks of threads, if there are several.
#pragma once

#include "mscclc/ready.cuh"
#include "ready_user.h"

#include <map>

namespace mscclc::test {

MSCCLC_DEVICE void useRows(const ReadyUser &user) {
  using namespace device::detail;
  constexpr uint32_t tiles = 2;
  const uint64_t all = user.groups * user.blocks;
  for (uint64_t item = blockId(); item < all * tiles; item += blockCount()) {
    const uint64_t block = item / tiles, tile = item % tiles, group = block / user.blocks,
                   first = block % user.blocks * user.rows;
    uint64_t rows = 0;
    if (user.isDispatch != 0) {
      rows = ready::await(user.words, block);
      if (tile == 0 && threadId() == 0)
        user.seenLive[block] = static_cast<uint32_t>(rows);
      for (uint32_t i = threadId(); item == 0 && i < user.count; i += threadCount())
        user.seenNumbers[i] = user.numbers[i];
    } else if (user.live[group] > first) {
      rows = user.live[group] - first < user.rows ? user.live[group] - first : user.rows;
    }
    for (const MscclcPayload &payload : user.payloads)
      for (uint64_t row = 0; row < rows; ++row) {
        const uint64_t at = (user.begins[group] + first + row) * payload.bytes;
        for (uint64_t i = payload.bytes * tile / tiles + threadId(); i < payload.bytes * (tile + 1) / tiles;
             i += threadCount())
          static_cast<char *>(payload.to)[at + i] = static_cast<const char *>(payload.from)[at + i];
      }
    syncBlock();
    if (user.isDispatch == 0 && threadId() == 0) {
      if (rows != 0)
        ready::announce(user.words, block, 1, tiles);
      else if (tile == 0)
        ready::announce(user.words, block, 0, 0);
    }
  }
  syncBlock();
  if (user.isDispatch != 0 && threadId() == 0)
    ready::finish(user.words, all, blockCount());
}

constexpr unsigned userBlocks = 3, userThreads = 4;

#ifdef __CUDACC__
__global__ void useRowsOnDevice(ReadyUser user) {
  useRows(user);
}
#endif

} // namespace mscclc::test

extern "C" __attribute__((visibility("default"))) void mscclc_test_user(const mscclc::test::ReadyUser *work,
                                                                        uint32_t rank) {
  using namespace mscclc;
#ifdef __CUDACC__
  static std::map<uint32_t, cudaStream_t> streams;
  int devices = 1;
  cudaGetDeviceCount(&devices);
  cudaSetDevice(static_cast<int>(rank) % devices); // as a communicator does
  if (streams.count(rank) == 0)
    cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking);
  void *arguments[] = {const_cast<test::ReadyUser *>(work)};
  if (work == nullptr)
    cudaDeviceSynchronize(); // so that the next launch follows the user, and his next kernel the launch
  else
    cudaLaunchKernel(reinterpret_cast<const void *>(&test::useRowsOnDevice), dim3(test::userBlocks),
                     dim3(test::userThreads), arguments, 0, streams[rank]);
#else
  static std::map<uint32_t, standin::Stream> streams;
  if (work == nullptr)
    streams[rank].synchronize();
  else
    streams[rank].launch(test::userBlocks, test::userThreads, [user = *work] { test::useRows(user); });
#endif
}
