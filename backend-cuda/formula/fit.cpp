#include "backend-cuda/formula/fit.h"

#include <cmath>

namespace mscclc::cuda {

namespace {

using Rows = std::vector<std::vector<double>>;

/// Solves rows · x = right-hand sides with Gaussian elimination, earlier columns first, free ones 0.
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

/// The first sample that `guess` gets wrong.
std::optional<Sample> firstWrong(const SampleSpace &space, const ValueOf &value, const Terms &terms,
                                 const std::vector<double> &guess) {
  constexpr double tolerance = 1e-4;
  std::optional<Sample> wrong;
  forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s);
    if (v == anyValue)
      return true;
    double sum = -static_cast<double>(v);
    for (std::size_t i = 0; i < terms.size(); ++i)
      sum += guess[i] * valueOf(terms[i], s);
    if (std::fabs(sum) > tolerance)
      wrong = s;
    return !wrong;
  });
  return wrong;
}

/// `sum`, if it is `value` everywhere.
std::optional<LinearSum> ifRight(const SampleSpace &space, const ValueOf &value, LinearSum sum) {
  const bool right = forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s);
    return v == anyValue || sum.at(s) == v;
  });
  return right ? std::optional(std::move(sum)) : std::nullopt;
}

/// The one term whose value at `s` is by one more than at `first` while all others are the same; none if there is none.
std::optional<std::size_t> neighbourBy(const Terms &terms, const Sample &first, const Sample &s) {
  std::optional<std::size_t> differs;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const int d = valueOf(terms[i], s) - valueOf(terms[i], first);
    if (d == 0)
      continue;
    if (d != 1 || differs)
      return std::nullopt;
    differs = i;
  }
  return differs;
}

/// Of the numbers that are `v` modulo `n`, the one nearest to 0, above it where two are.
std::int64_t nearestToZero(std::int64_t v, int n) {
  v = (v % n + n) % n;
  return v > n / 2 ? v - n : v;
}

} // namespace

// Starts from a guess of zeros and adds the first sample that the guess gets wrong as an equation. Each one raises the
// rank of the system by one, or shows that it has no solution: so there are at most as many rounds as terms, and one.
// Guesses may be fractions on the way; the end is checked in whole numbers.
std::optional<LinearSum> fitSum(const SampleSpace &space, const ValueOf &value, const Terms &terms) {
  Rows rows;
  std::vector<double> guess(terms.size(), 0);
  for (std::size_t round = 0; round <= terms.size(); ++round) {
    const std::optional<Sample> wrong = firstWrong(space, value, terms, guess);
    if (!wrong) {
      LinearSum sum{terms, {}};
      for (const double c : guess)
        sum.coefficients.push_back(std::llround(c));
      return ifRight(space, value, std::move(sum));
    }
    std::vector<double> row;
    for (const Term &t : terms)
      row.push_back(valueOf(t, *wrong));
    row.push_back(static_cast<double>(value(*wrong)));
    rows.push_back(std::move(row));
    guess = solve(rows, terms.size());
  }
  return std::nullopt;
}

ModuloFitter::ModuloFitter(const SampleSpace &space, const ValueOf &asked, Terms terms)
    : space_(space), terms_(std::move(terms)), neighbours_(terms_.size()) {
  std::size_t missing = terms_.size() - 1; // a constant has no neighbour
  forAll(space, [&](const Sample &s) {
    if (asked(s) == anyValue)
      return true;
    if (!first_) {
      first_ = s;
    } else if (const auto term = neighbourBy(terms_, *first_, s); term && !neighbours_[*term]) {
      neighbours_[*term] = s;
      --missing;
    }
    return missing != 0;
  });
}

// Slopes are read off neighbours of the first sample, which differ from it in one term by one; the constant then
// follows from the first sample. A term without such a neighbour has slope 0, and the check at the end may fail.
std::optional<LinearSum> ModuloFitter::fit(const ValueOf &value, int n) {
  if (!first_)
    return std::nullopt;
  const std::int64_t base = value(*first_);
  LinearSum sum{terms_, Coefficients(terms_.size(), 0)};
  for (std::size_t i = 0; i < terms_.size(); ++i)
    if (const auto &neighbour = neighbours_[i])
      sum.coefficients[i] = nearestToZero(value(*neighbour) - base, n);
  sum.coefficients[0] = nearestToZero(base - sum.at(*first_), n);
  return isRight(sum, value, n) ? std::optional(std::move(sum)) : std::nullopt;
}

bool ModuloFitter::isRight(const LinearSum &sum, const ValueOf &value, int n) {
  const auto rightAt = [&](const Sample &s) {
    const std::int64_t v = value(s);
    return v == anyValue || (sum.at(s) % n + n) % n == v;
  };
  if (suspect_ && !rightAt(*suspect_))
    return false;
  return forAll(space_, [&](const Sample &s) {
    if (rightAt(s))
      return true;
    suspect_ = s;
    return false;
  });
}

} // namespace mscclc::cuda
