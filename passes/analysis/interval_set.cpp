#include "passes/analysis/interval_set.h"

#include <algorithm>

namespace mscclc::passes {

void IntervalSet::unite(const Run &a, const Run &b, Run &out) {
  out.clear();
  auto append = [&out](const Range &range) {
    if (!out.empty() && range.begin <= out.back().end)
      out.back().end = std::max(out.back().end, range.end);
    else
      out.push_back(range);
  };
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->begin <= j->begin))
      append(*i++);
    else
      append(*j++);
  }
}

void IntervalSet::insert(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end)
    return;
  if (runs_.empty())
    runs_.resize(1);
  used_ = std::max<std::size_t>(used_, 1);
  Run &run = runs_[0];
  // The ranges of the first run that touch the new one become part of it.
  auto first = std::partition_point(run.begin(), run.end(), [&](const Range &range) { return range.end < begin; });
  auto last = std::partition_point(first, run.end(), [&](const Range &range) { return range.begin <= end; });
  if (first != last) {
    first->begin = std::min(first->begin, begin);
    first->end = std::max((last - 1)->end, end);
    run.erase(first + 1, last);
    return;
  }
  run.insert(first, Range{begin, end});
  for (std::size_t level = 0; runs_[level].size() >= firstRun << level; ++level) {
    if (level + 1 == runs_.size())
      runs_.emplace_back();
    used_ = std::max(used_, level + 2);
    unite(runs_[level], runs_[level + 1], merged_);
    runs_[level + 1].swap(merged_);
    runs_[level].clear();
  }
}

void IntervalSet::erase(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end)
    return;
  for (std::size_t level = 0; level < used_; ++level) {
    Run &run = runs_[level];
    auto first = std::partition_point(run.begin(), run.end(), [&](const Range &range) { return range.end <= begin; });
    auto last = std::partition_point(first, run.end(), [&](const Range &range) { return range.begin < end; });
    if (first == last)
      continue;
    const Range before{first->begin, begin}, after{end, (last - 1)->end};
    first = run.erase(first, last);
    if (after.begin < after.end)
      first = run.insert(first, after);
    if (before.begin < before.end)
      run.insert(first, before);
  }
}

bool IntervalSet::meets(std::uint64_t begin, std::uint64_t end) const {
  if (begin >= end)
    return false;
  for (std::size_t level = 0; level < used_; ++level) {
    const Run &run = runs_[level];
    auto it = std::partition_point(run.begin(), run.end(), [&](const Range &range) { return range.end <= begin; });
    if (it != run.end() && it->begin < end)
      return true;
  }
  return false;
}

void IntervalSet::clear() {
  for (std::size_t level = 0; level < used_; ++level)
    runs_[level].clear();
  used_ = 0;
}

} // namespace mscclc::passes
