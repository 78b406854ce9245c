#include "backend-cuda/dispatch.h"

#include "backend-cuda/numbers.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace mscclc::cuda {

namespace {

using Instances = std::vector<RankBlock>;

/// Up to this number of programs, a kernel tests one condition after another. More tests would be hard to read, and
/// each of them takes time.
constexpr std::size_t maxAsked = 8;
/// The largest divisor of rank and block that conditions may use.
constexpr int maxDivisor = 64;

/// Finds a condition on rank and block that is true for all of `wanted` and false for all of `others`.
class Separator {
public:
  Separator(const Instances &wanted, const Instances &others) : wanted_(wanted), others_(others), one_(wanted[0]) {}

  /// Returns the condition; null if none of the usual ones fits.
  Expr condition() const {
    if (Expr found = byEquality())
      return found;
    if (Expr found = byRange())
      return found;
    for (int d = 2; d <= maxDivisor; ++d)
      if (Expr found = byDivisor(d))
        return found;
    return {};
  }

private:
  template <class F> bool tells(F holds) const {
    return std::all_of(wanted_.begin(), wanted_.end(), holds) && std::none_of(others_.begin(), others_.end(), holds);
  }

  Expr byEquality() const {
    const Expr thisBlock = binary(var::block, Operator::Equal, one_.block);
    const Expr thisRank = binary(var::rank, Operator::Equal, one_.rank);
    if (tells([&](const auto &at) { return at.block == one_.block; }))
      return thisBlock;
    if (tells([&](const auto &at) { return at.rank == one_.rank; }))
      return thisRank;
    if (tells([&](const auto &at) { return at == one_; }))
      return binary(thisRank, Operator::And, thisBlock);
    const int apart = one_.block - one_.rank;
    if (!tells([&](const auto &at) { return at.block - at.rank == apart; }))
      return {};
    Expr shifted = use(var::rank);
    if (apart != 0)
      shifted = binary(shifted, apart < 0 ? Operator::Subtract : Operator::Add, constant(std::abs(apart)));
    return binary(use(var::block), Operator::Equal, shifted);
  }

  Expr byRange() const {
    int low = one_.block, high = one_.block;
    for (const auto &at : wanted_) {
      low = std::min(low, at.block);
      high = std::max(high, at.block);
    }
    const Expr fromLow = binary(var::block, Operator::AtLeast, low),
               toHigh = binary(var::block, Operator::AtMost, high);
    if (tells([&](const auto &at) { return at.block <= high; }))
      return toHigh;
    if (tells([&](const auto &at) { return at.block >= low; }))
      return fromLow;
    if (tells([&](const auto &at) { return at.block >= low && at.block <= high; }))
      return binary(fromLow, Operator::And, toHigh);
    return {};
  }

  Expr byDivisor(int d) const {
    const auto equal = [&](const Variable &variable, Operator op, Expr right) {
      return binary(binary(variable, op, d), Operator::Equal, std::move(right));
    };
    if (tells([&](const auto &at) { return at.block % d == one_.block % d; }))
      return equal(var::block, Operator::Remainder, constant(one_.block % d));
    if (tells([&](const auto &at) { return at.rank % d == one_.rank % d; }))
      return equal(var::rank, Operator::Remainder, constant(one_.rank % d));
    if (tells([&](const auto &at) { return at.rank / d == one_.rank / d; }))
      return equal(var::rank, Operator::Divide, constant(one_.rank / d));
    if (tells([&](const auto &at) { return at.block / d == at.rank; }))
      return equal(var::block, Operator::Divide, use(var::rank));
    if (tells([&](const auto &at) { return at.block % d == at.rank; }))
      return equal(var::block, Operator::Remainder, use(var::rank));
    return {};
  }

  const Instances &wanted_, &others_;
  const RankBlock &one_;
};

/// Returns a condition for each program, the programs with the fewest blocks first. Returns nothing if some program has
/// no condition.
std::vector<KernelModel::Case> casesOf(const std::vector<BlockProgram> &programs) {
  if (programs.size() > maxAsked)
    return {};
  std::vector<std::size_t> order(programs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return programs[a].instances.size() < programs[b].instances.size();
  });
  std::vector<KernelModel::Case> cases;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Instances others;
    for (std::size_t k = i + 1; k < order.size(); ++k)
      others.insert(others.end(), programs[order[k]].instances.begin(), programs[order[k]].instances.end());
    Expr condition = others.empty() ? Expr() : Separator(programs[order[i]].instances, others).condition();
    if (!condition && !others.empty())
      return {};
    cases.push_back({std::move(condition), order[i]});
  }
  return cases;
}

/// Returns the number of a block's program as a formula of rank and block, or as a table look-up.
Expr programNumber(const ir::Program &program, KernelModel &model) {
  std::vector<std::vector<std::int64_t>> programOf(program.ranks.size());
  Instances all;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    programOf[r].resize(program.ranks[r].blocks.size());
    for (std::size_t b = 0; b < programOf[r].size(); ++b)
      all.push_back({static_cast<int>(r), static_cast<int>(b)});
  }
  for (std::size_t p = 0; p < model.programs.size(); ++p)
    for (const auto &at : model.programs[p].instances)
      programOf[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.block)] = static_cast<std::int64_t>(p);
  return FormulaFinder(static_cast<int>(model.ranks), model.tables).expressionOrTable({all}, [&](const Sample &s) {
    return programOf[static_cast<std::size_t>(s.rank)][static_cast<std::size_t>(s.block)];
  });
}

} // namespace

void chooseDispatch(const ir::Program &program, KernelModel &model) {
  model.cases = casesOf(model.programs);
  if (model.cases.empty() && !model.programs.empty())
    model.programOf = programNumber(program, model);
}

} // namespace mscclc::cuda
