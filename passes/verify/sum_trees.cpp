#include "passes/verify/sum_trees.h"

#include "ir/collectives.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

namespace mscclc::passes::proof {

namespace {

/// Builds the trees of all values. A leaf is the rank of an input. It does not say which chunk, so trees of different
/// chunks can be compared.
class SumTrees {
public:
  /// If `byChunk`, a leaf also names the chunk, because some output sums several inputs of one rank.
  SumTrees(const Values &values, bool byChunk)
      : values_(values), firstNode_(values.end() - values.numReductions()), byChunk_(byChunk) {
    for (std::uint64_t v = firstNode_; v < values_.end(); ++v) // the parts of a value come before it
      addStep(static_cast<ValueId>(v));
  }

  /// Returns the number of a value's tree. Two values with the same number have the same tree.
  std::uint64_t shape(ValueId value) const {
    if (value >= firstNode_)
      return at(value).shape;
    const ir::Contribution leaf = values_.contribution(value);
    return std::uint64_t{leaf.rank} << 32 | (byChunk_ ? leaf.chunk : 0);
  }
  std::uint64_t narrowings(ValueId value) const { return value < firstNode_ ? 0 : at(value).narrowings; }
  /// Describes how often the parts of a sum were encoded: "each contribution quantised once, the sum once".
  std::string encodings(ValueId value) const {
    const Node &node = at(value);
    const std::string parts = node.encodedLeaves == node.leaves ? "each contribution"
                                                                : std::to_string(node.encodedLeaves) + " of " +
                                                                      ir::plural(node.leaves, "contribution");
    return parts + " quantised once, the sum " + (values_.isEncoded(value) ? "once" : "not");
  }
  bool hasSwitch(ValueId value) const { return value >= firstNode_ && at(value).hasSwitch; }

  enum class Form : std::uint8_t {
    Chain, ///< a chain without parentheses; the middle of a long chain is left out
    Steps, ///< each step in parentheses
    Exact, ///< each step in parentheses, or in brackets if it narrows; q(…) is a part in the wire format
  };
  std::string text(ValueId value, Form form) const {
    return sumText(values_.bare(value), form) + (form != Form::Exact        ? ""
                                                 : values_.isZeroed(value)  ? " with -0.0 as +0.0"
                                                 : values_.isEncoded(value) ? " in the wire format"
                                                                            : "");
  }
  /// Returns the text of a tree for a user.
  std::string shown(ValueId value) const { return text(value, leaves(value) <= 8 ? Form::Steps : Form::Chain); }

  /// isRanks() is true if a sum has the tree of Order::Ranks, and isTree() if it has that of Order::Tree. The sum may
  /// be zeroed.
  bool isRanks(ValueId value) const;
  bool isTree(ValueId value) const;

private:
  struct Node {
    std::uint64_t shape = 0, narrowings = 0, leaves = 0;
    std::uint64_t encodedLeaves = 0; ///< number of leaves that were encoded before they were added
    std::uint32_t least = 0;         ///< the least rank of a leaf
    bool hasSwitch = false;
  };
  const Node &at(ValueId value) const { return nodes_[value - firstNode_]; }
  std::uint64_t leaves(ValueId value) const { return value < firstNode_ ? 1 : at(value).leaves; }
  std::uint32_t least(ValueId value) const {
    return value < firstNode_ ? values_.contribution(value).rank : at(value).least;
  }
  void addStep(ValueId value);
  std::string sumText(ValueId value, Form form) const;
  std::vector<ValueId> inOrder(ValueId value) const;
  bool isEncodedIn(ValueId step, ValueId part) const;
  std::vector<ValueId> spineOf(ValueId value) const;
  std::string leafText(ValueId value) const;
  bool isTree(ValueId value, std::span<const std::uint32_t> ranks) const;
  std::vector<std::uint32_t> ranksOf(ValueId value) const;

  const Values &values_;
  const std::uint64_t firstNode_;
  const bool byChunk_;
  std::vector<Node> nodes_; ///< [value - firstNode_]
  using Step = std::array<std::uint64_t, 3>;
  struct HashOfStep {
    std::size_t operator()(const Step &step) const {
      return (step[0] * 0x9e3779b97f4a7c15u ^ step[1]) * 0xd6e8feb86659fd93u ^ step[2];
    }
  };
  std::unordered_map<Step, std::uint64_t, HashOfStep> shapes_; ///< (shapes of the parts, kind of the step) → shape
};

void SumTrees::addStep(ValueId value) {
  constexpr std::uint64_t firstShape = std::uint64_t{1} << 63; // larger than the shape of a leaf
  Node node{.shape = firstShape + nodes_.size(), .least = ir::none};
  const auto parts = values_.partsOf(value);
  for (const ValueId part : parts) {
    node.narrowings += narrowings(part);
    node.leaves += leaves(part);
    node.encodedLeaves += part < firstNode_ ? 0 : at(part).encodedLeaves;
    node.least = std::min(node.least, least(part));
    node.hasSwitch |= hasSwitch(part);
  }
  const Values::Step step = values_.stepOf(value);
  node.narrowings += step == Values::Step::Narrow || step == Values::Step::Switch;
  node.hasSwitch |= step == Values::Step::Switch;
  if (parts.size() == 2) {
    const auto [a, b] = std::minmax({shape(parts[0]), shape(parts[1])});
    node.shape = shapes_.try_emplace({a, b, step == Values::Step::Wide}, node.shape).first->second;
  } else if (step == Values::Step::Zero) {
    node.shape = shapes_.try_emplace({shape(parts[0]), 0, 2}, node.shape).first->second;
  } else if (values_.isEncoded(value)) {
    node.shape = shapes_.try_emplace({shape(parts[0]), 0, 3}, node.shape).first->second;
    node.encodedLeaves = parts[0] < firstNode_ ? 1 : node.encodedLeaves;
  }
  nodes_.push_back(node);
}

/// Returns the parts of a step in the order in which they are shown: the part with the most leaves comes first. Zeroed
/// and encoded parts are replaced by their originals.
std::vector<ValueId> SumTrees::inOrder(ValueId value) const {
  const auto all = values_.partsOf(value);
  std::vector<ValueId> parts(all.begin(), all.end());
  for (ValueId &part : parts)
    part = values_.bare(part);
  std::ranges::sort(parts, [&](ValueId a, ValueId b) {
    return leaves(a) != leaves(b) ? leaves(a) > leaves(b) : least(a) != least(b) ? least(a) < least(b) : a < b;
  });
  return parts;
}

/// True if `step` takes `part` in the wire format. `part` is a result of inOrder().
bool SumTrees::isEncodedIn(ValueId step, ValueId part) const {
  return std::ranges::any_of(values_.partsOf(step),
                             [&](ValueId all) { return values_.isEncoded(all) && values_.bare(all) == part; });
}

/// Returns the steps from `value` down along the first parts, the deepest step first. Recursion into the other parts is
/// not deep, because they have at most half of the leaves.
std::vector<ValueId> SumTrees::spineOf(ValueId value) const {
  std::vector<ValueId> spine;
  while (value >= firstNode_) {
    spine.push_back(value);
    if (values_.stepOf(value) == Values::Step::Switch)
      break;
    value = inOrder(value)[0];
  }
  std::ranges::reverse(spine);
  return spine;
}

std::string SumTrees::leafText(ValueId value) const {
  const ir::Contribution leaf = values_.contribution(value);
  return std::to_string(leaf.rank) + (byChunk_ ? "[" + std::to_string(leaf.chunk) + "]" : "");
}

std::string SumTrees::sumText(ValueId value, Form form) const {
  if (value < firstNode_)
    return leafText(value);
  // The most operands of a chain that are shown, and the number of operands at each end of a longer chain.
  constexpr std::size_t most = 8, kept = 2;
  const std::vector<ValueId> spine = spineOf(value);
  ir::ReduceOp op{};
  values_.reduced(value, op);
  const char sign = op == ir::ReduceOp::Prod ? '*' : '+';
  const auto marked = [&](ValueId step, ValueId part, std::string words) {
    return form == Form::Exact && isEncodedIn(step, part) ? "q(" + std::move(words) + ")" : std::move(words);
  };
  const auto inner = [&](ValueId step, ValueId part) {
    const std::string words = marked(step, part, sumText(part, form));
    if (part < firstNode_ || values_.stepOf(part) == Values::Step::Switch)
      return words;
    return form == Form::Exact && values_.stepOf(part) == Values::Step::Narrow ? "[" + words + "]" : "(" + words + ")";
  };
  std::string text;
  for (std::size_t i = 0; i < spine.size(); ++i) {
    const std::vector<ValueId> parts = inOrder(spine[i]);
    if (values_.stepOf(spine[i]) == Values::Step::Switch) { // a switch is the first step of its spine
      text = "switch(";
      for (const ValueId part : parts)
        text.append(part == parts[0] ? "" : ", ").append(inner(spine[i], part));
      text += ')';
      continue;
    }
    if (i != 0)
      text = marked(spine[i], spine[i - 1], std::move(text));
    if (i == 0)
      text = inner(spine[i], parts[0]);
    else if (form != Form::Chain && values_.stepOf(spine[i - 1]) != Values::Step::Switch)
      text = form == Form::Exact && values_.stepOf(spine[i - 1]) == Values::Step::Narrow ? '[' + text + ']'
                                                                                         : '(' + text + ')';
    if (form == Form::Chain && spine.size() > most && i >= kept && i + kept < spine.size()) {
      if (i == kept)
        text.append(1, sign).append("…");
      continue;
    }
    text.append(1, sign).append(inner(spine[i], parts[1]));
  }
  return text;
}

/// Returns the ranks of the leaves of `value`, sorted.
std::vector<std::uint32_t> SumTrees::ranksOf(ValueId value) const {
  std::vector<std::uint32_t> ranks;
  std::vector<ValueId> open{value};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (v < firstNode_)
      ranks.push_back(values_.contribution(v).rank);
    const auto parts = values_.partsOf(v);
    open.insert(open.end(), parts.begin(), parts.end());
  }
  std::ranges::sort(ranks);
  return ranks;
}

bool SumTrees::isRanks(ValueId value) const {
  const std::vector<std::uint32_t> ranks = ranksOf(value);
  value = values_.bare(value);
  for (std::size_t left = ranks.size(); left > 2; --left) {
    const std::vector<ValueId> parts = inOrder(value);
    if (parts.size() != 2 || parts[1] >= firstNode_ || least(parts[1]) != ranks[left - 1])
      return false;
    value = parts[0];
  }
  return values_.partsOf(value).size() == 2;
}

bool SumTrees::isTree(ValueId value) const {
  return !hasSwitch(value) && isTree(values_.bare(value), ranksOf(value));
}

/// True if `value` is the tree of Order::Tree over `ranks`. This is the tree over the first p ranks plus the tree over
/// the other ranks, where p is the largest power of two below their number.
bool SumTrees::isTree(ValueId value, std::span<const std::uint32_t> ranks) const {
  if (ranks.size() == 1)
    return value < firstNode_ && least(value) == ranks[0];
  const std::size_t half = std::bit_floor(ranks.size() - 1);
  const auto parts = value < firstNode_ ? std::vector<ValueId>() : inOrder(value);
  return parts.size() == 2 && leaves(parts[0]) == half && isTree(parts[0], ranks.first(half)) &&
         isTree(parts[1], ranks.subspan(half));
}

/// True if an output of a custom collective reduces two inputs of one rank.
bool sumsWithinRanks(const ir::Program &program) {
  return std::ranges::any_of(program.collective.expectations, [](const ir::Expectation &e) {
    std::set<std::uint32_t> ranks;
    for (const ir::Contribution &c : e.contributions)
      ranks.insert(c.rank);
    return ranks.size() != e.contributions.size();
  });
}

/// Numbers the sums that output chunks must hold. Chunks that must reduce the same inputs have the same number.
class WantedSums {
public:
  explicit WantedSums(const ir::Program &program) : wanted_(program) {}
  /// Returns the number of an output chunk's sum; nothing if the chunk must not reduce several inputs.
  std::optional<std::uint64_t> of(std::uint32_t rank, std::uint32_t chunk) {
    if (const auto reduced = wanted_.reducedOverAll(rank, chunk))
      return *reduced;
    wanted_.of(rank, chunk, inputs_);
    std::ranges::sort(inputs_);
    if (inputs_.size() < 2)
      return std::nullopt;
    return (std::uint64_t{1} << 32) + stated_.try_emplace(inputs_, stated_.size()).first->second;
  }

private:
  const ir::WantedOutputs wanted_;
  std::vector<ir::Contribution> inputs_;
  std::map<std::vector<ir::Contribution>, std::uint64_t> stated_;
};

} // namespace

SumOrder sumOrderOf(const ProgramIndex &index, const Memory &memory, const Values &values, std::uint32_t unitsPerChunk,
                    const std::function<ir::Where(const Cell &)> &writerOf) {
  SumOrder order;
  if (values.numReductions() == 0)
    return order;
  struct Output {
    std::uint32_t rank, chunk;
    CellId cell;
  };
  const SumTrees trees(values, sumsWithinRanks(index.program));
  WantedSums wanted(index.program);
  std::unordered_map<std::uint64_t, Output> firstOf; // (number of the sum, unit) → the first output that must hold it
  std::optional<Output> first;
  std::set<std::string> encodings;
  const bool hasWire = ir::wireOf(index.program) != nullptr;
  const auto valueOf = [&](const Output &output) { return values.operandOf(memory[output.cell].value); };
  const auto pairOf = [&](const Output &a, const Output &b) {
    using Form = SumTrees::Form;
    const bool sameOrder = trees.text(valueOf(a), Form::Chain) == trees.text(valueOf(b), Form::Chain);
    const auto chunkOf = [&](const Output &output) {
      return SumOrder::Chunk{output.rank, output.chunk,
                             trees.text(valueOf(output), sameOrder ? Form::Exact : Form::Chain),
                             writerOf(memory[output.cell])};
    };
    return SumOrder::Pair{chunkOf(a), chunkOf(b), sameOrder};
  };
  for (std::uint32_t r = 0; r < index.numRanks(); ++r)
    for (std::uint32_t chunk = 0; chunk < index.program.ranks[r].outputChunks; ++chunk) {
      const std::optional<std::uint64_t> sum = wanted.of(r, chunk);
      for (std::uint32_t unit = 0; sum && unit < unitsPerChunk; ++unit) {
        const Output output{r, chunk, memory.base(r, ir::BufferKind::Output, false) + chunk * unitsPerChunk + unit};
        ir::ReduceOp op;
        if (!values.reduced(values.bare(valueOf(output)), op) || ir::isReorderable(op))
          continue;
        if (!first)
          first = output;
        const Output &same = firstOf.try_emplace(*sum * unitsPerChunk + unit, output).first->second;
        if (!order.ranksDiffer && valueOf(same) != valueOf(output))
          order.ranksDiffer = pairOf(same, output);
        order.narrowings = std::max(order.narrowings, trees.narrowings(valueOf(output)));
        order.inSwitch |= trees.hasSwitch(valueOf(output));
        if (hasWire)
          encodings.insert(trees.encodings(valueOf(output)));
        if (!order.chunksDiffer && (order.inSwitch || trees.shape(valueOf(*first)) != trees.shape(valueOf(output))))
          order.chunksDiffer = pairOf(*first, output);
      }
    }
  if (!first)
    return order;
  const ValueId value = valueOf(*first);
  order.any = true;
  order.first = {first->rank, first->chunk, trees.shown(value), writerOf(memory[first->cell])};
  order.isZeroed = values.isZeroed(value);
  for (const std::string &words : encodings)
    order.encodings += (order.encodings.empty() ? "" : ", or ") + words;
  order.exact = trees.text(value, SumTrees::Form::Exact);
  order.isRanks = trees.isRanks(value);
  order.isTree = trees.isTree(value);
  return order;
}

} // namespace mscclc::passes::proof
