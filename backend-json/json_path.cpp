#include "backend-json/json_path.h"

namespace mscclc::json {

std::string JsonPath::text() const {
  std::string out = "$";
  for (std::size_t i = 0; i < size_; ++i) {
    if (steps_[i].field.empty())
      out.append(1, '[').append(std::to_string(steps_[i].index)).append(1, ']');
    else
      out.append(1, '.').append(steps_[i].field);
  }
  return out;
}

} // namespace mscclc::json
