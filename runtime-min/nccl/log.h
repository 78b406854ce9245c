// Messages of the library on stderr. Each line is printed once, because calls repeat.
#pragma once

#include <string>

namespace mscclc::nccl {

/// Prints a decision and its reason, if MSCCLC_DEBUG is INFO or TRACE.
void info(const std::string &line);
bool saysInfo();
/// Prints something unexpected, unless MSCCLC_DEBUG is NONE.
void warn(const std::string &line);

} // namespace mscclc::nccl
