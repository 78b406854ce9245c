// The structural checker's part for switch groups: each rank lists its own switch channels, and the lists must agree.
//
// The k-th switch channel of rank a with member b meets the k-th switch channel of b with member a. All ends of one
// group name the same members in the same order, and the same buffer. Each rank sets up its groups in the order of its
// list, and all members of a group set it up together (executor.cc, setupConnections). So there must be an order of all
// groups that every list follows.
#include "ir/ir_diagnostics.h"
#include "ir/structure_checker.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace mscclc::ir {

namespace {

/// A switch channel of a rank.
using End = std::pair<std::uint32_t, std::uint32_t>;
constexpr std::uint32_t noEnd = ProgramPlace::none;

class SwitchGroups {
public:
  explicit SwitchGroups(const Program &program) : program_(program), shared_(program.ranks.size()) {
    for (std::uint32_t r = 0; r < shared_.size(); ++r) {
      const auto &channels = program.ranks[r].switchChannels;
      for (std::uint32_t c = 0; c < channels.size(); ++c)
        for (const std::uint32_t member : channels[c].ranks)
          shared_[r].emplace_back(member, c);
      std::ranges::sort(shared_[r]);
    }
  }

  const SwitchChannel &operator[](End end) const { return program_.ranks[end.first].switchChannels[end.second]; }

  /// Returns the number of switch channels of `rank` that have member `other`.
  std::size_t count(std::uint32_t rank, std::uint32_t other) const { return with(rank, other).size(); }
  /// Returns the position of `end` among the channels of its rank with member `other`, from 0.
  std::size_t number(End end, std::uint32_t other) const {
    const auto mine = with(end.first, other);
    return static_cast<std::size_t>(std::ranges::lower_bound(mine, End{other, end.second}) - mine.begin());
  }
  /// Returns the end on `other` that `end` meets. Its channel is `noEnd` if there is none.
  End met(End end, std::uint32_t other) const {
    const auto theirs = with(other, end.first);
    const std::size_t k = number(end, other);
    return {other, k < theirs.size() ? theirs[k].second : noEnd};
  }

private:
  /// Returns (other, channel) for each channel of `rank` with member `other`.
  std::span<const End> with(std::uint32_t rank, std::uint32_t other) const {
    const auto &all = shared_[rank];
    return {std::ranges::lower_bound(all, End{other, 0}), std::ranges::upper_bound(all, End{other, noEnd})};
  }

  const Program &program_;
  std::vector<std::vector<End>> shared_; // [rank]: (member, channel), sorted
};

/// Returns "[0, 1, 2]", shortened if it is long.
std::string listOf(const std::vector<std::uint32_t> &ranks) {
  constexpr std::size_t most = 16;
  std::string text = "[";
  for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
    text += (i != 0 ? ", " : "") + std::to_string(ranks[i]);
  return text + (ranks.size() > most ? ", …]" : "]");
}

/// Connects groups in the order of the ranks' lists, as far as possible. If a rank is stuck, returns two ends: the next
/// end of this rank, and the end of another group at which a member of the rank's group is stuck.
std::pair<End, End> stuckEnds(const Program &program, const SwitchGroups &groups) {
  std::vector<std::uint32_t> next(program.ranks.size(), 0);     // [rank]
  std::vector<std::vector<std::uint32_t>> arrived(next.size()); // [first member][channel]
  for (std::uint32_t r = 0; r < next.size(); ++r)
    arrived[r].resize(program.ranks[r].switchChannels.size());
  std::vector<std::uint32_t> ready(next.size());
  for (std::uint32_t r = 0; r < next.size(); ++r)
    ready[r] = r;
  while (!ready.empty()) {
    const std::uint32_t rank = ready.back();
    ready.pop_back();
    if (next[rank] == program.ranks[rank].switchChannels.size())
      continue;
    const std::vector<std::uint32_t> &members = groups[{rank, next[rank]}].ranks;
    const End group = groups.met({rank, next[rank]}, members[0]);
    if (++arrived[group.first][group.second] != members.size())
      continue;
    for (const std::uint32_t member : members) {
      ++next[member];
      ready.push_back(member);
    }
  }
  for (std::uint32_t r = 0; r < next.size(); ++r) {
    if (next[r] == program.ranks[r].switchChannels.size())
      continue;
    const std::vector<std::uint32_t> &members = groups[{r, next[r]}].ranks;
    const End group = groups.met({r, next[r]}, members[0]);
    for (const std::uint32_t member : members)
      if (const End at{member, next[member]}; groups[at].ranks != members || groups.met(at, members[0]) != group)
        return {{r, next[r]}, at};
  }
  return {{noEnd, noEnd}, {noEnd, noEnd}};
}

} // namespace

void StructureChecker::checkSwitchGroups() {
  const SwitchGroups groups(program_);
  const std::size_t before = numFaults_;
  std::set<std::pair<End, End>> told;
  const auto compare = [&](End end, std::uint32_t other) {
    const End met = groups.met(end, other);
    const SwitchChannel &here = groups[end];
    if (met.second == noEnd) {
      faultAt({end.first}, noLoc, diag::switch_group_missing,
              {end.second, end.first, listOf(here.ranks), other, groups.number(end, other) + 1,
               groups.count(other, end.first)});
      return;
    }
    const SwitchChannel &there = groups[met];
    if ((here.ranks == there.ranks && here.buffer == there.buffer) || !told.insert(std::minmax(end, met)).second)
      return;
    if (here.ranks != there.ranks)
      faultAt({end.first}, noLoc, diag::switch_group_members,
              {end.second, end.first, listOf(here.ranks), met.second, other, listOf(there.ranks)});
    else
      faultAt({end.first}, noLoc, diag::switch_group_buffer,
              {end.second, end.first, toString(here.buffer), met.second, other, toString(there.buffer)});
  };
  // The first member of a group is compared with all members, and each other member with the first one. If these agree,
  // all members agree.
  for (std::uint32_t r = 0; r < numRanks_; ++r)
    for (std::uint32_t c = 0; c < program_.ranks[r].switchChannels.size() && !full(); ++c) {
      const std::vector<std::uint32_t> &members = groups[{r, c}].ranks;
      if (members[0] != r)
        compare({r, c}, members[0]);
      else
        std::ranges::for_each(members, [&](std::uint32_t member) { compare({r, c}, member); });
    }
  if (numFaults_ != before)
    return;
  if (const auto [end, other] = stuckEnds(program_, groups); end.first != noEnd)
    faultAt({end.first}, noLoc, diag::switch_group_order, {end.second, end.first, other.first, other.second});
}

} // namespace mscclc::ir
