#include "ir/expert_places.h"

namespace mscclc::ir {

std::vector<std::uint64_t> ExpertPlaces::begins(std::span<const RowCount> counts) const {
  std::vector<std::uint64_t> found;
  for (std::uint64_t group = 0, begin = 0; group < groups(); ++group) {
    std::uint64_t rows = 0;
    for (std::uint32_t member = 0; member < members(); ++member) {
      found.push_back(begin + rows);
      rows += counts[found.size() - 1].live;
    }
    begin += taken(rows);
  }
  return found;
}

} // namespace mscclc::ir
