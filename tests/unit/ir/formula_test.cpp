// Tests that each form of formulas fits its own example, and that no form before it does.
#include "ir/formula/forms.h"

#include "catch.h"

#include <ctime>
#include <numeric>
#include <utility>

using namespace mscclc::formula;

namespace {

constexpr Variable names[] = {{"rank"}, {"block"}, {"step"}, {"item"}};

/// Some ranks, and a number of values along each other axis.
class Points {
public:
  Points(std::vector<int> ranks, std::vector<int> counts, std::vector<std::uint32_t> nodes = {})
      : ranks_(std::move(ranks)), counts_(std::move(counts)),
        space_(axes(), size_, static_cast<std::uint32_t>(ranks_.size()), std::move(nodes)) {}

  /// Returns `value(rank, others…)` at each point.
  template <class F> std::vector<std::int64_t> values(F value) const {
    std::vector<std::int64_t> all;
    for (std::size_t p = 0; p < size_; ++p) {
      std::vector<std::int64_t> at;
      for (const Axis &axis : space_.axes())
        at.push_back(axis.at[p]);
      all.push_back(value(at));
    }
    return all;
  }
  const Space &space() const { return space_; }

private:
  std::vector<Axis> axes() {
    size_ = ranks_.size();
    for (const int count : counts_)
      size_ *= static_cast<std::size_t>(count);
    std::vector<Axis> all(1 + counts_.size());
    for (std::size_t a = 0; a < all.size(); ++a)
      all[a].variable = &names[a];
    for (std::size_t p = 0; p < size_; ++p) {
      std::size_t rest = p;
      for (std::size_t a = counts_.size(); a > 0; --a) {
        all[a].at.push_back(static_cast<int>(rest) % counts_[a - 1]);
        rest /= static_cast<std::size_t>(counts_[a - 1]);
      }
      all[0].at.push_back(ranks_[rest]);
    }
    return all;
  }

  std::vector<int> ranks_, counts_;
  std::size_t size_ = 0;
  Space space_;
};

using At = std::vector<std::int64_t>;
const std::vector<int> eight{0, 1, 2, 3, 4, 5, 6, 7};

struct Example {
  const char *form;
  std::int64_t (*value)(const At &);
  const char *spelled;
};

/// At 8 ranks of 4 blocks.
constexpr Example inKernels[] = {
    {"a sum of rank, block, step and item", [](const At &v) { return 4 * v[0] + v[1]; }, "4 * rank + block"},
    {"a sum that leaves out the rank itself", [](const At &v) { return v[1] < v[0] ? v[1] : v[1] + 1; },
     "block + (block >= rank)"},
    {"a ring of all ranks", [](const At &v) { return (v[0] + v[1] + 5) % 8; }, "mod(rank + block - 3, 8)"},
    {"a ring of all ranks, above the least value", [](const At &v) { return 40 + (v[0] + v[1]) % 8 * 3; },
     "3 * mod(rank + block, 8) + 40"},
    {"a sum of quotient and remainder", [](const At &v) { return v[1] / 2 + 9 * (v[1] % 2); },
     "9 * (block % 2) + block / 2"},
    {"a sum that steps at one rank", [](const At &v) { return std::int64_t{v[0] < 3 ? 9 : 8}; }, "-(rank >= 3) + 9"},
    {"a ring within groups of ranks", [](const At &v) { return v[0] / 4 * 4 + (v[0] + v[1]) % 4; },
     "rank / 4 * 4 + mod(rank + block, 4)"},
};

/// At 8 ranks and 4 iterations of one loop.
constexpr Example inSources[] = {
    {"a sum in one basis, with one form for what is left", [](const At &v) { return (v[0] + v[1] + 5) % 8; },
     "(rank + block + 5) % ranks"},
    {"the same, and 1 where an iteration is past the rank", [](const At &v) { return v[1] + (v[1] >= v[0] ? 1 : 0); },
     "block + (block >= rank)"},
    {"a sum that jumps where the rank reaches a plane", [](const At &v) { return v[0] + (v[0] >= v[1] + 2 ? 9 : 0); },
     "rank + (rank >= block + 2) * 9"},
};

} // namespace

TEST_CASE("every form is found by its own example, and is the first to fit it") {
  const Points kernel(eight, {4, 1, 1}), source(eight, {4});
  const auto check = [](std::span<const Form> forms, std::span<const Example> examples, const Space &space,
                        const Points &points, Expr (Sum::*spelled)() const) {
    REQUIRE(examples.size() == forms.size());
    for (std::size_t i = 0; i < forms.size(); ++i) {
      INFO(examples[i].form);
      CHECK(std::string(forms[i].name) == examples[i].form);
      const std::vector<std::int64_t> values = points.values(examples[i].value);
      for (std::size_t earlier = 0; earlier < i; ++earlier)
        CHECK_FALSE(forms[earlier].find({space, values}));
      const auto found = forms[i].find({space, values});
      REQUIRE(found);
      CHECK(spell(((*found).*spelled)()) == examples[i].spelled);
    }
  };
  check(kernelForms, inKernels, kernel.space(), kernel, &Sum::spelledInOrder);
  check(sourceForms, inSources, source.space(), source, &Sum::spelledPositiveFirst);
}

TEST_CASE("what is left of a sum has one form") {
  const auto found = [](const Points &points, std::int64_t (*value)(const At &)) {
    const std::vector<std::int64_t> values = points.values(value);
    const auto sum = findFormula(sourceForms, {points.space(), values});
    return sum ? spell(sum->spelledPositiveFirst()) : "";
  };
  const Points loop(eight, {4}), three(eight, {3}), two(eight, {4, 2}), nodes(eight, {2}, {4});
  CHECK(found(loop, [](const At &v) { return 7 - v[0] - 2 * v[1]; }) == "7 - rank - block * 2");
  CHECK(found(loop, [](const At &v) { return std::int64_t{3} << v[1]; }) == "(1 << block) * 3");
  CHECK(found(loop, [](const At &v) { return std::int64_t{8} >> v[1]; }) == "(8 >> block)");
  CHECK(found(loop, [](const At &v) { return v[0] ^ (v[1] + 1); }) == "(rank ^ (block + 1))");
  CHECK(found(three, [](const At &v) { return (v[0] >> v[1] & 1) * 5 + 2; }) == "(rank >> block) % 2 * 5 + 2");
  CHECK(found(two, [](const At &v) { return (v[0] + (1 << v[1])) % 8 * 2 + v[2]; }) ==
        "step + (rank + (1 << block)) % ranks * 2");
  CHECK(found(nodes, [](const At &v) { return v[0] / 4 * 4 + (v[0] % 4 + v[1] + 1) % 4; }) ==
        "rank / 4 * 4 + (rank % 4 + block + 1) % 4");
  CHECK(found(nodes, [](const At &v) { return v[0] * v[0] * 7919 % 61 + v[1]; }).empty());
}

TEST_CASE("a number without a formula is found to have none in a few looks at each point", "[slow]") {
  std::vector<int> ranks(192);
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 2; d < 192; ++d)
    if (192 % d == 0)
      divisors.push_back(d);
  const Points sources(ranks, {15, 15}, divisors), kernels(ranks, {15, 15, 1});
  // The number has a formula but for the last point, or it has none anywhere.
  const auto formula = [](const At &v) { return (v[0] + 3 * v[1] + 5 * v[2]) % 192; };
  const auto outlier = [](const At &v) {
    return (v[0] + 3 * v[1] + 5 * v[2] + (v[0] == 191 && v[1] == 14 && v[2] == 14 ? 1 : 0)) % 192;
  };
  const auto any = [](const At &v) { return (v[0] * 7919 + v[1] * v[1] * 1'049 + v[2]) % 181; };
  int found = 0;
  const auto cpuSeconds = [&](std::span<const Form> forms, const Space &space,
                              const std::vector<std::int64_t> &values) {
    const std::clock_t begin = std::clock();
    found += findFormula(forms, {space, values}).has_value() ? 1 : 0;
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  // There are 43,200 points, 13 bases and 14 moduli, and each loop may count powers of two. A number that has a
  // formula is compared at each point once. One without takes 4 to 14 times as long, and 180 times if a modulus that
  // does not fit is tried at every point.
  for (const Points *points : {&sources, &kernels}) {
    const std::span<const Form> forms = points == &sources ? sourceForms : kernelForms;
    const double once = cpuSeconds(forms, points->space(), points->values(formula));
    CHECK(std::exchange(found, 0) == 1);
    CHECK(cpuSeconds(forms, points->space(), points->values(outlier)) < 60 * once);
    CHECK(cpuSeconds(forms, points->space(), points->values(any)) < 60 * once);
    CHECK(found == 0);
  }
}
