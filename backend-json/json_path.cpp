#include "backend-json/json_path.h"

#include "backend-json/json_cursor.h"

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

std::optional<std::size_t> JsonPath::find(std::string_view json) const {
  JsonCursor cursor(json);
  for (std::size_t i = 0; i < size_; ++i) {
    const Step &step = steps_[i];
    bool found = false;
    if (!step.field.empty() && cursor.peek() == JsonKind::Object) {
      cursor.enterObject();
      for (std::string_view key; !found && cursor.nextMember(key);)
        if (!(found = key == step.field))
          cursor.skipValue();
    } else if (step.field.empty() && cursor.peek() == JsonKind::Array) {
      cursor.enterArray();
      for (std::size_t k = 0; !found && cursor.nextElement(); ++k)
        if (!(found = k == step.index))
          cursor.skipValue();
    }
    if (!found)
      return std::nullopt;
  }
  if (cursor.peek() == JsonKind::Invalid)
    return std::nullopt;
  return cursor.offset();
}

} // namespace mscclc::json
