// Memory of ncclMemAlloc: mapped by the driver's functions, with access for every device.
#pragma once

#include <cstddef>

namespace fake {

bool allocateMapped(void **memory, size_t bytes); ///< of the current device
bool freeMapped(void *memory);                    ///< false for what is no such memory
bool isMapped(const void *memory);

} // namespace fake
