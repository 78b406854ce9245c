#include "platform/cuda_driver.h"

namespace mscclc::rt {
namespace {

/// The version in which the driver's functions are looked up. It is the first one with multicast objects.
constexpr unsigned driverVersion = 12010;

void *find(const char *name) {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, driverVersion, cudaEnableDefault, &result);
#else
  const cudaError_t error = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess) {
    cudaGetLastError(); // a missing function is not an error of the caller
    return nullptr;
  }
  return result == cudaDriverEntryPointSuccess ? function : nullptr;
}

} // namespace

void CudaDriver::load() {
#define LOAD(name) name = reinterpret_cast<decltype(&::name)>(find(#name));
  MSCCLC_DRIVER_FUNCTIONS(LOAD)
#undef LOAD
}

#define AND_IS_THERE(name) &&name != nullptr
bool CudaDriver::canShareByFile() const {
  return true MSCCLC_SHARE_FUNCTIONS(AND_IS_THERE);
}

bool CudaDriver::canMulticast() const {
  return canShareByFile() MSCCLC_MULTICAST_FUNCTIONS(AND_IS_THERE);
}
#undef AND_IS_THERE

Status CudaDriver::check(CUresult result, const char *what) const {
  if (result == CUDA_SUCCESS)
    return {};
  const char *name = nullptr;
  if (cuGetErrorName == nullptr || cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr)
    name = "unknown error";
  const int32_t code = result == CUDA_ERROR_OUT_OF_MEMORY ? int32_t{MSCCLC_ERROR_MEMORY}
                                                          : MSCCLC_ERROR_DEVICE + static_cast<int>(result);
  return failure(code, "%s: %s (%d)", what, name, static_cast<int>(result));
}

Status checkCuda(cudaError_t result, const char *what) {
  if (result == cudaSuccess)
    return {};
  cudaGetLastError(); // clears the error, so that no later call reports it again
  const int32_t code = result == cudaErrorMemoryAllocation ? int32_t{MSCCLC_ERROR_MEMORY}
                                                           : MSCCLC_ERROR_DEVICE + static_cast<int>(result);
  return failure(code, "%s: %s (%d)", what, cudaGetErrorString(result), static_cast<int>(result));
}

} // namespace mscclc::rt
