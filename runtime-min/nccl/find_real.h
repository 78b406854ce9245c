#pragma once

#include <string>

namespace mscclc::nccl {

/// The file of the real library: MSCCLC_NCCL_LIB_PATH, else the one that the process has already, else the next
/// libnccl.so.2 on the loader's way. `why` says what is wrong if the result is empty.
std::string findRealLibrary(std::string &why);
/// A library other than this one and `path` that is an NCCL too and is in the process; empty if there is none.
std::string findOtherNccl(const std::string &path);

} // namespace mscclc::nccl
