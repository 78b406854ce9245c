// Functions of CUDA's driver as a program finds them that is not linked with it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace testing {

/// The driver's function of that name, or null.
template <class Function> Function *driverFunction(const char *name) {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion(name, &function, 12010, cudaEnableDefault, &result);
#else
  cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
  return reinterpret_cast<Function *>(function);
}

} // namespace testing
