// The symbolic contents of memory: inputs of ranks, and their reductions. Values are exact: they are trees of inputs,
// made once and shared, never hashes of sets.
#pragma once

#include "passes/run/memory.h"

#include <string>

namespace mscclc::passes::proof {

class Values {
public:
  Values(const ProgramIndex &index, std::uint32_t unitsPerChunk);

  static constexpr ValueId unwritten = 0; ///< it was never written
  static constexpr ValueId unknown = 1;   ///< an access to it raced

  /// Returns the value of unit `unit` of a rank's input. Units are counted through all chunks.
  ValueId input(std::uint32_t rank, std::uint64_t unit) const { return static_cast<ValueId>(firstInput_[rank] + unit); }
  /// The reduction of `parts` (one or more; the order does not matter). Sorts its argument.
  ValueId combine(ir::ReduceOp op, std::vector<ValueId> &parts);
  /// The reduction of `parts` (one or more) by one operation, step by step from the first to the last: of two parts
  /// each. Where `combine` gives one value for all orders, this gives one for each tree of commutative steps. The last
  /// step narrows its result to the type of elements, and those before it do not.
  ValueId chain(ir::ReduceOp op, std::span<const ValueId> parts);
  /// The reduction of `parts` (one or more) by a switch, in an order of the switch's choice. A value of three parts or
  /// more is equal to no other one. Two parts commute, so they are a chain. Sorts its argument.
  ValueId inSwitch(ir::ReduceOp op, std::vector<ValueId> &parts);

  struct Verdict {
    enum Kind { Right, Unwritten, Unknown, Missing, Twice, Foreign, MixedOps } kind = Right;
    ir::Contribution which; ///< the input chunk that is missing, occurs twice, or does not belong there
  };
  /// Checks whether `value` consists of exactly the inputs `wanted`, each once.
  Verdict check(ValueId value, std::span<const ValueId> wanted);
  /// Returns true and sets `op` to the reduce operation of a right value; returns false for a plain input.
  bool reduced(ValueId value, ir::ReduceOp &op) const;
  /// Returns the parts of a reduction, sorted; none for another value.
  std::span<const ValueId> partsOf(ValueId value) const;
  ir::Contribution contribution(ValueId leaf) const;
  /// Returns the unit of an input, as in input().
  std::uint64_t unitOf(ValueId leaf) const { return leaf - firstInput_[contribution(leaf).rank]; }
  std::uint64_t numReductions() const { return nodes_.size(); }
  /// The number of values, so that all of them are below.
  std::uint64_t end() const { return firstNode_ + nodes_.size(); }

  /// How the result of a reduction is rounded, and whether its order is known.
  enum class Step : std::uint8_t {
    Narrow, ///< to the type of elements
    Wide,   ///< to f32 or wider
    Switch, ///< to the type of elements, in an order that nobody knows
  };
  /// The step of a reduction.
  Step stepOf(ValueId value) const { return nodes_[value - firstNode_].step; }

private:
  struct Node {
    std::uint32_t firstPart, numParts;
    ir::ReduceOp op;
    Step step;
  };
  std::uint32_t unitsPerChunk_;
  std::vector<std::uint64_t> firstInput_; // [rank], and the end
  std::uint64_t firstNode_;
  std::vector<Node> nodes_;
  std::vector<ValueId> parts_, step_;
  std::vector<std::uint32_t> table_; ///< open addressing over nodes_; the size is a power of two
  std::vector<std::uint32_t> stamp_; ///< [leaf]: the round in which it was wanted, or wanted and found
  std::uint32_t round_ = 0;
  void grow();
  ValueId find(ir::ReduceOp op, Step step, std::vector<ValueId> &parts);
  ValueId add(ir::ReduceOp op, Step step, std::span<const ValueId> parts);
};

} // namespace mscclc::passes::proof
