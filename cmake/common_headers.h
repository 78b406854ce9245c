// The headers that most sources of the compiler include. Precompiled, they save half of the compilation time. Each
// source still includes all headers that it uses, because other builds do without this file.
#pragma once

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "ir/op_memory.h"
#include "ir/op_semantics.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
