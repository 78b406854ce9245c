// Blocks of rows that a kernel of a Dispatch hands over to a kernel of its user, or that a kernel of the user hands
// over to a kernel of a Combine, one by one. They are for programs with `.readyRows`. MscclcIndex::ready says which
// words there are. Kernels of users call these functions:
//
//   // one thread of a block that multiplies the rows of block `b` of expert `e`
//   const uint32_t rows = mscclc::ready::await(words, e * blocks + b);   // dispatched; then __syncthreads()
//   …
//   // when all threads of the block have stored their results, after __syncthreads(): one thread
//   mscclc::ready::announce(combined, e * blocks + b, 1, tiles);         // the last of `tiles` announces the rows
//   …
//   mscclc::ready::finish(words, all, gridDim.x);                        // at the end: one thread of each block
//
// A word is 0 until its rows are there. The kernel that waits for words sets them back to 0: a kernel of a Combine does
// so when it has read all rows, and a kernel of the user by finish(). So words need no number of a launch, and no
// memset between launches or replays of a graph. The next launch overwrites the rows, so it must already follow the
// kernels that read them.
#pragma once

#include "mscclc/runtime_abi.h"

#ifdef __CUDACC__
#include "mscclc/device/cuda_platform.cuh"
#else
#include "mscclc/cpu_standin.h"
#endif

namespace mscclc::ready {

/// Returns the word of block `block`, counted over all groups. The first word counts blocks of threads (finish).
MSCCLC_DEVICE uint32_t *wordOf(uint32_t *words, uint64_t block) {
  return words + 1 + block;
}

/// True if the rows of a block are there. Then this thread may read them, and other threads may read them after a sync
/// with this thread. `word`: a result of wordOf(). Sets `seen` to the value of the word.
MSCCLC_DEVICE bool isSet(const uint32_t *word, uint32_t &seen) {
  seen = device::detail::loadAcquireDevice(word);
  return (seen & MSCCLC_READY) != 0;
}

/// Waits until the rows of block `block` are there. Returns how many of them are live.
MSCCLC_DEVICE uint32_t await(uint32_t *words, uint64_t block) {
  uint32_t seen = 0;
  while (!isSet(wordOf(words, block), seen))
    device::detail::pause();
  return seen & ~MSCCLC_READY;
}

/// Reports that `part` of the `all` parts of block `block` are done. The call that completes the parts announces the
/// rows of the block. One thread of each block of threads calls it, after a sync with the threads that stored the part.
/// Parts are tiles of a row's elements, or rows. A block without parts needs one call with `all` 0; otherwise waits for
/// the block never end.
MSCCLC_DEVICE void announce(uint32_t *words, uint64_t block, uint32_t part, uint32_t all) {
  uint32_t *const word = wordOf(words, block);
  if (all != 0 && device::detail::fetchAddDevice(word, part) + part != all)
    return;
  device::detail::storeReleaseDevice(word, MSCCLC_READY | all);
}

/// Ends the waits of a kernel of `threadBlocks` blocks of threads. One thread of each block calls it, after a sync with
/// the threads that wait. The last call sets the words of all `blocks` blocks of rows back to 0.
MSCCLC_DEVICE void finish(uint32_t *words, uint64_t blocks, uint32_t threadBlocks) {
  if (device::detail::fetchAddDevice(words, 1) + 1 != threadBlocks)
    return;
  for (uint64_t i = 0; i <= blocks; ++i)
    words[i] = 0;
}

} // namespace mscclc::ready
