#include "passes/row_counts.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "ir/rows.h"

#include <array>
#include <charconv>
#include <cmath>
#include <random>

namespace mscclc::passes {

namespace {

template <typename Number> bool isNumber(std::string_view text, Number &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Returns two pseudo-random words that depend on all arguments.
std::array<std::uint32_t, 2> drawn(std::uint64_t seed, std::uint32_t launch, std::uint32_t src, std::uint32_t dst) {
  std::seed_seq all{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), launch, src, dst};
  std::array<std::uint32_t, 2> words{};
  all.generate(words.begin(), words.end());
  return words;
}

std::int64_t mixed(std::uint64_t seed, std::uint32_t launch, std::uint32_t ranks, std::uint32_t src, std::uint32_t dst,
                   std::uint64_t capacity) {
  const auto [style, chosen] = drawn(seed, launch, ~0u, ~0u);
  if ((style % 8 == 0 && src != chosen % ranks) || (style % 8 == 1 && dst != chosen % ranks))
    return 0;
  const auto full = static_cast<std::int64_t>(capacity);
  const auto [kind, number] = drawn(seed, launch, src, dst);
  switch (kind % 8) {
  case 0:
  case 1:
    return 0;
  case 2:
    return 1;
  case 3:
    return full;
  case 4:
    return full + 1;
  case 5:
    return -1 - static_cast<std::int64_t>(number);
  default:
    return static_cast<std::int64_t>(number % (capacity + 1));
  }
}

} // namespace

std::optional<RowCounts> RowCounts::parse(std::string_view text) {
  RowCounts counts;
  const std::size_t colon = text.find(':');
  const std::string_view word = text.substr(0, colon), rest = colon == text.npos ? "" : text.substr(colon + 1);
  const auto is = [&](std::string_view name, Kind kind, bool takesNumber) {
    counts.kind_ = kind;
    return word == name && takesNumber == (colon != text.npos);
  };
  const bool good = is("zero", Kind::Zero, false) || is("full", Kind::Full, false) || is("over", Kind::Over, false) ||
                    (is("random", Kind::Random, true) && isNumber(rest, counts.number_)) ||
                    (is("uniform", Kind::Uniform, true) && isNumber(rest, counts.number_) &&
                     counts.number_ <= std::uint64_t{1} << 62) ||
                    (is("zipf", Kind::Zipf, true) && isNumber(rest, counts.exponent_) &&
                     std::isfinite(counts.exponent_) && counts.exponent_ >= 0);
  return good ? std::optional(counts) : std::nullopt;
}

RowCounts RowCounts::ofTable(std::string_view text, std::uint32_t ranks, std::string &fault, std::uint32_t experts) {
  const std::uint32_t each = experts == 0 ? ranks : experts;
  RowCounts counts;
  counts.kind_ = Kind::Table;
  fault.clear();
  std::uint32_t line = 0, lines = 0;
  while (!text.empty() && fault.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    std::uint32_t numbers = 0;
    while (fault.empty()) {
      constexpr std::string_view blank = " \t\r,";
      rest.remove_prefix(std::min(rest.find_first_not_of(blank), rest.size()));
      if (rest.empty())
        break;
      const std::string_view word = rest.substr(0, rest.find_first_of(blank));
      rest.remove_prefix(word.size());
      std::int64_t count = 0;
      if (!isNumber(word, count))
        fault = "line " + std::to_string(line) + ": '" + ir::printable(std::string(word.substr(0, 40))) +
                "' is no whole number of 64 bits";
      counts.table_.push_back(count);
      ++numbers;
    }
    if (numbers == 0)
      continue;
    ++lines;
    if (fault.empty() && (numbers != each || lines > ranks))
      fault = "line " + std::to_string(line) + ": " +
              (lines > ranks ? "there are only " + ir::plural(ranks, "rank")
                             : "it has " + ir::plural(numbers, "count") + ", not one for each of " +
                                   ir::plural(each, experts == 0 ? "rank" : "expert"));
  }
  if (fault.empty() && lines != ranks)
    fault = "it has " + ir::plural(lines, "line") + ", not one for each of " + ir::plural(ranks, "rank");
  return counts;
}

std::uint64_t RowCounts::liveRows(const ir::Program &program, std::uint32_t src, std::uint32_t dst,
                                  std::uint64_t capacity, std::uint32_t choices) const {
  const auto live = [&](std::uint32_t receivers, std::uint32_t from, std::uint32_t to, std::uint64_t most) {
    return ir::rowCountOf(of(1, 0, receivers, from, to, most), most).live;
  };
  const ir::ExpertCells cells = ir::expertCellsOf(program);
  if (cells.experts == 0)
    return live(cells.ranks, src, dst, capacity);
  const bool isBack = ir::indexedBuffer(program.collective.kind) == ir::BufferKind::Output;
  std::uint64_t rows = 0;
  for (std::uint32_t expert = 0; expert < cells.experts; ++expert)
    rows += live(cells.count(), isBack ? dst : src, (isBack ? src : dst) * cells.experts + expert,
                 capacity / cells.experts);
  if (choices == 0 || rows == 0)
    return rows;
  // `share` of the n experts are on rank dst. The choices of a row are all different. `none` is the probability that
  // none of them is on dst.
  const auto all = static_cast<double>(entries(program, src, capacity)), n = static_cast<double>(cells.count());
  const double share = n * static_cast<double>(rows) / all, sent = all / std::min<double>(choices, n);
  double none = 1;
  for (std::uint32_t choice = 0; choice < choices && choice < cells.count(); ++choice)
    none *= std::max(0.0, n - share - choice) / (n - choice);
  const double once = std::max({1.0, sent * (1 - none), static_cast<double>(rows) / std::min<double>(choices, n)});
  return std::min(rows, static_cast<std::uint64_t>(std::llround(once)));
}

std::uint64_t RowCounts::entries(const ir::Program &program, std::uint32_t rank, std::uint64_t capacity) const {
  const bool isBack = ir::indexedBuffer(program.collective.kind) == ir::BufferKind::Output;
  std::uint64_t sum = 0;
  for (std::uint32_t other = 0; other < program.ranks.size(); ++other)
    sum += liveRows(program, isBack ? other : rank, isBack ? rank : other, capacity);
  return sum;
}

std::int64_t RowCounts::of(std::uint64_t seed, std::uint32_t launch, std::uint32_t ranks, std::uint32_t src,
                           std::uint32_t dst, std::uint64_t capacity) const {
  const auto full = static_cast<std::int64_t>(capacity);
  switch (kind_) {
  case Kind::Mixture:
    return mixed(seed, launch, ranks, src, dst, capacity);
  case Kind::Zero:
    return 0;
  case Kind::Full:
    return full;
  case Kind::Over:
    return full + 1;
  case Kind::Random:
    return static_cast<std::int64_t>(drawn(number_, launch, src, dst)[0] % (capacity + 1));
  case Kind::Uniform:
    return static_cast<std::int64_t>(number_);
  case Kind::Zipf:
    return static_cast<std::int64_t>(static_cast<double>(capacity) / std::pow(dst + 1.0, exponent_));
  case Kind::Table:
    return table_[std::size_t{src} * ranks + dst];
  }
  return 0;
}

} // namespace mscclc::passes
