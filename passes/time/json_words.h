// Messages of the JSON library.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace mscclc::passes::time {

/// Returns the library's message without the number of its error: "parse error at line 2, column 1: …".
inline std::string wordsOf(const nlohmann::json::exception &error) {
  const std::string_view text = error.what();
  const std::size_t number = text.find("] ");
  return std::string(number == text.npos ? text : text.substr(number + 2));
}

} // namespace mscclc::passes::time
