#include "passes/verify/sum_steps.h"

#include "passes/verify/final_buffers.h"

#include <map>
#include <unordered_map>

namespace mscclc::passes {

namespace {

using proof::ValueId;
using proof::Values;

/// Writes the steps of trees, each tree once.
class TreeWriter {
public:
  TreeWriter(const proof::FinalBuffers &end, OutputSums &sums) : end_(end), values_(end.values), sums_(sums) {}

  /// Returns the number of an output chunk's tree, or `none`. If a hook is promised, the tree is that of the sum to
  /// which the hook is applied.
  std::uint32_t of(std::uint32_t rank, std::uint32_t chunk) {
    const bool isApplied = !end_.program.collective.then.empty();
    std::uint32_t tree = ir::none;
    for (std::uint32_t unit = 0; unit < end_.unitsPerChunk; ++unit) {
      const ValueId value = end_.of(rank, ir::BufferKind::Output, std::uint64_t{chunk} * end_.unitsPerChunk + unit);
      const std::uint32_t other = treeOf(isApplied ? values_.operandOf(value) : value);
      if (other == ir::none || (unit != 0 && other != tree))
        return ir::none;
      tree = other;
    }
    return tree;
  }

private:
  std::uint32_t treeOf(ValueId value) {
    if (const auto known = known_.find(value); known != known_.end())
      return known->second;
    SumSteps tree;
    std::uint32_t number = ir::none;
    if (values_.reduced(values_.decoded(value), tree.op) && !ir::isReorderable(tree.op) &&
        write(values_.unzeroed(value), tree)) {
      tree.isZeroed = values_.isZeroed(value);
      const auto [it, isNew] = numbers_.try_emplace(tree, static_cast<std::uint32_t>(sums_.trees.size()));
      number = it->second;
      if (isNew)
        sums_.trees.push_back(std::move(tree));
    }
    return known_[value] = number;
  }

  /// Writes the tree of `root`. Returns false if a switch chose the order of some of its steps. Inputs have the first
  /// numbers, so steps are numbered when all inputs are known.
  bool write(ValueId root, SumSteps &tree) {
    std::vector<ValueId> open{root}, steps;
    std::unordered_map<ValueId, std::uint32_t> numbers;
    while (!open.empty()) { // each step comes before its operands
      const ValueId value = open.back();
      open.pop_back();
      const auto parts = values_.partsOf(value);
      if (parts.empty()) {
        numbers.try_emplace(value, static_cast<std::uint32_t>(tree.inputs.size()));
        tree.inputs.push_back(values_.contribution(value));
        continue;
      }
      if (values_.stepOf(value) == Values::Step::Switch || (parts.size() != 2 && !values_.isEncoded(value)))
        return false;
      steps.push_back(value);
      open.insert(open.end(), parts.begin(), parts.end());
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const auto parts = values_.partsOf(*step);
      numbers[*step] = static_cast<std::uint32_t>(tree.inputs.size() + tree.steps.size());
      const Values::Step how = values_.stepOf(*step);
      tree.steps.push_back({.a = numbers.at(parts[0]),
                            .b = numbers.at(parts.back()),
                            .narrows = how != Values::Step::Wide && how != Values::Step::Apply,
                            .encodes = how == Values::Step::Apply});
    }
    return true;
  }

  const proof::FinalBuffers &end_;
  const Values &values_;
  OutputSums &sums_;
  std::unordered_map<ValueId, std::uint32_t> known_;
  std::map<SumSteps, std::uint32_t> numbers_;
};

} // namespace

OutputSums outputSums(const proof::FinalBuffers &end) {
  OutputSums sums;
  TreeWriter writer(end, sums);
  for (std::uint32_t r = 0; r < end.program.ranks.size(); ++r) {
    sums.of.emplace_back();
    for (std::uint32_t chunk = 0; chunk < end.program.ranks[r].outputChunks; ++chunk)
      sums.of[r].push_back(writer.of(r, chunk));
  }
  return sums;
}

void keepCommon(OutputSums &sums, const OutputSums &other) {
  for (std::uint32_t r = 0; r < sums.of.size(); ++r)
    for (std::uint32_t chunk = 0; chunk < sums.of[r].size(); ++chunk)
      if (std::uint32_t &tree = sums.of[r][chunk]; tree != ir::none)
        if (const std::uint32_t its = other.of[r][chunk]; its == ir::none || sums.trees[tree] != other.trees[its])
          tree = ir::none;
}

} // namespace mscclc::passes
