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

/// The list of `clock`, of which no other clock has a hold.
Clock::List &AgentClocks::own(Clock &clock) {
  if (!clock.list_) {
    clock.list_ = std::make_shared<Clock::List>();
    clock.list_->pages.resize(numPages_, 0);
    clock.list_->owner = ++lastOwner_;
  } else if (clock.list_.use_count() > 1) {
    clock.list_->owner = ++lastOwner_; // its pages are in two lists from here on
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

/// True if some count of `a` is less than that of `b`. Counts have no highest bit, so a difference has it if it is
/// below zero: this takes two instructions for four counts.
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
  Clock::List *list = nullptr; // of `clock`, once it changes
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
      other.list_->owner = ++lastOwner_; // that page is in two lists from here on
      continue;
    }
    Page &merged = ownPage(*list, p);
    const Page &told = page(theirs);
    for (std::uint32_t i = 0; i < width; ++i)
      merged[i] = std::max(merged[i], told[i]);
  }
}

void AgentClocks::join(Clock &clock, const Clock &other, std::span<const std::uint32_t> seen) {
  const auto size = static_cast<std::uint32_t>(seen.size());
  for (std::uint32_t p = 0; other.list_ && p < numPages_; ++p) {
    // What `other` has for the page lies in these of its own.
    const std::uint32_t begin = p * width, end = std::min(begin + width, agents_);
    std::uint32_t base = begin / size * size, rest = begin - base;
    const auto sources =
        std::span(other.list_->pages)
            .subspan(base / width, (std::min((end - 1) / size * size + size, agents_) - 1) / width - base / width + 1);
    if (std::ranges::all_of(sources, [](std::uint32_t number) { return number == 0; }))
      continue;
    Page told{};
    for (std::uint32_t at = 0; at < end - begin; ++at) {
      const std::uint32_t from = base + seen[rest];
      told[at] = page(other.list_->pages[from / width])[from % width];
      if (++rest == size) {
        rest = 0;
        base += size;
      }
    }
    if (!isLess(page(clock.list_ ? clock.list_->pages[p] : 0), told))
      continue;
    Page &merged = ownPage(own(clock), p);
    for (std::uint32_t i = 0; i < width; ++i)
      merged[i] = std::max(merged[i], told[i]);
  }
}

} // namespace mscclc::passes::schedule
