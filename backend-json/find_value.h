// Finds a value in a JSON text.
#pragma once

#include "backend-json/json_path.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace mscclc::json {

/// Returns the byte at which the value of `path` begins, if it is there. The value of the path's first `known` steps
/// begins at byte `begin` of `text`, so reading begins there. If several fields have one name, the first counts.
std::optional<std::size_t> findValue(std::string_view text, const JsonPath &path, std::size_t known = 0,
                                     std::size_t begin = 0);

} // namespace mscclc::json
