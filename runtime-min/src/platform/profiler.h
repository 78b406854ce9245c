// Ranges for profilers, by NVTX where CUDA's toolkit has it.
#pragma once

#include "status.h"

#if defined(MSCCLC_WITH_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define MSCCLC_WITH_NVTX
#endif

namespace mscclc::rt {

/// A range with the name of a kernel and the size of its message, in bytes. It lasts while the calling thread launches
/// the kernel. Without a profiler, it costs one comparison.
class LaunchRange {
public:
#ifdef MSCCLC_WITH_NVTX
  LaunchRange(const char *kernel, uint64_t bytes) {
    if (domain() == nullptr)
      return;
    const std::string text = format("%s %llu bytes", kernel, static_cast<unsigned long long>(bytes));
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text.c_str();
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  ~LaunchRange() {
    if (domain() != nullptr)
      nvtxDomainRangePop(domain());
  }

private:
  /// Returns the domain of the ranges; null without a profiler.
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t made = nvtxDomainCreateA("mscclc");
    return made;
  }
#else
  LaunchRange(const char *, uint64_t) {}
  ~LaunchRange() {}
#endif

public:
  LaunchRange(const LaunchRange &) = delete;
};

} // namespace mscclc::rt
