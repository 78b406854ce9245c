// A library's file, before it is mapped.
#pragma once

#include "status.h"

namespace mscclc::rt {

/// Refuses a file that is shorter than what its own tables say: to use what is mapped beyond the end of a file ends the
/// process. What is no ELF file, or is not there, is left to the loader.
Status checkWhole(const char *path);

} // namespace mscclc::rt
