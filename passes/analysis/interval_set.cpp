#include "passes/analysis/interval_set.h"

#include <algorithm>

namespace mscclc::passes {

void IntervalSet::unite(std::span<const Range> a, std::span<const Range> b, Run &out) {
  out.clear();
  out.reserve(a.size() + b.size());
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
  // The recent ranges [first, last) that touch the new range are merged with it.
  std::size_t last = numRecent_;
  while (last != 0 && recent_[last - 1].begin > end)
    --last;
  std::size_t first = last;
  while (first != 0 && recent_[first - 1].end >= begin)
    --first;
  Range *at = recent_.data() + first, *after = recent_.data() + last, *all = recent_.data() + numRecent_;
  if (first != last) {
    at->begin = std::min(at->begin, begin);
    at->end = std::max((after - 1)->end, end);
    std::move(after, all, at + 1);
    numRecent_ -= last - first - 1;
    return;
  }
  std::move_backward(at, all, all + 1);
  *at = {begin, end};
  if (++numRecent_ == firstRun)
    spill();
}

/// Moves the recent ranges into longer runs.
void IntervalSet::spill() {
  const auto uniteInto = [this](std::span<const Range> from, std::size_t run) {
    if (run == runs_.size())
      runs_.emplace_back();
    used_ = std::max(used_, run + 1);
    unite(from, runs_[run], merged_);
    runs_[run].swap(merged_);
  };
  uniteInto(std::span(recent_).first(numRecent_), 0);
  numRecent_ = 0;
  for (std::size_t run = 0; runs_[run].size() >= firstRun << (run + 1); ++run) {
    Run from;
    from.swap(runs_[run]);
    uniteInto(from, run + 1);
    from.clear();
    runs_[run].swap(from);
  }
}

void IntervalSet::eraseFrom(std::uint64_t begin, std::uint64_t end) {
  const auto firstMeeting = [&](std::span<const Range> run) {
    return std::partition_point(run.begin(), run.end(), [&](const Range &range) { return range.end <= begin; }) -
           run.begin();
  };
  const auto firstAfter = [&](std::span<const Range> run) {
    return std::partition_point(run.begin(), run.end(), [&](const Range &range) { return range.begin < end; }) -
           run.begin();
  };
  Range rest[2]; // the parts before and after [begin, end) of the ranges that are taken out
  const auto remaining = [&](std::span<const Range> taken) {
    std::size_t n = 0;
    if (taken.front().begin < begin)
      rest[n++] = {taken.front().begin, begin};
    if (end < taken.back().end)
      rest[n++] = {end, taken.back().end};
    return std::span<const Range>(rest, n);
  };
  for (std::size_t i = 0; i < used_; ++i) {
    Run &run = runs_[i];
    const auto first = firstMeeting(run), last = firstAfter(run);
    if (first >= last)
      continue;
    const std::span<const Range> kept =
        remaining(std::span<const Range>(run).subspan(std::size_t(first), std::size_t(last - first)));
    const auto at = run.erase(run.begin() + first, run.begin() + last);
    run.insert(at, kept.begin(), kept.end());
  }
  const std::span<const Range> recent(recent_.data(), numRecent_);
  const auto first = firstMeeting(recent), last = firstAfter(recent);
  if (first >= last)
    return;
  const std::span<const Range> kept = remaining(recent.subspan(std::size_t(first), std::size_t(last - first)));
  Range *at = recent_.data() + first, *after = recent_.data() + last, *all = recent_.data() + numRecent_;
  if (const auto room = last - first, needed = static_cast<std::ptrdiff_t>(kept.size()); needed <= room)
    std::move(after, all, at + needed);
  else
    std::move_backward(after, all, all + 1);
  std::ranges::copy(kept, at);
  numRecent_ = numRecent_ - std::size_t(last - first) + kept.size();
  if (numRecent_ == firstRun)
    spill();
}

bool IntervalSet::anyMeets(std::uint64_t begin, std::uint64_t end) const {
  for (std::size_t i = numRecent_; i != 0 && recent_[i - 1].end > begin; --i)
    if (recent_[i - 1].begin < end)
      return true;
  for (std::size_t i = 0; i < used_; ++i) {
    const Run &run = runs_[i];
    auto it = std::partition_point(run.begin(), run.end(), [&](const Range &range) { return range.end <= begin; });
    if (it != run.end() && it->begin < end)
      return true;
  }
  return false;
}

void IntervalSet::clear() {
  for (std::size_t i = 0; i < used_; ++i)
    runs_[i].clear();
  used_ = 0;
  numRecent_ = 0;
}

} // namespace mscclc::passes
