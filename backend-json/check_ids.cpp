#include "backend-json/check_ids.h"

#include <algorithm>

namespace mscclc::json {

void checkIds(const std::vector<std::uint32_t> &ids, std::string_view what, const ReportId &report) {
  bool good = true;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= ids.size()) {
      report(i, diag::id_out_of_range, {what, ids[i], ids.size()});
      good = false;
    }
  for (std::size_t i = 1; i < ids.size() && good; ++i)
    if (ids[i] < ids[i - 1]) {
      report(i, diag::listed_out_of_order, {what, ids[i], ids[i - 1]});
      good = false;
    }
}

void GivenIds::take(ValueReader &in, std::string_view what, std::uint64_t id) {
  if (given_.insert(id).second)
    return;
  in.error(diag::duplicate_id, {what, id});
  in.stop();
}

} // namespace mscclc::json
