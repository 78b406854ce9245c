#pragma once

#include <string>

namespace mscclc::nccl {

/// Returns the file of the real library: MSCCLC_NCCL_LIB_PATH, else the NCCL that the process has already loaded, else
/// the next libnccl.so.2 on the loader's search path. If there is none, returns an empty text and sets `why` to the
/// reason.
std::string findRealLibrary(std::string &why);
/// Returns another NCCL in the process, which is neither this library nor `path`; empty if there is none.
std::string findOtherNccl(const std::string &path);

} // namespace mscclc::nccl
