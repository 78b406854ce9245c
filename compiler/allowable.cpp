#include "compiler/allowable.h"

#include <algorithm>

namespace mscclc::driver {

const std::vector<Allowable> &allAllowable() {
  static const std::vector<Allowable> all = [] {
    std::vector<Allowable> found = {
#define ROOM(folder)
#define DIAG(id, level, text)
#define ALLOWABLE(id, name, summary, text) {name, summary},
#include "compiler/all_diagnostics.def"
#undef ALLOWABLE
#undef DIAG
#undef ROOM
    };
    std::ranges::stable_sort(found, {}, &Allowable::name);
    const auto repeated = std::ranges::unique(found, {}, &Allowable::name); // several findings may share a name
    found.erase(repeated.begin(), repeated.end());
    return found;
  }();
  return all;
}

bool isAllowable(std::string_view name) {
  return std::ranges::binary_search(allAllowable(), name, {}, &Allowable::name);
}

std::string allowableNames() {
  std::string text;
  for (const Allowable &one : allAllowable())
    text.append(text.empty() ? "" : ", ").append(one.name);
  return text;
}

} // namespace mscclc::driver
