#include "ir/hooks.h"

#include <algorithm>

namespace mscclc::ir {

std::optional<SharedArray> sharedArray(const std::vector<Hook> &hooks, std::size_t index) {
  const auto takes = [](const Hook &hook, const std::string &array) {
    return std::ranges::find(hook.reads, array) != hook.reads.end() ||
           std::ranges::find(hook.writes, array) != hook.writes.end();
  };
  for (const std::string &array : hooks[index].writes)
    for (const Hook &other : hooks)
      if (&other != &hooks[index] && takes(other, array))
        return SharedArray{array, &other};
  return std::nullopt;
}

std::string functionOfF8E4m3(std::uint32_t block) {
  return "mscclc::hooks::WireF8E4m3<" + std::to_string(block) + ">";
}

} // namespace mscclc::ir
