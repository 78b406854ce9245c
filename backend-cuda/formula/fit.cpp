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

/// `sum`, if it is `value` everywhere; modulo `n` unless that is 0.
std::optional<LinearSum> ifRight(const SampleSpace &space, const ValueOf &value, LinearSum sum, int n = 0) {
  const bool right = forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s), found = sum.at(s);
    return v == anyValue || (n == 0 ? found : (found % n + n) % n) == v;
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

// Slopes are read off neighbours of the first sample, which differ from it in one term by one; the constant then
// follows from the first sample. A term without such a neighbour has slope 0, and the check at the end may fail.
std::optional<LinearSum> fitModulo(const SampleSpace &space, const ValueOf &value, const Terms &terms, int n) {
  std::optional<Sample> first;
  std::int64_t base = 0;
  std::vector<bool> known(terms.size(), false);
  LinearSum sum{terms, Coefficients(terms.size(), 0)};
  const bool inRange = forAll(space, [&](const Sample &s) {
    const std::int64_t v = value(s);
    if (v == anyValue)
      return true;
    if (v < 0 || v >= n)
      return false;
    if (!first) {
      first = s;
      base = v;
    } else if (const auto term = neighbourBy(terms, *first, s); term && !known[*term]) {
      known[*term] = true;
      sum.coefficients[*term] = nearestToZero(v - base, n);
    }
    return true;
  });
  if (!inRange || !first)
    return std::nullopt;
  sum.coefficients[0] = nearestToZero(base - sum.at(*first), n);
  return ifRight(space, value, std::move(sum), n);
}

} // namespace mscclc::cuda
