// What most sources of the rooms include. Where this is precompiled it saves half of the time of their compilation;
// each source still includes what it uses, as other builds do without it.
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
