#include "compiler/outputs/dsl/formula.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

namespace mscclc::dsl {

Formula operator+(const Formula &a, const Formula &b) {
  Formula sum = a;
  sum.constant += b.constant;
  for (const Formula::Term &term : b.terms) {
    const auto same =
        std::ranges::find_if(sum.terms, [&](const Formula::Term &other) { return other.text == term.text; });
    if (same == sum.terms.end())
      sum.terms.push_back(term);
    else if ((same->factor += term.factor) == 0)
      sum.terms.erase(same);
  }
  return sum;
}

std::string toString(const Formula &formula) {
  std::string text;
  const auto add = [&](bool negative, const std::string &part) {
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += part;
  };
  const auto put = [&](const Formula::Term &term) {
    const std::int64_t factor = std::abs(term.factor);
    add(term.factor < 0, factor == 1 ? term.text : term.text + " * " + std::to_string(factor));
  };
  for (const Formula::Term &term : formula.terms)
    if (term.factor > 0)
      put(term);
  if (text.empty() && formula.constant > 0)
    text = std::to_string(formula.constant);
  else if (!text.empty() && formula.constant > 0)
    add(false, std::to_string(formula.constant));
  for (const Formula::Term &term : formula.terms)
    if (term.factor < 0)
      put(term);
  if (formula.constant < 0)
    add(true, std::to_string(-formula.constant));
  return text.empty() ? "0" : text;
}

namespace {
/// The number that a loop leaves out for `rank`; -1: none.
std::int64_t skippedBy(const LoopStyle &style, std::int64_t rank) {
  switch (style.kind) {
  case LoopStyle::Kind::Count:
    break;
  case LoopStyle::Kind::SkipRank:
    return rank;
  case LoopStyle::Kind::SkipInNode:
    return rank % style.node;
  case LoopStyle::Kind::SkipNode:
    return rank / style.node;
  }
  return -1;
}
} // namespace

Space::Space(const std::vector<std::uint32_t> &ranks, std::uint32_t numRanks, const std::vector<std::uint32_t> &nodes,
             std::vector<Loop> loops)
    : ranks_(ranks), numRanks_(numRanks), nodes_(nodes), loops_(std::move(loops)) {
  for (const Loop &loop : loops_)
    inner_ *= loop.count;
  points_ = ranks.size() * inner_;

  Basis basis(1);
  basis[0].text = "rank";
  for (const std::uint32_t rank : ranks)
    basis[0].at.insert(basis[0].at.end(), inner_, rank);
  findNextRanks(basis[0], [](std::int64_t) { return 0; });
  std::size_t stride = inner_;
  for (const Loop &loop : loops_)
    basis.push_back(variableOf(loop, static_cast<int>(basis.size()), stride /= loop.count));
  bases_.push_back(std::move(basis));
  moduli_.push_back(numRanks);
  for (const std::uint32_t node : nodes)
    moduli_.insert(moduli_.end(), {node, numRanks / node});
}

Space::Variable Space::variableOf(const Loop &loop, int depth, std::size_t stride) {
  const bool counts = loop.style.kind == LoopStyle::Kind::Count;
  Variable variable{loop.name, depth, {}, {}};
  Variable indicator{"(" + loop.name + (counts ? " >= " : " > ") + "rank)", depth, {}, {}};
  for (std::size_t p = 0; p < points_; ++p) {
    const std::int64_t rank = ranks_[p / inner_], k = static_cast<std::int64_t>(p / stride % loop.count);
    const std::int64_t skipped = skippedBy(loop.style, rank);
    const std::int64_t value = k + loop.style.first + (skipped >= 0 && k >= skipped);
    variable.at.push_back(value);
    variable.next.push_back(k + 1 < loop.count ? static_cast<std::uint32_t>(p + stride) : none);
    indicator.at.push_back(counts ? value >= rank : value > rank);
  }
  indicators_.push_back(std::move(indicator));
  return variable;
}

/// The rank as its node, of `node` ranks, and its place there.
void Space::addBasis(std::uint32_t node) const {
  const std::string by = std::to_string(node);
  Variable place{"rank % " + by, 0, {}, {}}, number{"rank / " + by, 0, {}, {}};
  for (const std::int64_t rank : bases_[0][0].at) {
    place.at.push_back(rank % node);
    number.at.push_back(rank / node);
  }
  findNextRanks(place, [node](std::int64_t rank) { return rank / node; });
  findNextRanks(number, [node](std::int64_t rank) { return rank % node; });
  Basis basis{std::move(number), std::move(place)};
  basis.insert(basis.end(), bases_[0].begin() + 1, bases_[0].end());
  bases_.push_back(std::move(basis));
}

/// Sets where a variable of the rank is larger and the rest of the rank, `restOf`, and the loops' variables are as they
/// are.
void Space::findNextRanks(Variable &variable, const std::function<std::int64_t(std::int64_t)> &restOf) const {
  std::vector<std::size_t> following(ranks_.size(), ranks_.size());
  std::map<std::int64_t, std::size_t> last;
  for (std::size_t i = ranks_.size(); i-- > 0;) {
    const auto [found, isNew] = last.try_emplace(restOf(ranks_[i]), i);
    if (!isNew)
      following[i] = std::exchange(found->second, i);
  }
  variable.next.assign(points_, none);
  for (std::size_t p = 0; p < points_; ++p)
    for (std::size_t i = following[p / inner_]; i < ranks_.size(); i = following[i])
      if ((variable.next[p] = pointOf(i, p)) != none)
        break;
}

/// The point of rank number `index` where loops' variables are as at `point`; none if a loop leaves that out.
std::uint32_t Space::pointOf(std::size_t index, std::size_t point) const {
  std::size_t to = index, stride = inner_;
  for (const Loop &loop : loops_) {
    stride /= loop.count;
    std::int64_t k = static_cast<std::int64_t>(point / stride % loop.count);
    if (loop.style.kind != LoopStyle::Kind::Count) {
      k += k >= skippedBy(loop.style, ranks_[point / inner_]);
      const std::int64_t skipped = skippedBy(loop.style, ranks_[index]);
      if (k == skipped)
        return none;
      k -= k > skipped;
    }
    to = to * loop.count + static_cast<std::size_t>(k);
  }
  return static_cast<std::uint32_t>(to);
}

std::optional<Formula> Space::fit(std::span<const std::int64_t> values) const {
  if (std::ranges::all_of(values, [&](std::int64_t value) { return value == values[0]; }))
    return Formula{{}, values[0]};
  for (std::size_t i = 0; i <= nodes_.size(); ++i) {
    if (i == bases_.size())
      addBasis(nodes_[i - 1]);
    if (auto found = inBasis(bases_[i], values))
      return found;
  }
  if (auto found = byIndicator(values))
    return found;
  return byThreshold(values);
}

/// With a term that is 1 where an iteration is past the rank: so lists that lack the rank itself are counted.
std::optional<Formula> Space::byIndicator(std::span<const std::int64_t> values) const {
  if (points_ > 0 && bases_[0][0].at.front() == bases_[0][0].at.back()) // one rank
    return std::nullopt;
  for (const Variable &indicator : indicators_)
    for (const std::int64_t sign : {1, -1}) {
      std::vector<std::int64_t> rest(values.begin(), values.end());
      for (std::size_t p = 0; p < points_; ++p)
        rest[p] -= sign * indicator.at[p];
      if (std::ranges::equal(rest, values))
        continue;
      auto found = inBasis(bases_[0], rest);
      if (!found)
        continue;
      found->terms.push_back({sign, indicator.text, indicator.depth, true});
      return found;
    }
  return std::nullopt;
}

/// Takes off what depends on a variable evenly, and looks for a form for the rest.
std::optional<Formula> Space::inBasis(const Basis &basis, std::span<const std::int64_t> values) const {
  std::vector<std::int64_t> left(values.begin(), values.end());
  Formula sum;
  std::vector<const Variable *> rest;
  for (const Variable &variable : basis) {
    std::int64_t slope = 0;
    bool known = false, even = true;
    for (std::size_t p = 0; p < points_ && even; ++p) {
      const std::uint32_t next = variable.next[p];
      if (next == none)
        continue;
      const std::int64_t run = variable.at[next] - variable.at[p], rise = left[next] - left[p];
      if (rise % run != 0 || (known && slope != rise / run))
        even = false;
      slope = rise / run;
      known = true;
    }
    if (!even) {
      rest.push_back(&variable);
    } else if (slope != 0) {
      sum.terms.push_back({slope, variable.text, variable.depth, variable.text.find(' ') != std::string::npos});
      for (std::size_t p = 0; p < points_; ++p)
        left[p] -= slope * variable.at[p];
    }
  }
  if (std::ranges::all_of(left, [&](std::int64_t value) { return value == left[0]; })) {
    sum.constant = left[0];
    return sum;
  }
  if (rest.empty())
    return std::nullopt;
  auto found = oneForm(rest, left);
  if (!found)
    found = inParts(rest, left);
  return found ? std::optional(sum + *found) : std::nullopt;
}

std::optional<Formula> Space::oneForm(const std::vector<const Variable *> &rest,
                                      const std::vector<std::int64_t> &left) const {
  for (const auto form : {&Space::power, &Space::modular, &Space::exclusive, &Space::bit})
    if (auto found = (this->*form)(rest, left))
      return found;
  return std::nullopt;
}

std::optional<Formula> Space::modular(const std::vector<const Variable *> &rest,
                                      const std::vector<std::int64_t> &left) const {
  const auto [low, high] = std::ranges::minmax(left);
  std::int64_t unit = 0;
  for (const std::int64_t value : left)
    unit = std::gcd(unit, value - low);
  const std::int64_t span = (high - low) / unit + 1;
  std::vector<std::int64_t> scaled;
  for (const std::int64_t value : left)
    scaled.push_back((value - low) / unit);
  std::vector<std::int64_t> moduli{span};
  for (const std::uint32_t modulus : moduli_)
    if (modulus > span)
      moduli.push_back(modulus);
  std::ranges::stable_partition(moduli, [&](std::int64_t m) { return m == numRanks_; });
  for (const std::int64_t modulus : moduli) {
    auto found = modulo(rest, scaled, modulus);
    if (!found && modulus != span && low % unit == 0 && low >= 0 && high / unit < modulus) {
      std::vector<std::int64_t> whole; // values as they are, where the least is not 0
      for (const std::int64_t value : left)
        whole.push_back(value / unit);
      found = modulo(rest, whole, modulus);
      if (found) {
        found->terms[0].factor = unit;
        return found;
      }
    }
    if (!found)
      continue;
    found->terms[0].factor = unit;
    found->constant = low;
    return found;
  }
  return std::nullopt;
}

/// (a·v + … + c) % modulus, where v of a loop may be 1 << v, or halve with each iteration.
std::optional<Formula> Space::modulo(const std::vector<const Variable *> &rest, const std::vector<std::int64_t> &left,
                                     std::int64_t modulus) const {
  auto found = moduloSum(rest, left, modulus);
  const bool ofRank = rest[0]->depth == 0;
  for (std::size_t v = 1; v < rest.size() && ofRank && !found; ++v)
    for (const bool up : {true, false})
      if (const auto power = powerOf(*rest[v], up); power && !found) {
        std::vector<const Variable *> instead = rest;
        instead[v] = &*power;
        found = moduloSum(instead, left, modulus);
      }
  return found;
}

/// (a·v + … + c) % modulus.
std::optional<Formula> Space::moduloSum(const std::vector<const Variable *> &rest,
                                        const std::vector<std::int64_t> &left, std::int64_t modulus) const {
  // Few numbers are the remainders of any formula; a number of ranks says something.
  if (modulus < 2 || (static_cast<std::int64_t>(points_) < 2 * modulus &&
                      std::ranges::find(moduli_, static_cast<std::uint32_t>(modulus)) == moduli_.end()))
    return std::nullopt;
  Formula inner;
  std::vector<std::int64_t> sum(points_, 0);
  int depth = 0;
  for (const Variable *variable : rest) {
    bool known = false;
    std::int64_t slope = 0;
    for (std::size_t p = 0; p < points_ && !known; ++p)
      if (const std::uint32_t next = variable->next[p];
          next != none && std::abs(variable->at[next] - variable->at[p]) == 1) {
        const std::int64_t run = variable->at[next] - variable->at[p];
        slope = ((left[next] - left[p]) * run % modulus + modulus) % modulus;
        known = true;
      }
    if (slope > modulus / 2)
      slope -= modulus;
    if (slope == 0)
      continue;
    for (std::size_t p = 0; p < points_; ++p)
      sum[p] += slope * variable->at[p];
    inner.terms.push_back(termOf(*variable, slope));
    depth = std::max(depth, variable->depth);
  }
  if (inner.terms.empty())
    return std::nullopt;
  inner.constant = ((left[0] - sum[0]) % modulus + modulus) % modulus;
  // From any number on, few numbers double by chance.
  if (inner.constant != 0 && std::ranges::any_of(rest, [](const Variable *v) { return v->shifted != 0; }))
    return std::nullopt;
  const std::int64_t least = *std::ranges::min_element(sum) + inner.constant;
  if (least < 0)
    inner.constant += (-least + modulus - 1) / modulus * modulus;
  if (*std::ranges::max_element(sum) + inner.constant > largestNumber)
    return std::nullopt;
  for (std::size_t p = 0; p < points_; ++p)
    if ((sum[p] + inner.constant) % modulus != left[p])
      return std::nullopt;
  return Formula{{remainder(std::move(inner), modulus, depth)}, 0};
}

/// inner % modulus.
Formula::Term Space::remainder(Formula inner, std::int64_t modulus, int depth) const {
  if (modulus == numRanks_ && inner.constant + 1 >= modulus) { // `ranks` says more than its number
    inner.terms.push_back({.text = "ranks"});
    inner.constant -= modulus;
  }
  std::string text = toString(inner);
  if (inner.terms.size() > 1 || inner.constant != 0 || inner.terms[0].factor != 1)
    text = "(" + text + ")";
  return {1, text + " % " + shown(modulus), depth, true};
}

std::string Space::shown(std::int64_t modulus) const {
  return modulus == numRanks_ ? "ranks" : std::to_string(modulus);
}

/// rank ^ x, where x depends on loops alone; or the same of its node, or of its place there.
std::optional<Formula> Space::exclusive(const std::vector<const Variable *> &rest,
                                        const std::vector<std::int64_t> &left) const {
  if (rest[0]->depth != 0)
    return std::nullopt;
  const std::int64_t low = *std::ranges::min_element(left);
  std::vector<std::int64_t> other;
  for (std::size_t p = 0; p < points_; ++p)
    other.push_back((left[p] - low) ^ rest[0]->at[p]);
  Formula sum;
  if (std::ranges::all_of(other, [&](std::int64_t value) { return value == other[0]; })) {
    sum.constant = other[0];
  } else {
    const Variable &rank = bases_[0][0]; // x must be the same for all ranks
    for (std::size_t p = 0; p < points_; ++p)
      if (const std::uint32_t next = rank.next[p]; next != none && other[p] != other[next])
        return std::nullopt;
    const auto found = inBasis(bases_[0], other);
    if (!found)
      return std::nullopt;
    sum = *found;
  }
  std::string text = toString(sum);
  if (sum.terms.size() > 1 || (!sum.terms.empty() && sum.constant != 0))
    text = "(" + text + ")";
  int depth = 0;
  for (const Variable *variable : rest)
    depth = std::max(depth, variable->depth);
  return Formula{{{1, "(" + rest[0]->text + " ^ " + text + ")", depth, true}}, low};
}

} // namespace mscclc::dsl
