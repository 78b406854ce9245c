// A library whose kernels register themselves when it is loaded, as an emitted one's do.
#include "kernels.h"

namespace {
[[maybe_unused]] const int32_t registered[] = {mscclc_register_kernel(&testing::gather4()),
                                               mscclc_register_kernel(&testing::wrong4())};
}
