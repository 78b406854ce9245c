#include "passes/schedule/agent_clocks.h"

#include "ir/internal_error.h"

#include <algorithm>

namespace mscclc::passes::schedule {

/// Returns the pointer to a page of `clock`, so that the page can be replaced. Copies the list of pages first if
/// another clock shares it.
std::shared_ptr<AgentClocks::Page> &AgentClocks::own(Clock &clock, std::uint32_t index) {
  if (!clock.pages_)
    clock.pages_ = std::make_shared<std::vector<std::shared_ptr<Page>>>(numPages_);
  else if (clock.pages_.use_count() > 1)
    clock.pages_ = std::make_shared<std::vector<std::shared_ptr<Page>>>(*clock.pages_);
  return (*clock.pages_)[index];
}

/// Returns a page of `clock` for changes. Copies the page first if another clock shares it.
AgentClocks::Page &AgentClocks::ownPage(Clock &clock, std::uint32_t index) {
  std::shared_ptr<Page> &page = own(clock, index);
  if (!page)
    page = std::make_shared<Page>();
  else if (page.use_count() > 1)
    page = std::make_shared<Page>(*page);
  return *page;
}

void AgentClocks::raise(Clock &clock, std::uint32_t agent, std::uint32_t count) {
  if (count >> 31 != 0)
    throw ir::InternalError("a clock counts to 2^31 or more");
  if (at(clock, agent) < count)
    ownPage(clock, agent / width)[agent % width] = count;
}

/// True if some count of `a` is less than the count of the same agent in `b`. Counts never use the highest bit, so the
/// highest bit of a difference is set exactly if the difference is negative. This takes two instructions for four
/// counts.
bool AgentClocks::isLess(const Page &a, const Page &b) {
  std::uint32_t differences = 0;
  for (std::uint32_t i = 0; i < width; ++i)
    differences |= a[i] - b[i];
  return differences >> 31 != 0;
}

bool AgentClocks::covers(const Clock &clock, const Clock &other) const {
  for (std::uint32_t p = 0; other.pages_ && p < numPages_; ++p)
    if (isLess(page(clock, p), page(other, p)))
      return false;
  return true;
}

void AgentClocks::join(Clock &clock, const Clock &other) {
  if (!other.pages_ || clock.pages_ == other.pages_)
    return;
  if (!clock.pages_) {
    clock = other;
    return;
  }
  for (std::uint32_t p = 0; p < numPages_; ++p) {
    const std::shared_ptr<Page> &theirs = (*other.pages_)[p];
    if (!theirs || (*clock.pages_)[p] == theirs)
      continue;
    const Page &mine = page(clock, p);
    if (!isLess(mine, *theirs))
      continue;
    if (!isLess(*theirs, mine)) {
      own(clock, p) = theirs;
      continue;
    }
    std::ranges::transform(ownPage(clock, p), *theirs, ownPage(clock, p).begin(), std::ranges::max);
  }
}

void AgentClocks::join(Clock &clock, const Clock &other, std::span<const std::uint32_t> seen) {
  if (!other.pages_)
    return;
  // The agents of a run are adjacent in both clocks. Their counts are raised together.
  struct Run {
    std::uint32_t to, from, length;
  };
  std::vector<Run> runs;
  for (std::uint32_t r = 0; r < seen.size(); ++r)
    if (!runs.empty() && seen[r] == runs.back().from + runs.back().length)
      ++runs.back().length;
    else
      runs.push_back({r, seen[r], 1});
  for (std::uint32_t base = 0; base < agents_; base += static_cast<std::uint32_t>(seen.size()))
    for (const Run &run : runs)
      for (std::uint32_t done = 0, length = 0; done < run.length; done += length) {
        const std::uint32_t to = base + run.to + done, from = base + run.from + done;
        length = std::min({run.length - done, width - to % width, width - from % width});
        if (const std::shared_ptr<Page> &theirs = (*other.pages_)[from / width])
          raise(clock, to, std::span(*theirs).subspan(from % width, length));
      }
}

/// Raises the counts of agents from `first` on to at least `counts`. These agents are all on one page.
void AgentClocks::raise(Clock &clock, std::uint32_t first, std::span<const std::uint32_t> counts) {
  const Page &mine = page(clock, first / width);
  std::uint32_t differences = 0;
  for (std::uint32_t i = 0; i < counts.size(); ++i)
    differences |= mine[first % width + i] - counts[i];
  if (differences >> 31 == 0)
    return;
  Page &merged = ownPage(clock, first / width);
  for (std::uint32_t i = 0; i < counts.size(); ++i)
    merged[first % width + i] = std::max(merged[first % width + i], counts[i]);
}

} // namespace mscclc::passes::schedule
