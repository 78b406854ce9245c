// Compiles where a header of NCCL's interface has NCCL's names: the one that the fake NCCL and nccl-tests are compiled
// with, and NCCL's own.
#include <cstddef>
#include <nccl.h>

#define NAME(name, number) static_assert(static_cast<int>(name) == (number), #name);
#include "names.def"

// What runtime-min/nccl/config.cpp reads. The header for tests has it, too, and an older version.
#if NCCL_VERSION_CODE >= 23200 || NCCL_VERSION_CODE == 22705
static_assert(offsetof(ncclCollConfig_t, maxCTAs) == 28 && offsetof(ncclCollConfig_t, algSelection) == 40 &&
              offsetof(ncclCollConfig_t, CTAPolicy) == 52 && offsetof(ncclCollConfig_t, launchCompletionEvent) == 64);
#endif

static_assert(sizeof(ncclUniqueId) == 128, "an id is passed by value");
