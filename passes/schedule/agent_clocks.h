// What is known of agents, the thread blocks of all ranks: vector clocks that share what they have in common.
//
// Programs have thousands of agents, and each statement changes what one of them knows. Mostly it knows of few others,
// or the same as others do. So a clock is a list of pages, and a page is copied only when a clock changes that does not
// have it alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// A count for each agent, zero at first. Cheap to copy. Belongs to the AgentClocks that changes it.
class Clock {
  friend class AgentClocks;
  struct List {
    std::vector<std::uint32_t> pages;
    std::uint32_t owner = 0; ///< pages with this owner are in no other list
  };
  std::shared_ptr<List> list_;
};

class AgentClocks {
public:
  explicit AgentClocks(std::uint32_t agents) : agents_(agents), numPages_((agents + width - 1) / width) {
    addPage(0); // all zero, of every clock at first
  }

  std::uint32_t at(const Clock &clock, std::uint32_t agent) const {
    return clock.list_ ? page(clock.list_->pages[agent / width])[agent % width] : 0;
  }
  /// Makes the count of `agent` at least `count`. Throws InternalError from 2³¹ on.
  void raise(Clock &clock, std::uint32_t agent, std::uint32_t count);
  /// Makes all counts at least those of `other`.
  void join(Clock &clock, const Clock &other);
  /// The same, where `other` numbers agents differently: number i·n + r of `clock` is i·n + `seen`[r] there, for the n
  /// entries of `seen`; there are a multiple of n agents.
  void join(Clock &clock, const Clock &other, std::span<const std::uint32_t> seen);
  /// True if no count of `other` is larger.
  bool covers(const Clock &clock, const Clock &other) const;

private:
  static constexpr std::uint32_t width = 32; ///< agents of a page
  static constexpr std::uint32_t slab = 256; ///< pages that are allocated together
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
