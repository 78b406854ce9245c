// The ids of a list of gpus or thread blocks.
#pragma once

#include "backend-json/diagnostics.h"
#include "backend-json/value_reader.h"

#include <functional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mscclc::json {

/// Reports those of the i-th entry of a list.
using ReportId = std::function<void(std::size_t i, const ir::DiagInfo &, const std::vector<ir::DiagArg> &)>;

/// Reports `ids`, of the entries of a list, of which none is given twice, unless they are 0, 1, … in order: the
/// executor takes some of what an entry holds by its id and the rest by its position (execution_plan.cc,
/// setupOperations). `what`: what the entries are.
void checkIds(const std::vector<std::uint32_t> &ids, std::string_view what, const ReportId &report);

/// The ids of a list, as they are read. What follows one that is given twice may be gigabytes of the same.
class GivenIds {
public:
  void clear() { given_.clear(); }
  /// Takes the id that is being read. If it was given before, that is reported and nothing more is read.
  void take(ValueReader &in, std::string_view what, std::uint64_t id);

private:
  std::unordered_set<std::uint64_t> given_;
};

} // namespace mscclc::json
