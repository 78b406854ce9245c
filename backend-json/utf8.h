// Well-formed UTF-8, by the table of the Unicode standard (3.9, table 3-7).
#pragma once

#include <cstddef>
#include <string_view>

namespace mscclc::json {

/// Bytes of the well-formed sequence at `at` (1 to 4), or 0 if the bytes there are not UTF-8. `at` < text.size().
inline std::size_t utf8Length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto within = [](unsigned b, unsigned low, unsigned high) { return b >= low && b <= high; };
  const unsigned first = byte(0);
  if (first < 0x80)
    return 1;
  if (within(first, 0xc2, 0xdf))
    return within(byte(1), 0x80, 0xbf) ? 2 : 0;
  if (within(first, 0xe0, 0xef)) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80;  // no overlong forms
    const unsigned high = first == 0xed ? 0x9f : 0xbf; // no surrogates
    return within(byte(1), low, high) && within(byte(2), 0x80, 0xbf) ? 3 : 0;
  }
  if (within(first, 0xf0, 0xf4)) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf; // nothing past U+10FFFF
    return within(byte(1), low, high) && within(byte(2), 0x80, 0xbf) && within(byte(3), 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

} // namespace mscclc::json
