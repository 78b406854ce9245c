#include "passes/schedule/agent_clocks.h"

#include "ir/internal_error.h"

#include <algorithm>

namespace mscclc::passes::schedule {

std::uint32_t AgentClocks::addPage(std::uint32_t owner) {
  const auto number = static_cast<std::uint32_t>(owners_.size());
  if (number % slab == 0)
    slabs_.push_back(std::make_unique<Page[]>(slab));
  owners_.push_back(owner);
  return number;
}

/// Returns the list of `clock`, after making sure that no other clock shares it.
Clock::List &AgentClocks::own(Clock &clock) {
  if (!clock.list_) {
    clock.list_ = std::make_shared<Clock::List>();
    clock.list_->pages.resize(numPages_, 0);
    clock.list_->owner = ++lastOwner_;
  } else if (clock.list_.use_count() > 1) {
    clock.list_->owner = ++lastOwner_; // now two lists contain its pages
    clock.list_ = std::make_shared<Clock::List>(*clock.list_);
    clock.list_->owner = ++lastOwner_;
  }
  return *clock.list_;
}

AgentClocks::Page &AgentClocks::ownPage(Clock::List &list, std::uint32_t index) {
  std::uint32_t &number = list.pages[index];
  if (owners_[number] != list.owner) {
    const std::uint32_t copy = addPage(list.owner);
    page(copy) = page(number);
    number = copy;
  }
  return page(number);
}

void AgentClocks::raise(Clock &clock, std::uint32_t agent, std::uint32_t count) {
  if (count >> 31 != 0)
    throw ir::InternalError("a clock counts to 2^31 or more");
  if (at(clock, agent) < count)
    ownPage(own(clock), agent / width)[agent % width] = count;
}

/// True if some count of `a` is less than that of `b`. Counts never use the highest bit, so the highest bit of a
/// difference is set exactly if the difference is negative. This takes two instructions for four counts.
bool AgentClocks::isLess(const Page &a, const Page &b) {
  std::uint32_t differences = 0;
  for (std::uint32_t i = 0; i < width; ++i)
    differences |= a[i] - b[i];
  return differences >> 31 != 0;
}

bool AgentClocks::covers(const Clock &clock, const Clock &other) const {
  for (std::uint32_t p = 0; other.list_ && p < numPages_; ++p) {
    const Page &a = page(clock.list_ ? clock.list_->pages[p] : 0), &b = page(other.list_->pages[p]);
    if (isLess(a, b))
      return false;
  }
  return true;
}

void AgentClocks::join(Clock &clock, const Clock &other) {
  if (!other.list_ || clock.list_ == other.list_)
    return;
  if (!clock.list_) {
    clock = other;
    return;
  }
  Clock::List *list = nullptr; // the list of `clock`, once it changes
  for (std::uint32_t p = 0; p < numPages_; ++p) {
    const std::uint32_t mine = clock.list_->pages[p], theirs = other.list_->pages[p];
    if (mine == theirs || theirs == 0)
      continue;
    const Page &a = page(mine), &b = page(theirs);
    if (!isLess(a, b))
      continue;
    if (!list)
      list = &own(clock);
    if (!isLess(b, a)) {
      list->pages[p] = theirs;
      other.list_->owner = ++lastOwner_; // now two lists contain that page
      continue;
    }
    Page &merged = ownPage(*list, p);
    const Page &told = page(theirs);
    for (std::uint32_t i = 0; i < width; ++i)
      merged[i] = std::max(merged[i], told[i]);
  }
}

void AgentClocks::join(Clock &clock, const Clock &other, std::span<const std::uint32_t> seen) {
  if (!other.list_)
    return;
  // Adjacent numbers that are also adjacent there are compared together.
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
        if (const std::uint32_t theirs = other.list_->pages[from / width]; theirs != 0)
          raise(clock, to, std::span(page(theirs)).subspan(from % width, length));
      }
}

/// Raises the counts of agents from `first` on to at least `counts`. All are on one page.
void AgentClocks::raise(Clock &clock, std::uint32_t first, std::span<const std::uint32_t> counts) {
  const Page &mine = page(clock.list_ ? clock.list_->pages[first / width] : 0);
  std::uint32_t differences = 0;
  for (std::uint32_t i = 0; i < counts.size(); ++i)
    differences |= mine[first % width + i] - counts[i];
  if (differences >> 31 == 0)
    return;
  Page &merged = ownPage(own(clock), first / width);
  for (std::uint32_t i = 0; i < counts.size(); ++i)
    merged[first % width + i] = std::max(merged[first % width + i], counts[i]);
}

} // namespace mscclc::passes::schedule
