// Vector clocks of agents, which are the thread blocks of all ranks. The clocks share their common parts.
//
// Programs have thousands of agents, and each statement changes the clock of one of them. Mostly a clock has entries
// for few others, or the same entries as other clocks. So a clock is a list of pages. A page is copied only when a
// clock changes it and another clock uses it, too. Example: 64 ranks with 32 blocks each are 2,048 agents, so a full
// clock has 2,048 counts. Most clocks only point to 64 pages of 32 counts, and nearly all of these are shared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// A count for each agent, initially zero. It is cheap to copy. It belongs to the AgentClocks that changes it.
class Clock {
  friend class AgentClocks;
  struct List {
    std::vector<std::uint32_t> pages;
    std::uint32_t owner = 0; ///< pages with this owner are in no other list
  };
  std::shared_ptr<List> list_;
};

/// The pages of all clocks, and the operations on clocks.
class AgentClocks {
public:
  explicit AgentClocks(std::uint32_t agents) : agents_(agents), numPages_((agents + width - 1) / width) {
    addPage(0); // the page of zeros, which every clock has at first
  }

  std::uint32_t at(const Clock &clock, std::uint32_t agent) const {
    return clock.list_ ? page(clock.list_->pages[agent / width])[agent % width] : 0;
  }
  /// Raises the count of `agent` to at least `count`. Throws InternalError if `count` is 2³¹ or more.
  void raise(Clock &clock, std::uint32_t agent, std::uint32_t count);
  /// Raises all counts to at least those of `other`.
  void join(Clock &clock, const Clock &other);
  /// Does the same if `other` numbers agents differently. `seen` has n entries, and the number of agents is a multiple
  /// of n. Number i·n + r of `clock` is number i·n + `seen`[r] of `other`.
  void join(Clock &clock, const Clock &other, std::span<const std::uint32_t> seen);
  /// True if no count of `other` is larger than that of `clock`.
  bool covers(const Clock &clock, const Clock &other) const;

private:
  static constexpr std::uint32_t width = 32; ///< number of agents whose counts are on one page
  static constexpr std::uint32_t slab = 256; ///< number of pages that are allocated together
  using Page = std::array<std::uint32_t, width>;

  Page &page(std::uint32_t number) { return slabs_[number / slab][number % slab]; }
  const Page &page(std::uint32_t number) const { return slabs_[number / slab][number % slab]; }
  static bool isLess(const Page &a, const Page &b);
  std::uint32_t addPage(std::uint32_t owner);
  void raise(Clock &clock, std::uint32_t first, std::span<const std::uint32_t> counts);
  Clock::List &own(Clock &clock);
  Page &ownPage(Clock::List &list, std::uint32_t index);

  std::uint32_t agents_, numPages_;
  std::vector<std::unique_ptr<Page[]>> slabs_;
  std::vector<std::uint32_t> owners_; ///< [page]
  std::uint32_t lastOwner_ = 0;
};

} // namespace mscclc::passes::schedule
