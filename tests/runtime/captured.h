// Graphs of streams that are captured together.
#pragma once

#include <cuda_runtime.h>
#include <vector>

namespace testing {

/// Ends the captures of the streams, and returns an executable graph of each; none if CUDA refuses anything. All
/// captures end first, because CUDA makes no graph executable while the thread captures another stream.
inline std::vector<cudaGraphExec_t> endCaptures(const std::vector<cudaStream_t> &streams) {
  std::vector<cudaGraph_t> graphs(streams.size());
  std::vector<cudaGraphExec_t> made(streams.size());
  for (size_t i = 0; i < streams.size(); ++i)
    if (cudaStreamEndCapture(streams[i], &graphs[i]) != cudaSuccess)
      return {};
  for (size_t i = 0; i < streams.size(); ++i) {
    if (cudaGraphInstantiate(&made[i], graphs[i], 0) != cudaSuccess)
      return {};
    cudaGraphDestroy(graphs[i]);
  }
  return made;
}

} // namespace testing
