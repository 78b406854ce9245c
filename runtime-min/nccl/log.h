// What the library says, on stderr. Each line once: calls repeat.
#pragma once

#include <string>

namespace mscclc::nccl {

/// With MSCCLC_DEBUG=INFO (or TRACE): what was picked, and why.
void info(const std::string &line);
bool saysInfo();
/// Always, unless MSCCLC_DEBUG=NONE: what the user would not expect.
void warn(const std::string &line);

} // namespace mscclc::nccl
