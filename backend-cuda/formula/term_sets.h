// Which terms are worth trying for a number, by what varies in its samples.
#pragma once

#include "backend-cuda/formula/sample.h"
#include "backend-cuda/formula/terms.h"

#include <vector>

namespace mscclc::cuda {

/// What varies in a space, and the divisors worth trying for it.
struct Variation {
  Variation(const SampleSpace &space, int ranks);

  bool ranks = false, blocks = false, steps = false, items = false;
  int firstItem = 0;
  std::vector<int> blockDivisors, rankDivisors, itemDivisors;

  /// Axes but the rank that vary and may have reached it, in the order of trying.
  std::vector<Axis> counters() const;
};

/// Everything that varies.
Terms plainTerms(const Variation &v);
/// The same, and whether item, step or block has reached the rank: for lists that leave the rank out.
Terms skippingTerms(const Variation &v);
/// skippingTerms with one axis split into quotient and remainder, for every such way.
std::vector<Terms> splitTerms(const Variation &v);
/// What may go around a ring: plainTerms, and these with block or item split.
std::vector<Terms> ringTerms(const Variation &v);

} // namespace mscclc::cuda
