#include "backend-json/json_output.h"

#include "backend-json/utf8.h"

namespace mscclc::json {

void JsonOutput::string(std::string_view value) {
  static constexpr char hex[] = "0123456789abcdef";
  character('"');
  for (std::size_t i = 0; i < value.size();) {
    const char c = value[i];
    const std::size_t length = utf8Length(value, i);
    if (length == 0) {
      text("\xef\xbf\xbd");
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      character('\\');
      character(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text("\\u00");
      character(hex[c >> 4]);
      character(hex[c & 15]);
    } else {
      text(value.substr(i, length));
    }
    i += length;
  }
  character('"');
}

} // namespace mscclc::json
