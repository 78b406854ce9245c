#include "ir/hooks.h"

#include <algorithm>
#include <iterator>

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

const WireInfo &info(Wire wire) {
  static const WireInfo infos[] = {{"F8E4m3", "mscclc/hooks/wire_f8e4m3.cuh", 1, 4, 2, {"f32", "f16", "bf16"}},
                                   {"Bf16", "mscclc/hooks/wire_bf16.cuh", 2, 0, 4, {"f32"}}};
  static_assert(std::size(infos) + 1 == std::size(wireNames));
  return infos[static_cast<std::size_t>(wire) - 1];
}

std::string functionOf(Wire wire, std::uint32_t block) {
  return "mscclc::hooks::Wire" + std::string(info(wire).word) + "<" + std::to_string(block) + ">";
}

} // namespace mscclc::ir
