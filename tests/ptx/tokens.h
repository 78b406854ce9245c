// The tokens of PTX text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mscclc::ptx {

struct Token {
  enum Kind : std::uint8_t { Word, Number, Text, Sign, End } kind = End;
  std::string_view text; ///< of a Text: the characters between the quotes
  std::int64_t number = 0;
  std::uint32_t line = 0;
};

/// Throws Unknown for a character that begins no token.
std::vector<Token> tokensOf(std::string_view text);

} // namespace mscclc::ptx
