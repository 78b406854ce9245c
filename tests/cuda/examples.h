// Hand-written programs, one for each feature of kernels. All of them stay right when they are launched again and
// again.
#pragma once

#include "ir/program.h"

#include <functional>
#include <map>
#include <string>

namespace mscclc::test {

/// Name -> program for a number of ranks.
const std::map<std::string, std::function<ir::Program(std::uint32_t)>> &examples();

} // namespace mscclc::test
