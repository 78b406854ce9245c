// The forms of formulas that are sought.
#pragma once

#include "ir/formula/space.h"
#include "ir/formula/sum.h"

namespace mscclc::formula {

/// A number whose formula is sought.
struct Sought {
  const Space &space;
  Values values;
};

struct Form {
  const char *name;
  std::int64_t fewestRanks; ///< of a program, for which it is tried
  std::optional<Sum> (*find)(const Sought &);
};

/// Forms for kernels, in the order of trying. Axes are rank, block, step and item. They handle anyValue. Remainders are
/// a function of the device headers, so that sums below 0 have them, too.
extern const std::span<const Form> kernelForms;
/// Forms for sources in the language, in the order of trying. Axes are the rank and loops. Remainders are C++'s.
extern const std::span<const Form> sourceForms;

/// Returns the first of `forms` that has the values at every point; nothing if none has.
std::optional<Sum> findFormula(std::span<const Form> forms, const Sought &sought);

} // namespace mscclc::formula
