#include "compiler/outputs/dsl/fold.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mscclc::dsl {
namespace {

/// The maximum number of lines in a loop's body. It limits the time for long programs without loops.
constexpr std::size_t longestPeriod = 512;
constexpr std::uint64_t mostComparisons = 20'000'000;
/// The minimum number of lines in the body of a loop with two iterations.
constexpr std::uint32_t linesForTwo = 4;

/// Stores the values of all `parts` in `into`. Each part has the values of one point.
void joinLine(Node &into, const std::vector<const Node *> &parts) {
  const std::size_t numbers = into.values.size(), ranks = parts.size();
  std::vector<std::int64_t> values;
  values.reserve(numbers * ranks);
  for (std::size_t n = 0; n < numbers; ++n)
    for (const Node *part : parts)
      values.push_back(part->values[n]);
  into.values = std::move(values);
  for (std::size_t i = 0; i < into.body.size(); ++i) {
    std::vector<const Node *> inner;
    for (const Node *part : parts)
      inner.push_back(&part->body[i]);
    joinLine(into.body[i], inner);
  }
}

} // namespace

std::vector<Node> joinRanks(const std::vector<std::vector<Node>> &ranks) {
  std::vector<Node> joined = ranks[0];
  for (std::size_t i = 0; i < joined.size(); ++i) {
    std::vector<const Node *> parts;
    for (const std::vector<Node> &lines : ranks)
      parts.push_back(&lines[i]);
    joinLine(joined[i], parts);
  }
  return joined;
}

const LoopSpace &Folder::spaceOf(const std::vector<Loop> &loops) {
  std::string key;
  for (const Loop &loop : loops)
    key += std::to_string(loop.count) + "," + std::to_string(static_cast<int>(loop.style.kind)) + "," +
           std::to_string(loop.style.first) + "," + std::to_string(loop.style.node) + "," + loop.name + ";";
  std::unique_ptr<LoopSpace> &space = spaces_[key];
  if (!space)
    space = std::make_unique<LoopSpace>(ranks_, numRanks_, nodes_, loops);
  return *space;
}

void Folder::fold(std::vector<Node> &lines) {
  foldScopes(lines);
  foldAlikeBlocks(lines);
  foldWithinBlocks(lines);
  foldRuns(lines);
}

/// Folds the lines of each thread block separately, so that no loop contains lines of two blocks.
void Folder::foldWithinBlocks(std::vector<Node> &lines) {
  std::vector<Node> folded;
  for (std::size_t i = 0; i < lines.size();) {
    std::vector<Node> part;
    const std::uint32_t block = lines[i].block;
    for (; i < lines.size() && lines[i].block == block; ++i)
      part.push_back(std::move(lines[i]));
    foldRuns(part);
    std::ranges::move(part, std::back_inserter(folded));
  }
  lines = std::move(folded);
}

/// Makes loops over thread blocks whose lines are equal, and further loops inside their bodies. Keeps a loop only if it
/// makes the source shorter. Runs before foldWithinBlocks(), because loops within blocks would make the blocks differ.
void Folder::foldAlikeBlocks(std::vector<Node> &lines) {
  std::vector<std::size_t> begins; // index of the first line of each block, and of the end
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i == 0 || lines[i].block != lines[i - 1].block)
      begins.push_back(i);
  begins.push_back(lines.size());
  const auto at = [&](std::size_t block) { return lines.begin() + static_cast<std::ptrdiff_t>(begins[block]); };
  const auto areAlike = [&](std::size_t a, std::size_t b) {
    return std::equal(at(a), at(a + 1), at(b), at(b + 1),
                      [](const Node &x, const Node &y) { return x.shape == y.shape; });
  };
  std::vector<Node> out;
  std::size_t count = 1; // number of consecutive equal blocks, beginning with `b`
  for (std::size_t b = 0; b + 1 < begins.size();) {
    while (b + count + 1 < begins.size() && areAlike(b, b + count))
      ++count;
    const std::size_t first = begins[b], period = begins[b + 1] - first;
    const Node before = lines[first];
    const std::size_t taken = count > 1 && period > 1 ? foldAt(lines, first, period, count) : 0;
    const std::size_t past = b + std::max<std::size_t>(taken, 1);
    if (taken != 0) {
      std::vector<Node> together{std::exchange(lines[first], before)}, apart(at(b), at(past));
      Node &loop = together[0];
      around_.push_back({loop.count, loop.style, std::string(around_.size() + 1, 'k')});
      foldRuns(loop.body);
      around_.pop_back();
      loop.setShape();
      foldWithinBlocks(apart);
      foldRuns(apart);
      if (sizeOf(together) < sizeOf(apart))
        out.push_back(std::move(loop));
      else
        std::move(at(b), at(past), std::back_inserter(out));
    } else {
      std::move(at(b), at(past), std::back_inserter(out));
    }
    count = std::max(count - (past - b), std::size_t{1});
    b = past;
  }
  lines = std::move(out);
}

/// Returns an estimate of the number of characters of the lines.
std::size_t Folder::sizeOf(const std::vector<Node> &lines) {
  constexpr std::size_t ofLine = 60, ofTable = 40;
  std::size_t size = 0;
  std::vector<Loop> none;
  for (const Node &node : lines)
    size += ofLine * node.lines + cost(node, none).value_or(ofTable * node.values.size());
  return size;
}

void Folder::foldScopes(std::vector<Node> &lines) {
  for (Node &node : lines)
    if (node.kind == Node::Kind::Scope) {
      fold(node.body);
      node.setShape();
    }
}

void Folder::foldRuns(std::vector<Node> &lines) {
  for (bool changed = true; changed;) {
    changed = false;
    std::uint64_t comparisons = 0;
    for (std::size_t period = 1; !changed && period <= std::min(lines.size() / 2, longestPeriod); ++period) {
      if ((comparisons += lines.size()) > mostComparisons)
        break;
      changed = foldPeriod(lines, period);
    }
  }
}

/// True if a run of lines begins inside a thread block although it spans several blocks and could begin with the next
/// block.
static bool beginsInside(const std::vector<Node> &lines, std::size_t first, std::size_t period,
                         const std::vector<std::uint32_t> &alike) {
  if (first == 0 || lines[first - 1].block != lines[first].block)
    return false;
  for (std::size_t i = first + 1; i < first + period; ++i)
    if (lines[i].block != lines[i - 1].block)
      return alike[i] >= period;
  return false;
}

/// Folds runs of lines that repeat every `period` lines. Returns true if there was such a run.
bool Folder::foldPeriod(std::vector<Node> &lines, std::size_t period) {
  const std::size_t size = lines.size();
  std::vector<std::uint32_t> alike(size + 1, 0); // number of lines from here on that equal the lines `period` later
  for (std::size_t i = size - period; i-- > 0;)
    alike[i] = lines[i].shape == lines[i + period].shape ? alike[i + 1] + 1 : 0;
  std::vector<Node> out;
  bool changed = false;
  for (std::size_t i = 0; i < size;) {
    const std::size_t count = alike[i] / period + 1;
    std::size_t taken = 0;
    if (count > 1 && !beginsInside(lines, i, period, alike))
      taken = foldAt(lines, i, period, count);
    if (taken == 0) {
      out.push_back(std::move(lines[i++]));
      continue;
    }
    out.push_back(std::move(lines[i]));
    i += taken * period;
    changed = true;
  }
  lines = std::move(out);
  return changed;
}

/// Makes a loop from up to `count` repetitions of the `period` lines at `first`, and stores it at `first`. The loop has
/// as many iterations as expressions can describe. Returns the number of iterations; 0 if there is no loop.
std::size_t Folder::foldAt(std::vector<Node> &lines, std::size_t first, std::size_t period, std::size_t count) {
  std::uint32_t inBody = 0;
  for (std::size_t i = 0; i < period; ++i)
    inBody += lines[first + i].lines;
  const std::size_t least = inBody >= linesForTwo ? 2 : 3;
  if (count < least)
    return 0;
  Node loop;
  if (!tryLoop(lines, first, period, least, loop) && count != numRanks_ - 1)
    return 0;
  std::size_t good = least, bad = count;
  if (Node all; tryLoop(lines, first, period, count, all)) {
    loop = std::move(all);
    good = count;
  } else if (loop.count == 0) {
    return 0;
  } else {
    while (good + 1 < bad) {
      const std::size_t middle = std::min(good * 2, (good + bad) / 2);
      if (Node part; tryLoop(lines, first, period, middle, part)) {
        loop = std::move(part);
        good = middle;
      } else {
        bad = middle;
      }
    }
  }
  lines[first] = std::move(loop);
  return good;
}

bool Folder::tryLoop(const std::vector<Node> &lines, std::size_t first, std::size_t period, std::size_t count,
                     Node &loop) {
  Node made{.kind = Node::Kind::Loop, .block = lines[first].block, .count = static_cast<std::uint32_t>(count)};
  for (std::size_t i = 0; i < period; ++i) {
    std::vector<const Node *> alike;
    for (std::size_t k = 0; k < count; ++k)
      alike.push_back(&lines[first + k * period + i]);
    made.body.push_back(mergeLines(alike, 1));
  }
  std::vector<LoopStyle> styles{{.first = count + 1 == numRanks_ ? 1u : 0u}};
  if (ranks_.size() > 1) {
    if (count + 1 == numRanks_)
      styles.push_back({LoopStyle::Kind::SkipRank});
    for (const std::uint32_t node : nodes_) {
      if (count + 1 == node)
        styles.push_back({LoopStyle::Kind::SkipInNode, 0, node});
      if (count + 1 == numRanks_ / node)
        styles.push_back({LoopStyle::Kind::SkipNode, 0, node});
    }
  }
  std::optional<std::size_t> best;
  for (const LoopStyle &style : styles) {
    made.style = style;
    std::vector<Loop> loops = around_;
    const auto length = cost(made, loops);
    if (!length || (best && *best <= *length))
      continue;
    best = length;
    loop = made;
  }
  if (best)
    loop.setShape();
  return best.has_value();
}

/// Joins the same line of several iterations into one line of a loop. `width`: the product of the iterations of the
/// loops between the new loop and the lines.
Node Folder::mergeLines(const std::vector<const Node *> &lines, std::size_t width) {
  Node merged = *lines[0];
  merged.values.clear();
  for (std::size_t row = 0; row < lines[0]->values.size(); row += width)
    for (const Node *line : lines) {
      const auto begin = line->values.begin() + static_cast<std::ptrdiff_t>(row);
      merged.values.insert(merged.values.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  const std::size_t inner = merged.kind == Node::Kind::Loop ? width * merged.count : width;
  for (std::size_t i = 0; i < merged.body.size(); ++i) {
    std::vector<const Node *> parts;
    for (const Node *line : lines)
      parts.push_back(&line->body[i]);
    merged.body[i] = mergeLines(parts, inner);
  }
  return merged;
}

std::optional<std::size_t> Folder::cost(const Node &node, std::vector<Loop> &loops) {
  std::size_t length = 0;
  if (!node.values.empty()) {
    const LoopSpace &space = spaceOf(loops);
    const std::span<const std::int64_t> values(node.values);
    for (std::size_t at = 0; at < values.size(); at += space.points()) {
      const auto found = space.fit(values.subspan(at, space.points()));
      if (!found)
        return std::nullopt;
      length += formula::spell(found->spelledPositiveFirst()).size();
    }
  }
  if (node.kind == Node::Kind::Loop)
    loops.push_back({node.count, node.style, std::string(loops.size() + 1, 'k')});
  for (const Node &line : node.body) {
    const auto more = cost(line, loops);
    if (!more)
      return std::nullopt;
    length += *more;
  }
  if (node.kind == Node::Kind::Loop)
    loops.pop_back();
  return length;
}

} // namespace mscclc::dsl
