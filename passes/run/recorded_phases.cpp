#include "passes/run/recorded_phases.h"

#include <algorithm>

namespace mscclc::passes::prune {

RecordedPhases::RecordedPhases(const RunRecord &record, const std::vector<bool> &dropped)
    : record_(record), dropped_(dropped), begins_(record.bounds.size()), begun_(dropped.size()) {
  for (std::uint32_t b = 0; b < begins_.size(); ++b) {
    const std::vector<SyncPoint> &bounds = record.bounds[b];
    begins_[b].resize(bounds.size());
    for (std::uint32_t p = 0; p < bounds.size(); ++p) {
      if (bounds[p] != none)
        begun_[bounds[p]].push_back({b, p});
      begins_[b][p].always = bounds[p] == none ? p : begins_[b][p - 1].always;
      begins_[b][p].now = isDropped(bounds[p]) ? begins_[b][p - 1].now : p;
    }
    noteLastHeard(b);
    for (const std::uint32_t launch : record.launches[b])
      for (std::uint32_t p = launch; p < bounds.size(); ++p)
        ++begins_[b][p].launches;
  }
}

void RecordedPhases::noteLastHeard(std::uint32_t b) {
  auto receipt = record_.receipts[b].begin();
  auto met = record_.met[b].begin();
  for (std::uint32_t p = 0, last = 0; p < begins_[b].size(); ++p) {
    for (; receipt != record_.receipts[b].end() && receipt->phase < p; ++receipt)
      last = receipt->time;
    for (; met != record_.met[b].end() && met->first == p; ++met)
      last = record_.begun[b][p];
    begins_[b][p].lastHeard = last;
  }
}

void RecordedPhases::update(const std::vector<SyncPoint> &points) {
  for (const SyncPoint point : points)
    for (const Moment &begun : begun_[point])
      update(begun.block, begun.phase);
}

/// Updates `phase` after the point with which it begins was dropped or restored.
void RecordedPhases::update(std::uint32_t block, std::uint32_t phase) {
  const std::vector<SyncPoint> &bounds = record_.bounds[block];
  std::vector<Begin> &begins = begins_[block];
  const std::uint32_t now = dropped_[bounds[phase]] ? begins[phase - 1].now : phase;
  if (begins[phase].now == now) // then the merged phases after it are unchanged, too
    return;
  do
    begins[phase++].now = now;
  while (phase < bounds.size() && isDropped(bounds[phase]));
}

SyncPoint RecordedPhases::boundAfter(std::uint32_t block, std::uint32_t phase, std::uint32_t last) const {
  const Begin &begin = begins_[block][last];
  return begin.always > phase || begin.now <= phase ? none : record_.bounds[block][begin.now];
}

std::uint32_t RecordedPhases::overAt(const Access &access) const {
  if (access.port != none)
    return access.time;
  const std::vector<Begin> &begins = begins_[access.at.block];
  const auto later = std::ranges::upper_bound(begins, access.at.phase, {}, &Begin::now);
  return later == begins.end() ? none : record_.begun[access.at.block][later - begins.begin()];
}

} // namespace mscclc::passes::prune
