// Checks the ids of a list of gpus or thread blocks.
#pragma once

#include "backend-json/diagnostics.h"
#include "backend-json/value_reader.h"

#include <functional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mscclc::json {

/// Reports a fault of the i-th entry of a list.
using ReportId = std::function<void(std::size_t i, const ir::DiagInfo &, const std::vector<ir::DiagArg> &)>;

/// Reports the ids of a list's entries unless they are 0, 1, … in this order. No id may be there twice. The executor
/// finds some data of an entry by its id, and the rest by its position (execution_plan.cc, setupOperations). `what`: a
/// word for the entries.
void checkIds(const std::vector<std::uint32_t> &ids, std::string_view what, const ReportId &report);

/// The ids of a list while it is read. Reading stops at a repeated id, because gigabytes of repeated ids may follow.
class GivenIds {
public:
  void clear() { given_.clear(); }
  /// Adds the id that is being read. If it is a repeated one, reports it and stops reading.
  void take(ValueReader &in, std::string_view what, std::uint64_t id);

private:
  std::unordered_set<std::uint64_t> given_;
};

} // namespace mscclc::json
