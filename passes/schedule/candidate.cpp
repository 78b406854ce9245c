#include "passes/schedule/candidate.h"

#include <algorithm>
#include <limits>

namespace mscclc::passes::schedule {
namespace {

constexpr double slack = 1.02; ///< figures of the model that are this close count as equal

/// The shortest time, and the fewest bytes among the candidates with about that time.
struct Mark {
  double nanoseconds = std::numeric_limits<double>::infinity();
  double linkBytes = std::numeric_limits<double>::infinity();

  explicit Mark(std::span<const Candidate> among) {
    for (const Candidate &one : among)
      if (!one.refused)
        nanoseconds = std::min(nanoseconds, one.nanoseconds);
    for (const Candidate &one : among)
      if (!one.refused && isFast(one))
        linkBytes = std::min(linkBytes, one.linkBytes);
  }
  bool isFast(const Candidate &one) const { return one.nanoseconds <= slack * nanoseconds; }
  bool movesLittle(const Candidate &one) const { return one.linkBytes <= slack * linkBytes; }
};

bool hasLessSync(const Candidate &a, const Candidate &b) {
  return a.syncs != b.syncs ? a.syncs < b.syncs : a.threadBlocks < b.threadBlocks;
}
bool isSimpler(const Candidate &a, const Candidate &b) {
  if (std::max(a.linkBytes, b.linkBytes) > slack * std::min(a.linkBytes, b.linkBytes))
    return a.linkBytes < b.linkBytes;
  return hasLessSync(a, b);
}

/// True if refused candidate `a` is nearer to the limits than `b`. If their excess over an executor's limits is known,
/// more blocks are nearer, because each is shorter. Otherwise fewer blocks are nearer, because a GPU does not hold
/// them.
bool isNearer(const Candidate &a, const Candidate &b) {
  if (a.excess.isKnown() != b.excess.isKnown())
    return a.excess.isKnown();
  if (!a.excess.isKnown())
    return a.choices.blocks * a.choices.instances < b.choices.blocks * b.choices.instances;
  return a.excess.blocks != b.excess.blocks ? a.excess.blocks > b.excess.blocks : a.excess.times < b.excess.times;
}

} // namespace

const Candidate *bestOf(std::span<const Candidate> among) {
  const Mark mark(among);
  const Candidate *best = nullptr;
  for (const Candidate &one : among)
    if (!one.refused && mark.isFast(one) && mark.movesLittle(one) && (!best || hasLessSync(one, *best)))
      best = &one;
  return best;
}

TakenFor takenFor(std::span<const Candidate> among, const Candidate &taken, const Candidate &other) {
  const Mark mark(among);
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
  return slack * other.nanoseconds < mine.nanoseconds ||
         (other.nanoseconds <= mine.nanoseconds && isSimpler(other, mine));
}

} // namespace mscclc::passes::schedule
