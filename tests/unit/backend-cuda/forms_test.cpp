// Each form of formulas fits what it is there for, and nothing before it does.
#include "backend-cuda/formula/forms.h"

#include "backend-cuda/printer.h"

#include "catch.h"

using namespace mscclc::cuda;

namespace {

struct Example {
  const char *form;
  ValueOf value; ///< at 8 ranks of 4 blocks
  const char *spelled;
};

const std::vector<Example> &examples() {
  static const std::vector<Example> all{
      {"a sum of rank, block, step and item", [](const Sample &s) { return 4 * s.rank + s.block; },
       "4 * k.rank + k.block"},
      {"a sum that leaves out the rank itself",
       [](const Sample &s) { return s.block < s.rank ? s.block : s.block + 1; }, "k.block + (k.block >= k.rank)"},
      {"a ring of all ranks", [](const Sample &s) { return (s.rank + s.block + 5) % 8; },
       "mod(k.rank + k.block - 3, 8)"},
      {"a ring of all ranks, above the least value", [](const Sample &s) { return 40 + (s.rank + s.block) % 8 * 3; },
       "3 * mod(k.rank + k.block, 8) + 40"},
      {"a sum of quotient and remainder", [](const Sample &s) { return s.block / 2 + 9 * (s.block % 2); },
       "9 * (k.block % 2) + k.block / 2"},
      {"a sum that steps at one rank", [](const Sample &s) { return s.rank < 3 ? 9 : 8; }, "-(k.rank >= 3) + 9"},
      {"a ring within groups of ranks", [](const Sample &s) { return s.rank / 4 * 4 + (s.rank + s.block) % 4; },
       "k.rank / 4 * 4 + mod(k.rank + k.block, 4)"},
  };
  return all;
}

} // namespace

TEST_CASE("every form is found by its own example, and is the first that is") {
  std::vector<RankBlock> everywhere;
  for (int r = 0; r < 8; ++r)
    for (int b = 0; b < 4; ++b)
      everywhere.push_back({r, b});
  const SampleSpace space{everywhere};
  REQUIRE(examples().size() == forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const Example &example = examples()[i];
    INFO(example.form);
    CHECK(std::string(forms[i].name) == example.form);
    const Sought sought{space, example.value, 8, Variation(space, 8)};
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      CHECK_FALSE(forms[earlier].fit(sought));
    const auto formula = forms[i].fit(sought);
    REQUIRE(formula);
    CHECK(spell(formula->spelled({})) == example.spelled);
  }
}
