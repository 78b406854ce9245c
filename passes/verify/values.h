// The symbolic contents of memory: inputs of ranks, their reductions, and functions of these. Values are exact: they
// are trees of inputs, never hashes of sets. Equal trees are made once and shared.
#pragma once

#include "passes/run/memory.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace mscclc::passes::proof {

/// The function of a hook at some place. Functions are uninterpreted: two results are equal if their functions and
/// operands are.
struct Application {
  std::uint32_t hook = 0; ///< index into Program::hooks
  /// The rank whose arrays the hook takes; `none` if it takes no arrays, or arrays that are equal on all ranks.
  std::uint32_t rank = none;
  std::uint64_t unit = 0; ///< number of a unit in the rank's output, which selects rows of the arrays
  static constexpr std::uint64_t anywhere = ~std::uint64_t{0}; ///< `unit` of a wire format, because it has no arrays
  friend auto operator<=>(const Application &, const Application &) = default;
};
/// Returns the function of hook `hook`, applied by `rank` to unit `unit` of its output.
Application applicationOf(const ir::Program &program, std::uint32_t hook, std::uint32_t rank, std::uint64_t unit);
/// Returns where a function is applied: "by rank 1 to output[2]".
std::string describe(const Application &application, std::uint32_t unitsPerChunk);
/// Returns the function that the collective promises for an output unit; nothing if it promises none.
std::optional<Application> promisedApplication(const ir::Program &program, std::uint32_t rank, std::uint64_t unit);

class Values {
public:
  Values(const ProgramIndex &index, std::uint32_t unitsPerChunk);

  static constexpr ValueId unwritten = 0; ///< value of a cell that was never written
  static constexpr ValueId unknown = 1;   ///< value of a cell after a race

  /// Returns the value of unit `unit` of a rank's input. Units are counted through all chunks.
  ValueId input(std::uint32_t rank, std::uint64_t unit) const { return static_cast<ValueId>(firstInput_[rank] + unit); }
  /// Returns the reduction of `parts` (one or more), whose order does not matter. Sorts `parts`.
  ValueId combine(ir::ReduceOp op, std::vector<ValueId> &parts);
  /// Returns the reduction of `parts` (one or more) by one operation, in their order. Each step reduces the earlier
  /// result and the next part. combine() gives the same value for all orders. chain() gives one value for each tree of
  /// commutative steps. The last step narrows its result to the type of elements, unless `wide` is set. The other steps
  /// do not narrow.
  ValueId chain(ir::ReduceOp op, std::span<const ValueId> parts, bool wide = false);
  /// If `value` is a wide chain, returns the same chain with a last step that narrows. Returns any other `value` as it
  /// is.
  ValueId narrowed(ValueId value);
  /// Returns the reduction of `parts` (one or more) by a switch, in an order that the switch chooses. If there are
  /// three parts or more, the value is equal to no other value. Two parts commute, so they are a chain. Sorts `parts`.
  ValueId inSwitch(ir::ReduceOp op, std::vector<ValueId> &parts);

  /// Returns `value` with +0.0 in place of -0.0, as Lamport packets carry it.
  ValueId zeroed(ValueId value);
  /// Returns the original of a zeroed value. Returns any other `value` as it is.
  ValueId unzeroed(ValueId value) const { return isZeroed(value) ? partsOf(value)[0] : value; }
  bool isZeroed(ValueId value) const { return value >= firstNode_ && stepOf(value) == Step::Zero; }
  /// True if `value` is a reduction that is not yet rounded to the type of elements.
  bool isWide(ValueId value) const {
    const ValueId sum = unzeroed(value);
    return sum >= firstNode_ && stepOf(sum) == Step::Wide;
  }

  /// Returns `function` of `operand`.
  ValueId apply(const Application &function, ValueId operand);

  /// Returns `value` as scratch holds it. It is encoded if the program has a wire format. If `isMoved`, it comes from
  /// scratch and stays as it is.
  ValueId inScratch(ValueId value, bool isMoved) { return wire_ == none || isMoved ? value : apply(wired(), value); }
  bool isEncoded(ValueId value) const;
  /// Returns the original of an encoded value. Returns any other `value` as it is.
  ValueId decoded(ValueId value) const { return isEncoded(value) ? partsOf(value)[0] : value; }
  /// Returns the original of a zeroed or encoded value. Returns any other `value` as it is.
  ValueId bare(ValueId value) const { return unzeroed(decoded(value)); }

  struct Verdict {
    enum Kind {
      Right,
      Unwritten,
      Unknown,
      Missing,
      Twice,
      Foreign,
      MixedOps,
      NotApplied,       ///< the promised function was not applied
      AppliedEarly,     ///< a function was applied to a part of the value, applied twice, or not promised
      AppliedElsewhere, ///< the promised hook was applied at another place
      Zeroed,           ///< the value is the input `which`, but with +0.0 for -0.0
      ZeroedResult,     ///< the value is the result of the promised function, but with +0.0 for -0.0
      Quantised,        ///< the value is the input `which` after it was encoded
      Reencoded         ///< a part of it that is no input was encoded, and is encoded again with the whole
    } kind = Right;
    ir::Contribution which = {};  ///< the input chunk that is missing, occurs twice, or does not belong there
    Application application = {}; ///< the function, if `kind` is AppliedEarly or AppliedElsewhere
  };
  /// Checks whether `value` consists of exactly the inputs `wanted`, each once. If `function` is given, it must have
  /// been applied to these.
  Verdict check(ValueId value, std::span<const ValueId> wanted, const std::optional<Application> &function = {});
  /// Returns the function whose result `value` is; null if it is no such result.
  const Application *applicationOf(ValueId value) const;
  /// True if `value` is the result of `function`, or if `function` is not given.
  bool isOf(ValueId value, const std::optional<Application> &function) const;
  /// Returns the operand of all functions that were applied one after the other to get `value`. Returns `value` itself
  /// if it is not the result of a function, or if it is in the wire format.
  ValueId operandOf(ValueId value) const;
  /// If `value` is a reduction, zeroed or not, sets `op` to its reduce operation and returns true. Otherwise returns
  /// false.
  bool reduced(ValueId value, ir::ReduceOp &op) const;
  /// Returns the parts of a reduction, sorted, or the operand of a function. An input has no parts.
  std::span<const ValueId> partsOf(ValueId value) const;
  /// True if `value` is `part`, or was computed from it. Returns false if `part` is `unwritten` or `unknown`.
  bool contains(ValueId value, ValueId part) const;
  ir::Contribution contribution(ValueId leaf) const;
  /// Returns the number of the unit for which input() returns `leaf`.
  std::uint64_t unitOf(ValueId leaf) const { return leaf - firstInput_[contribution(leaf).rank]; }
  /// Returns the number of values that are reductions or results of functions.
  std::uint64_t numReductions() const { return nodes_.size(); }
  /// Returns the number of values. The id of every value is less than this number.
  std::uint64_t end() const { return firstNode_ + nodes_.size(); }

  /// The way in which a value is computed from other values.
  enum class Step : std::uint8_t {
    Narrow, ///< a reduction, rounded to the type of elements
    Wide,   ///< a reduction, rounded to f32 or a wider type
    Switch, ///< a reduction in an unknown order, rounded to the type of elements
    Apply,  ///< the result of a function
    Zero,   ///< the operand, with +0.0 in place of -0.0
  };
  /// Returns the step by which `value` was computed. Requires: it is not an input.
  Step stepOf(ValueId value) const { return nodes_[value - firstNode_].step; }

private:
  struct Node {
    std::uint32_t firstPart, numParts;
    ir::ReduceOp op;
    Step step;
  };
  Application wired() const { return {wire_, none, Application::anywhere}; }
  std::uint32_t unitsPerChunk_, wire_;
  std::vector<std::uint64_t> firstInput_; // [rank]: its first input; then the end of all inputs
  std::uint64_t firstNode_;
  std::vector<Node> nodes_;
  std::vector<ValueId> parts_, step_;
  std::vector<std::uint32_t> table_; ///< a hash table of nodes_ (open addressing); its size is a power of two
  std::unordered_map<ValueId, ValueId> zeroed_; ///< operand → result of zeroed()
  std::map<std::pair<Application, ValueId>, ValueId> applied_;
  std::unordered_map<ValueId, Application> applications_; ///< result of a function → the function
  std::vector<std::uint32_t> stamp_; ///< [leaf]: the round in which it was wanted, plus 1 if it was found
  std::uint32_t round_ = 0;
  void grow();
  ValueId find(ir::ReduceOp op, Step step, std::vector<ValueId> &parts);
  ValueId add(ir::ReduceOp op, Step step, std::span<const ValueId> parts);
};

} // namespace mscclc::passes::proof
