// Finds out why launches hang, from the recorded waits and launches of some ranks. The runtime writes the result into
// the error of a time-out. `mscclc explain-hang` does the same with the dumps of several processes.
#pragma once

#include "runtime_abi.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::hang {

/// A wait of a block that has not ended.
struct Wait {
  std::string kernel;
  uint32_t rank = 0, block = 0, operation = 0; ///< `operation`: position in the block's program
  std::string name, place;                     ///< operation's name and place ("wait", "a.cpp:7"); empty: not known
  uint32_t kind = 0;                           ///< MscclcWaitKind
  std::vector<uint32_t> from;                  ///< ranks that it waits for; empty: other blocks, or not known
  uint64_t index = 0, expected = 0, came = 0;  ///< see MscclcStall; for packets, `came` is how many have come
  uint64_t milliseconds = 0;                   ///< duration of the wait so far; 0: not known
};

/// The launches of one kernel on one rank.
struct Launch {
  std::string kernel;
  uint32_t rank = 0;
  uint64_t finished = 0; ///< number of launches that have finished
  bool runs = false;     ///< true: one more launch has begun
  uint64_t bytes = 0;    ///< size of the last message, in bytes

  uint64_t begun() const { return finished + (runs ? 1 : 0); }
};

struct Report {
  uint32_t ranks = 0;              ///< number of ranks of the communicator
  std::vector<uint32_t> reporting; ///< ranks whose waits are known, sorted
  std::vector<uint32_t> lost;      ///< ranks whose processes have ended, sorted
  std::vector<Wait> waits;
  std::vector<Launch> launches; ///< one for each kernel and rank whose launches are known
};

inline std::string number(uint64_t value) {
  return std::to_string(value);
}

/// Returns "rank 3", "ranks 0, 2 and 5" or "ranks 0 to 6". `ranks` must be sorted, without repetition.
inline std::string ranksText(const std::vector<uint32_t> &ranks) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[i] + (end - i))
      ++end;
    if (end - i >= 3)
      parts.push_back(number(ranks[i]) + " to " + number(ranks[end - 1]));
    else
      for (size_t k = i; k < end; ++k)
        parts.push_back(number(ranks[k]));
    i = end;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}
inline void sortUnique(std::vector<uint32_t> &ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}
/// True if the sorted `ranks` contain `rank`.
inline bool holds(const std::vector<uint32_t> &ranks, uint32_t rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

/// Describes the event that a wait waits for.
inline std::string wanted(const Wait &wait) {
  const std::string index = number(wait.index), expected = number(wait.expected), came = number(wait.came);
  const std::string from = wait.from.empty() ? "an unknown rank" : ranksText(wait.from);
  switch (static_cast<MscclcWaitKind>(wait.kind)) {
  case MSCCLC_WAIT_MEMORY:
    return "signal " + expected + " of " + from + " on memory channel " + index + "; " + came + " came";
  case MSCCLC_WAIT_PORT:
    return "signal " + expected + " of " + from + " on port channel " + index + "; " + came + " came";
  case MSCCLC_WAIT_FLUSH:
    return "flush " + expected + " of port channel " + index + " to " + from + "; " + came + " are done";
  case MSCCLC_WAIT_FIFO:
    return "room in the request queue, for request " + expected + " on port channel " + index +
           "; there was room for those below " + came;
  case MSCCLC_WAIT_SEMAPHORE:
    return "a release of semaphore " + index;
  case MSCCLC_WAIT_BARRIER:
    return "the other blocks at barrier " + index + "; " + came + " arrivals of " + expected;
  case MSCCLC_WAIT_STAGING:
    return std::string("the other blocks ") +
           (wait.operation == 0 ? "after the copy of the input" : "before the copy of the output") + "; " + came +
           " arrivals of " + expected;
  case MSCCLC_WAIT_PACKET:
    return "packet " + index + " of " + from + "; " + came + " of " + expected + " came";
  case MSCCLC_WAIT_COUNT:
    return "counts of " + from + ", of rows for rank " + index;
  case MSCCLC_WAIT_READY:
    return "block " + index + " of the rows of experts, which the user's kernel announces";
  case MSCCLC_OVERLAP:
    break; // no wait
  }
  return "something unknown (kind " + number(wait.kind) + ")";
}

/// Returns one line: "kernel 'k': rank 2, block 0, operation 5 (wait, a.cpp:7) waits for … (for 2.1 s)".
inline std::string describe(const Wait &wait) {
  std::string text = "kernel '" + wait.kernel + "': rank " + number(wait.rank) + ", block " + number(wait.block);
  if (wait.kind == MSCCLC_OVERLAP && wait.operation != 0)
    return text +
           (wait.operation == 1 ? " began to receive in launch "
                                : " did not receive before it began to send in launch ") +
           number(wait.index) + (wait.operation == 1 ? ", and had not sent" : " or behind it") +
           "; the kernels that send and receive take turns, in graphs too";
  if (wait.kind == MSCCLC_OVERLAP)
    return text + " began launch " + number(wait.index) +
           " while another launch of the same instance ran; a graph's replays are not ordered against other launches "
           "by the runtime";
  if (wait.kind != MSCCLC_WAIT_COUNT && wait.kind != MSCCLC_WAIT_READY)
    text += ", operation " + number(wait.operation);
  if (!wait.name.empty())
    text += " (" + wait.name + (wait.place.empty() ? "" : ", " + wait.place) + ")";
  text += " waits for " + wanted(wait);
  if (wait.milliseconds != 0)
    text += " (for " + number(wait.milliseconds / 1000) + "." + number(wait.milliseconds / 100 % 10) + " s)";
  return text;
}

/// Finds the cause that keeps the launches of one kernel from ending.
class Cause {
public:
  Cause(const Report &report, std::string kernel) : given_(report), kernel_(std::move(kernel)) {
    for (const Wait &wait : report.waits)
      if (wait.kernel == kernel_ && wait.kind != MSCCLC_OVERLAP) {
        waiting_.push_back(wait.rank);
        waitedFor_.insert(waitedFor_.end(), wait.from.begin(), wait.from.end());
      }
    sortUnique(waiting_);
    sortUnique(waitedFor_);
    for (const Launch &launch : report.launches)
      if (launch.kernel == kernel_)
        newest_ = std::max(newest_, launch.begun());
    forLaunches([&](const Launch &launch) {
      known_.push_back(launch.rank);
      (launch.begun() == newest_ ? inside_ : late_).push_back(launch.rank);
    });
    sortUnique(known_);
    sortUnique(inside_);
    sortUnique(late_);
  }

  const std::string &kernel() const { return kernel_; }
  /// Returns the number of ranks that have begun the newest launch.
  size_t countInside() const { return std::max(inside_.size(), waiting_.size()); }
  bool hasLate() const { return !late_.empty(); }
  bool isWaitedIn() const { return !waiting_.empty(); }

  std::vector<std::string> find() {
    addLate();
    addSizes();
    addSilent();
    if (lines_.empty())
      addEnded();
    if (lines_.empty())
      addCircle();
    return lines_;
  }

private:
  template <class F> void forLaunches(F f) const {
    for (const Launch &launch : given_.get().launches)
      if (launch.kernel == kernel_ && !holds(given_.get().lost, launch.rank))
        f(launch);
  }
  void add(const std::string &line) { lines_.push_back(line); }
  std::string newest() const { return "launch " + number(newest_) + " of kernel '" + kernel_ + "'"; }
  static std::string have(const std::vector<uint32_t> &ranks) { return ranks.size() == 1 ? " has" : " have"; }
  static std::string wait(const std::vector<uint32_t> &ranks) { return ranks.size() == 1 ? " waits" : " wait"; }

  /// Adds the ranks that have not begun the newest launch, grouped by the kernel that they launched instead.
  void addLate() {
    std::map<std::string, uint64_t> least; // by kernel: fewest launches of a rank that is not late
    for (const Launch &launch : given_.get().launches)
      if (holds(inside_, launch.rank))
        least.emplace(launch.kernel, launch.begun()).first->second = std::min(least[launch.kernel], launch.begun());
    std::map<uint32_t, std::string> instead; // by late rank: a kernel that it has launched more often than others
    for (const Launch &launch : given_.get().launches)
      if (const auto found = least.find(launch.kernel); found != least.end() && launch.kernel != kernel_ &&
                                                        found->second < launch.begun() && holds(late_, launch.rank))
        instead[launch.rank] = "kernel '" + launch.kernel + "' with " + number(launch.bytes) + " bytes";
    std::map<std::string, std::vector<uint32_t>> byOther;
    for (const uint32_t rank : late_)
      byOther[instead[rank]].push_back(rank);
    for (const auto &[other, ranks] : byOther)
      add(ranksText(ranks) + have(ranks) + (other.empty() ? "" : " launched " + other + ", and") + " not begun " +
          newest() + ", as " + ranksText(inside_) + have(inside_));
  }
  void addSizes() {
    std::map<uint64_t, std::vector<uint32_t>> sizes;
    forLaunches([&](const Launch &launch) {
      if (launch.begun() == newest_ && newest_ != 0)
        sizes[launch.bytes].push_back(launch.rank);
    });
    std::string text;
    for (auto &[bytes, ranks] : sizes) {
      sortUnique(ranks);
      text += (text.empty() ? "" : ", ") + number(bytes) + " bytes on " + ranksText(ranks);
    }
    if (sizes.size() > 1)
      add(newest() + " has different sizes: " + text);
  }
  /// Adds the ranks that others wait for, if nothing is known of these ranks.
  void addSilent() {
    std::vector<uint32_t> silent, waiting;
    for (const Wait &wait : given_.get().waits)
      for (const uint32_t rank : wait.from)
        if (wait.kernel == kernel_ && !holds(known_, rank) && !holds(given_.get().reporting, rank) &&
            !holds(given_.get().lost, rank)) {
          silent.push_back(rank);
          waiting.push_back(wait.rank);
        }
    sortUnique(silent);
    sortUnique(waiting);
    if (!silent.empty())
      add("nothing is known of " + ranksText(silent) + ", for which " + ranksText(waiting) + wait(waiting));
  }
  /// Adds the ranks that others wait for, but that have already ended the newest launch.
  void addEnded() {
    std::vector<uint32_t> ended;
    forLaunches([&](const Launch &launch) {
      if (!launch.runs && launch.begun() == newest_ && holds(waitedFor_, launch.rank) && !holds(waiting_, launch.rank))
        ended.push_back(launch.rank);
    });
    sortUnique(ended);
    if (!ended.empty())
      add(ranksText(ended) + have(ended) + " ended " + newest() + " without what " + ranksText(waiting_) +
          wait(waiting_) + " for");
  }
  /// Adds a circle of ranks that wait for each other, if there is one.
  void addCircle() {
    std::map<uint32_t, const Wait *> next; // by rank: a wait for another rank that waits
    for (const Wait &wait : given_.get().waits)
      if (wait.kernel == kernel_ && targetOf(wait) != nullptr)
        next.emplace(wait.rank, &wait);
    for (const auto &start : next) {
      std::vector<const Wait *> path;
      auto at = next.find(start.first);
      while (at != next.end() && path.size() < next.size()) {
        path.push_back(at->second);
        at = next.find(*targetOf(*at->second));
        if (at != next.end() && at->first == start.first)
          return addPath(path);
      }
    }
  }
  /// Returns the first rank that `wait` is for and that waits, too; null if there is none.
  const uint32_t *targetOf(const Wait &wait) const {
    const auto found =
        std::find_if(wait.from.begin(), wait.from.end(), [&](uint32_t rank) { return holds(waiting_, rank); });
    return found == wait.from.end() ? nullptr : &*found;
  }
  void addPath(const std::vector<const Wait *> &path) {
    std::string text;
    for (const Wait *wait : path)
      text += (text.empty() ? "rank " : ", rank ") + number(wait->rank) + " for rank " + number(*targetOf(*wait)) +
              " at operation " + number(wait->operation) + (wait->place.empty() ? "" : " (" + wait->place + ")");
    add("the ranks wait for each other in a circle in " + newest() + ": " + text);
  }

  std::reference_wrapper<const Report> given_;
  std::string kernel_;
  std::vector<uint32_t> waiting_, waitedFor_, known_, inside_, late_;
  uint64_t newest_ = 0; ///< the number of the kernel's last launch that any rank has begun
  std::vector<std::string> lines_;
};

/// Returns the causes that keep the launches from ending, one in each line; empty if no cause is known.
inline std::vector<std::string> causes(const Report &report) {
  std::vector<std::string> lines, kernels;
  if (!report.lost.empty()) // lost ranks end the launches of all other ranks
    return {ranksText(report.lost) +
            (report.lost.size() == 1 ? " died: its process has ended" : " died: their processes have ended")};
  for (const Wait &wait : report.waits)
    kernels.push_back(wait.kernel);
  for (const Launch &launch : report.launches)
    kernels.push_back(launch.kernel);
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
  std::vector<Cause> candidates;
  for (const std::string &kernel : kernels)
    if (Cause candidate(report, kernel); candidate.isWaitedIn() || candidate.hasLate())
      candidates.push_back(std::move(candidate));
  // If ranks are in different kernels, the kernel with the most ranks is assumed to be right.
  std::sort(candidates.begin(), candidates.end(), [](const Cause &a, const Cause &b) {
    return a.countInside() != b.countInside() ? a.countInside() > b.countInside() : a.kernel() < b.kernel();
  });
  for (Cause &candidate : candidates) {
    const std::vector<std::string> found = candidate.find();
    lines.insert(lines.end(), found.begin(), found.end());
    if (!found.empty())
      break;
  }
  return lines;
}

/// Returns the causes, and then at most `mostWaits` waits, one in each line.
inline std::string explain(const Report &report, size_t mostWaits) {
  std::string text;
  const auto add = [&](const std::string &line) { text += (text.empty() ? "" : "\n") + line; };
  for (const std::string &cause : causes(report))
    add("cause: " + cause);
  for (size_t i = 0; i < report.waits.size() && i < mostWaits; ++i)
    add(describe(report.waits[i]));
  if (report.waits.size() > mostWaits)
    add("and " + number(report.waits.size() - mostWaits) + " more waits");
  return text;
}

} // namespace mscclc::hang
