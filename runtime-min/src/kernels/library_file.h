// Checks the file of a library before it is mapped.
#pragma once

#include "status.h"

namespace mscclc::rt {

/// Fails if a file is shorter than its own tables say: access to a mapping beyond the end of a file ends the process.
/// Files that are missing or not ELF files are left to the loader.
Status checkWhole(const char *path);

} // namespace mscclc::rt
