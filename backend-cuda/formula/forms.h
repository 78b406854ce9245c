// The forms of formulas that are sought, in the order of trying.
#pragma once

#include "backend-cuda/formula/term_sets.h"
#include "backend-cuda/formula/terms.h"

#include <optional>
#include <span>

namespace mscclc::cuda {

/// What all forms are cases of:
///   rank / group · group  +  scale · (sum mod n)  +  rest  +  base
struct Formula {
  struct Ring {
    LinearSum sum;
    int n;
    std::int64_t scale = 1;
  };
  std::optional<Ring> ring;
  std::optional<LinearSum> rest;
  std::int64_t base = 0;
  int group = 0; ///< 0: no such term

  Expr spelled(const Axes &axes) const;
};

/// A number whose formula is sought.
struct Sought {
  const SampleSpace &space;
  const ValueOf &value;
  int ranks; ///< of the program
  Variation variation;
};

struct Form {
  const char *name;
  int fewestRanks; ///< of a program, for which it is tried
  std::optional<Formula> (*fit)(const Sought &);
};

extern const std::span<const Form> forms;

} // namespace mscclc::cuda
