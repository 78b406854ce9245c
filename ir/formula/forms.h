// The forms of formulas that the search tries.
#pragma once

#include "ir/formula/space.h"
#include "ir/formula/sum.h"

namespace mscclc::formula {

/// A number for which the search wants a formula.
struct Sought {
  const Space &space;
  Values values;
};

struct Form {
  const char *name;
  std::int64_t fewestRanks; ///< the form is skipped in programs with fewer ranks
  std::optional<Sum> (*find)(const Sought &);
};

/// Forms for kernels, in the order in which they are tried. The axes are rank, block, step and item. Values may be
/// anyValue. Remainders use a function of the device headers, which also accepts negative sums.
extern const std::span<const Form> kernelForms;
/// Forms for sources in the language, in the order in which they are tried. The axes are the rank and the loops.
/// Remainders use C++'s operator, so their sums must not be negative.
extern const std::span<const Form> sourceForms;

/// Returns the first of `forms` that has the right value at every point; nothing if there is none.
std::optional<Sum> findFormula(std::span<const Form> forms, const Sought &sought);

} // namespace mscclc::formula
