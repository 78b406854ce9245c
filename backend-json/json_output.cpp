#include "backend-json/json_output.h"

#include "backend-json/write_plan.h"

#include <nlohmann/json.hpp>

namespace mscclc::json {

void JsonOutput::line() {
  static constexpr char spaces[] = "\n                ";
  if (!compact_)
    raw({spaces, std::min(2 * depth_ + 1, sizeof spaces - 1)});
}

void JsonOutput::end() {
  const Container inner = open_.back();
  open_.pop_back();
  if (inner.items == Items::OnLines) {
    --depth_;
    if (!inner.empty)
      line();
  }
  character(inner.close);
}

void JsonOutput::string(std::string_view value) {
  using nlohmann::json;
  const std::string text = json(value).dump(-1, ' ', false, json::error_handler_t::replace);
  beginValue();
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(rest.size(), reserve)))
    raw(rest.substr(0, reserve));
}

void JsonOutput::finish() {
  line();
  flush();
}

void JsonOutput::flush() {
  stream_.write(buffer_.get(), static_cast<std::streamsize>(used_));
  used_ = 0;
}

bool isUtf8(std::string_view text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error &) {
    return false;
  }
}

} // namespace mscclc::json
