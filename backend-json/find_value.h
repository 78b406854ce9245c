// Finds a value in a JSON text.
#pragma once

#include "backend-json/json_path.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace mscclc::json {

/// Returns the byte at which the value of `path` begins; nothing if there is no such value. The search begins at byte
/// `begin` of `text`, where the value of the path's first `known` steps begins. If several fields have one name, the
/// first one counts.
std::optional<std::size_t> findValue(std::string_view text, const JsonPath &path, std::size_t known = 0,
                                     std::size_t begin = 0);

} // namespace mscclc::json
