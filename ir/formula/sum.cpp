#include "ir/formula/sum.h"

#include <algorithm>
#include <cmath>

namespace mscclc::formula {

void Sum::add(Term term) {
  const std::string text = spell(term.what);
  const auto same = std::ranges::find_if(terms, [&](const Term &other) { return spell(other.what) == text; });
  if (same == terms.end())
    terms.push_back(std::move(term));
  else if ((same->factor += term.factor) == 0)
    terms.erase(same);
}

void Sum::add(const Sum &other) {
  for (const Term &term : other.terms)
    add(term);
  constant += other.constant;
}

namespace {

/// Appends `±magnitude` to a sum.
void append(Expr &sum, bool isNegative, Expr magnitude) {
  if (!sum)
    sum = isNegative ? negation(std::move(magnitude)) : std::move(magnitude);
  else
    sum = binary(std::move(sum), isNegative ? Operator::Subtract : Operator::Add, std::move(magnitude));
}

void appendConstant(Expr &sum, std::int64_t value) {
  if (value != 0)
    append(sum, value < 0, constant(std::abs(value)));
}

} // namespace

Expr Sum::spelledInOrder() const {
  Expr sum;
  for (const Term &term : terms)
    append(sum, term.factor < 0,
           std::abs(term.factor) == 1
               ? term.what
               : binary(formula::constant(std::abs(term.factor)), Operator::Multiply, term.what));
  appendConstant(sum, constant);
  return sum ? sum : formula::constant(0);
}

Expr Sum::spelledPositiveFirst() const {
  Expr sum;
  for (const bool isNegative : {false, true}) {
    for (const Term &term : terms)
      if ((term.factor < 0) == isNegative)
        append(sum, isNegative,
               std::abs(term.factor) == 1
                   ? term.what
                   : binary(term.what, Operator::Multiply, formula::constant(std::abs(term.factor))));
    if ((constant < 0) == isNegative)
      appendConstant(sum, constant);
  }
  return sum ? sum : formula::constant(0);
}

Sum sumOf(const Features &features, const Coefficients &coefficients) {
  Sum sum{{}, coefficients[0]};
  for (std::size_t i = 0; i < features.size(); ++i)
    if (coefficients[i + 1] != 0)
      sum.terms.push_back({coefficients[i + 1], features[i].spelled()});
  return sum;
}

namespace {

using Rows = std::vector<std::vector<double>>;

/// Solves rows · x = right-hand sides by Gaussian elimination. Earlier columns are eliminated first. Free unknowns
/// become 0.
std::vector<double> solve(Rows rows, std::size_t columns) {
  std::size_t next = 0;
  std::vector<std::size_t> pivotOf;
  for (std::size_t c = 0; c < columns && next < rows.size(); ++c) {
    std::size_t best = next;
    for (std::size_t r = next; r < rows.size(); ++r)
      if (std::fabs(rows[r][c]) > std::fabs(rows[best][c]))
        best = r;
    if (std::fabs(rows[best][c]) < 1e-9)
      continue;
    std::swap(rows[best], rows[next]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (r == next || rows[r][c] == 0)
        continue;
      const double factor = rows[r][c] / rows[next][c];
      for (std::size_t k = c; k <= columns; ++k)
        rows[r][k] -= factor * rows[next][k];
    }
    pivotOf.push_back(c);
    ++next;
  }
  std::vector<double> x(columns, 0);
  for (std::size_t r = 0; r < pivotOf.size(); ++r)
    x[pivotOf[r]] = rows[r][columns] / rows[r][pivotOf[r]];
  return x;
}

/// Returns the first point at which `guess` is wrong, or the number of points.
std::size_t firstWrong(const Features &features, Values values, const std::vector<double> &guess) {
  constexpr double tolerance = 1e-4;
  std::size_t p = 0;
  while (p < values.size() &&
         (values[p] == anyValue || std::fabs(sumAt(features, guess, p) - static_cast<double>(values[p])) <= tolerance))
    ++p;
  return p;
}

/// Returns the feature that is larger by one at point `to` than at point `from`. Returns nothing if another feature
/// differs, too.
std::optional<std::size_t> onlyStep(const Features &features, std::size_t from, std::size_t to) {
  std::optional<std::size_t> differs;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::int64_t step = features[i].at(to) - features[i].at(from);
    if (step == 0)
      continue;
    if (step != 1 || differs)
      return std::nullopt;
    differs = i;
  }
  return differs;
}

/// Returns the number nearest to 0 that is congruent to `v` modulo `n`. If there are two, returns the positive one.
std::int64_t nearestToZero(std::int64_t v, std::int64_t n) {
  v = (v % n + n) % n;
  return v > n / 2 ? v - n : v;
}

} // namespace

// The guess begins with zeros. Each round adds the first point where the guess is wrong as an equation. The equation
// raises the rank of the system by one, or shows that there is no solution, so there are at most two rounds more than
// features. Guesses may be fractions; the final check uses whole numbers.
std::optional<Coefficients> fitSum(const Features &features, Values values) {
  Rows rows;
  std::vector<double> guess(features.size() + 1, 0);
  for (std::size_t round = 0; round <= guess.size(); ++round) {
    const std::size_t wrong = firstWrong(features, values, guess);
    if (wrong == values.size()) {
      Coefficients sum;
      for (const double c : guess)
        sum.push_back(std::llround(c));
      for (std::size_t p = 0; p < values.size(); ++p)
        if (values[p] != anyValue && sumAt(features, sum, p) != values[p])
          return std::nullopt;
      return sum;
    }
    std::vector<double> row{1};
    for (const Feature &feature : features)
      row.push_back(static_cast<double>(feature.at(wrong)));
    row.push_back(static_cast<double>(values[wrong]));
    rows.push_back(std::move(row));
    guess = solve(rows, guess.size());
  }
  return std::nullopt;
}

ModuloFitter::ModuloFitter(Features features, std::vector<std::optional<Neighbours>> neighbours)
    : features_(std::move(features)), neighbours_(std::move(neighbours)) {}

ModuloFitter::ModuloFitter(Features features, Values asked)
    : features_(std::move(features)), neighbours_(features_.size()) {
  std::size_t p = 0, missing = features_.size();
  while (p < asked.size() && asked[p] == anyValue)
    ++p;
  first_ = p < asked.size() ? std::optional(p) : std::nullopt;
  for (++p; p < asked.size() && missing != 0; ++p)
    if (asked[p] != anyValue)
      if (const auto step = onlyStep(features_, *first_, p); step && !neighbours_[*step]) {
        neighbours_[*step] = Neighbours{*first_, p};
        --missing;
      }
}

std::optional<Coefficients> ModuloFitter::fit(const Scaled &values, std::int64_t n) {
  if (!first_)
    return std::nullopt;
  Coefficients sum(features_.size() + 1, 0);
  for (std::size_t i = 0; i < features_.size(); ++i)
    if (const auto &pair = neighbours_[i])
      sum[i + 1] = nearestToZero((values[pair->second] - values[pair->first]) *
                                     (features_[i].at(pair->second) - features_[i].at(pair->first)),
                                 n);
  sum[0] = nearestToZero(values[*first_] - sumAt(features_, sum, *first_), n);
  if (!isRight(sum, values, n, suspect_))
    return std::nullopt;
  for (std::size_t p = 0; p < values.values.size(); ++p)
    if (!isRight(sum, values, n, p)) {
      suspect_ = p;
      return std::nullopt;
    }
  return sum;
}

bool ModuloFitter::isRight(const Coefficients &sum, const Scaled &values, std::int64_t n, std::size_t point) const {
  const std::int64_t value = values[point];
  return value == anyValue || (sumAt(features_, sum, point) % n + n) % n == value;
}

} // namespace mscclc::formula
