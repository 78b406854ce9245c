// Vector clocks of agents, which are the thread blocks of all ranks. The clocks share their common parts.
//
// Programs have thousands of agents, and each statement changes the clock of one of them. Most clocks have entries for
// few agents, or the same entries as other clocks. So a clock is a list of pages. A page is copied only when a clock
// changes it and another clock uses it, too. Example: 64 ranks with 32 blocks each are 2,048 agents, so a full clock
// has 2,048 counts. Most clocks only point to 64 pages of 32 counts, and nearly all of these are shared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mscclc::passes::schedule {

/// A count for each agent, initially zero. Copies of a clock are cheap.
class Clock {
  friend class AgentClocks;
  static constexpr std::uint32_t width = 32; ///< agents on a page
  using Page = std::array<std::uint32_t, width>;
  std::shared_ptr<std::vector<std::shared_ptr<Page>>> pages_; ///< a page that is missing has only zeros
};

/// The operations on clocks for a given number of agents.
class AgentClocks {
public:
  explicit AgentClocks(std::uint32_t agents) : agents_(agents), numPages_((agents + width - 1) / width) {}

  std::uint32_t at(const Clock &clock, std::uint32_t agent) const { return page(clock, agent / width)[agent % width]; }
  /// Raises the count of `agent` to at least `count`. Throws InternalError if `count` is 2³¹ or more.
  void raise(Clock &clock, std::uint32_t agent, std::uint32_t count);
  /// Raises all counts to at least those of `other`.
  void join(Clock &clock, const Clock &other);
  /// Raises all counts to at least those of `other`, which numbers agents differently: agent i·n + r of `clock` is
  /// agent i·n + `seen`[r] of `other`. Here n is the size of `seen`, and divides the number of agents.
  void join(Clock &clock, const Clock &other, std::span<const std::uint32_t> seen);
  /// True if no count of `other` is larger than the count of the same agent in `clock`.
  bool covers(const Clock &clock, const Clock &other) const;

private:
  using Page = Clock::Page;
  static constexpr std::uint32_t width = Clock::width;
  static constexpr Page zeros{};

  static const Page &page(const Clock &clock, std::uint32_t index) {
    return clock.pages_ && (*clock.pages_)[index] ? *(*clock.pages_)[index] : zeros;
  }
  static bool isLess(const Page &a, const Page &b);
  void raise(Clock &clock, std::uint32_t first, std::span<const std::uint32_t> counts);
  std::shared_ptr<Page> &own(Clock &clock, std::uint32_t index);
  Page &ownPage(Clock &clock, std::uint32_t index);

  std::uint32_t agents_, numPages_;
};

} // namespace mscclc::passes::schedule
