// Ranges for profilers, by NVTX where CUDA's toolkit has it.
#pragma once

#include "status.h"

#if defined(MSCCLC_WITH_CUDA) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define MSCCLC_WITH_NVTX
#endif

namespace mscclc::rt {

/// Names a kernel and the size of its message, in bytes, while the calling thread launches it. It costs a compare where
/// no profiler asks.
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
  /// Null without a profiler.
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
