#include "passes/schedule/candidate.h"

#include "passes/time/unmeasured.h"

#include <algorithm>
#include <limits>

namespace mscclc::passes::schedule {
namespace {

time::ParameterSet restsOf(const Candidate &one) {
  return one.restsOn.value_or(time::ParameterSet());
}

/// Selects candidates by their time, and by the unmeasured parameters on which their time rests.
struct Eligible {
  double mostTime = std::numeric_limits<double>::infinity();
  /// If set, selects only candidates whose unmeasured parameters are a proper subset of these.
  std::optional<time::ParameterSet> fewerThan = std::nullopt;

  bool operator()(const Candidate &one) const {
    const time::ParameterSet rests = restsOf(one);
    return !one.refused && one.nanoseconds <= mostTime &&
           (!fewerThan || (rests != *fewerThan && (rests & ~*fewerThan).none()));
  }
};

/// The shortest time, and the fewest bytes among the candidates with about that time.
struct Mark {
  double nanoseconds = std::numeric_limits<double>::infinity();
  double linkBytes = std::numeric_limits<double>::infinity();
  double close;

  Mark(std::span<const Candidate> among, const Eligible &isEligible, double close) : close(close) {
    for (const Candidate &one : among)
      if (isEligible(one))
        nanoseconds = std::min(nanoseconds, one.nanoseconds);
    for (const Candidate &one : among)
      if (isEligible(one) && isFast(one))
        linkBytes = std::min(linkBytes, one.linkBytes);
  }
  bool isFast(const Candidate &one) const { return one.nanoseconds <= close * nanoseconds; }
  bool movesLittle(const Candidate &one) const { return one.linkBytes <= close * linkBytes; }
};

bool hasLessSync(const Candidate &a, const Candidate &b) {
  return a.syncs != b.syncs ? a.syncs < b.syncs : a.threadBlocks < b.threadBlocks;
}
bool isSimpler(const Candidate &a, const Candidate &b) {
  if (std::max(a.linkBytes, b.linkBytes) > closeFigures * std::min(a.linkBytes, b.linkBytes))
    return a.linkBytes < b.linkBytes;
  return hasLessSync(a, b);
}

/// True if refused candidate `a` is nearer to the limits than `b`. If the excess over an executor's limits is known,
/// the candidate with more blocks is nearer, because each block is shorter. Otherwise the candidate with fewer blocks
/// is nearer, because a GPU does not hold the blocks.
bool isNearer(const Candidate &a, const Candidate &b) {
  if (a.excess.isKnown() != b.excess.isKnown())
    return a.excess.isKnown();
  if (!a.excess.isKnown())
    return a.choices.blocks * a.choices.instances < b.choices.blocks * b.choices.instances;
  return a.excess.blocks != b.excess.blocks ? a.excess.blocks > b.excess.blocks : a.excess.times < b.excess.times;
}

/// The best candidate, and the selection in which it was found.
struct Taken {
  const Candidate *best = nullptr;
  Eligible eligible = {};

  Taken(std::span<const Candidate> among, double close) {
    const double most = time::hedge * Mark(among, {}, close).nanoseconds;
    best = bestBy(among, eligible, close);
    while (best && restsOf(*best).any()) {
      const Eligible fewer{most, restsOf(*best)};
      const Candidate *other = bestBy(among, fewer, close);
      if (!other)
        return;
      best = other;
      eligible = fewer;
    }
  }

private:
  static const Candidate *bestBy(std::span<const Candidate> among, const Eligible &isEligible, double close) {
    const Mark mark(among, isEligible, close);
    const Candidate *best = nullptr;
    for (const Candidate &one : among)
      if (isEligible(one) && mark.isFast(one) && mark.movesLittle(one) && (!best || hasLessSync(one, *best)))
        best = &one;
    return best;
  }
};

} // namespace

const Candidate *bestOf(std::span<const Candidate> among, double close) {
  return Taken(among, close).best;
}

double mostTime(std::span<const Candidate> among, double close) {
  const Candidate *best = bestOf(among, close);
  if (best && restsOf(*best).none())
    return best->nanoseconds;
  return time::hedge * Mark(among, {}, close).nanoseconds;
}

TakenFor takenFor(std::span<const Candidate> among, const Candidate &taken, const Candidate &other) {
  const Eligible eligible = Taken(among, closeFigures).eligible;
  if (!eligible(other))
    return other.nanoseconds <= eligible.mostTime ? TakenFor::Measurements : TakenFor::Time;
  const Mark mark(among, eligible, closeFigures);
  if (!mark.isFast(other))
    return TakenFor::Time;
  if (!mark.movesLittle(other))
    return TakenFor::LinkBytes;
  if (other.syncs != taken.syncs)
    return TakenFor::Syncs;
  return other.threadBlocks != taken.threadBlocks ? TakenFor::ThreadBlocks : TakenFor::Order;
}

bool isBetter(const Candidate &other, const Candidate &mine) {
  if (other.refused || mine.refused)
    return !other.refused || (mine.refused && isNearer(other, mine));
  return closeFigures * other.nanoseconds < mine.nanoseconds ||
         (other.nanoseconds <= mine.nanoseconds && isSimpler(other, mine));
}

} // namespace mscclc::passes::schedule
