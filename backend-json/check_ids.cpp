#include "backend-json/check_ids.h"

#include <algorithm>

namespace mscclc::json {

void checkIds(const std::vector<std::uint32_t> &ids, std::string_view what, const ReportId &report) {
  std::vector<bool> taken(ids.size());
  bool good = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool inRange = ids[i] < ids.size();
    if (inRange && !taken[ids[i]]) {
      taken[ids[i]] = true;
      continue;
    }
    good = false;
    if (inRange)
      report(i, diag::duplicate_id, {what, ids[i]});
    else
      report(i, diag::id_out_of_range, {what, ids[i], ids.size()});
  }
  for (std::size_t i = 1; i < ids.size() && good; ++i)
    if (ids[i] < ids[i - 1]) {
      report(i, diag::listed_out_of_order, {what, ids[i], ids[i - 1]});
      good = false;
    }
}

} // namespace mscclc::json
