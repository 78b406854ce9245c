// The symbolic contents of memory: inputs of ranks, their reductions, and functions of these. Values are exact: they
// are trees of inputs, made once and shared, never hashes of sets.
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
  /// The rank whose arrays it takes; `none` if it takes no arrays, or such as are equal on all ranks.
  std::uint32_t rank = none;
  std::uint64_t unit = 0; ///< number of a unit in the rank's output; it selects rows of the arrays
  static constexpr std::uint64_t anywhere = ~std::uint64_t{0}; ///< `unit` of a wire format, which has no arrays
  friend auto operator<=>(const Application &, const Application &) = default;
};
/// Returns the function of hook `hook`, applied by `rank` to unit `unit` of its output.
Application applicationOf(const ir::Program &program, std::uint32_t hook, std::uint32_t rank, std::uint64_t unit);
/// Returns where a function is applied: "by rank 1 to output[2]".
std::string describe(const Application &application, std::uint32_t unitsPerChunk);
/// Returns the function that the promise about that unit names, if it names one.
std::optional<Application> promisedApplication(const ir::Program &program, std::uint32_t rank, std::uint64_t unit);

class Values {
public:
  Values(const ProgramIndex &index, std::uint32_t unitsPerChunk);

  static constexpr ValueId unwritten = 0; ///< it was never written
  static constexpr ValueId unknown = 1;   ///< an access to it raced

  /// Returns the value of unit `unit` of a rank's input. Units are counted through all chunks.
  ValueId input(std::uint32_t rank, std::uint64_t unit) const { return static_cast<ValueId>(firstInput_[rank] + unit); }
  /// The reduction of `parts` (one or more; the order does not matter). Sorts its argument.
  ValueId combine(ir::ReduceOp op, std::vector<ValueId> &parts);
  /// The reduction of `parts` (one or more) by one operation, in their order. Each step reduces the earlier result and
  /// the next part. `combine` gives one value for all orders; this gives one for each tree of commutative steps. The
  /// last step narrows its result to the type of elements, unless `wide` is set. The other steps do not.
  ValueId chain(ir::ReduceOp op, std::span<const ValueId> parts, bool wide = false);
  /// Returns the same chain with a last step that narrows, if `value` is a wide chain; else `value`.
  ValueId narrowed(ValueId value);
  /// The reduction of `parts` (one or more) by a switch, in an order of the switch's choice. A value of three parts or
  /// more is equal to no other one. Two parts commute, so they are a chain. Sorts its argument.
  ValueId inSwitch(ir::ReduceOp op, std::vector<ValueId> &parts);

  /// Returns `value` with +0.0 in place of -0.0, as Lamport packets carry it.
  ValueId zeroed(ValueId value);
  /// Returns the value before zeroed(), if `value` is a result of it; else `value`.
  ValueId unzeroed(ValueId value) const { return isZeroed(value) ? partsOf(value)[0] : value; }
  bool isZeroed(ValueId value) const { return value >= firstNode_ && stepOf(value) == Step::Zero; }
  /// True if `value` is a reduction that is not yet rounded to the type of elements.
  bool isWide(ValueId value) const {
    const ValueId sum = unzeroed(value);
    return sum >= firstNode_ && stepOf(sum) == Step::Wide;
  }

  /// Returns `function` of `operand`.
  ValueId apply(const Application &function, ValueId operand);

  /// Returns `value` as scratch holds it: encoded, if the program has a wire format and `isMoved` does not say that it
  /// came from scratch as it is.
  ValueId inScratch(ValueId value, bool isMoved) { return wire_ == none || isMoved ? value : apply(wired(), value); }
  bool isEncoded(ValueId value) const;
  /// Returns the value that was encoded, or another one as it is.
  ValueId decoded(ValueId value) const { return isEncoded(value) ? partsOf(value)[0] : value; }
  /// Returns the value that was zeroed or encoded, or another one as it is.
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
      NotApplied,       ///< the promised function is missing
      AppliedEarly,     ///< a function was applied to a part of it, was applied twice, or is not promised
      AppliedElsewhere, ///< the promised hook was applied to another place
      Zeroed,           ///< it is the input `which`, but for -0.0, which is +0.0
      ZeroedResult,     ///< it is what the promised function makes, but for -0.0, which is +0.0
      Quantised,        ///< it is the input `which` after it was encoded
      Reencoded         ///< a part of it that is no input was encoded, and is encoded again with the whole
    } kind = Right;
    ir::Contribution which = {};  ///< the input chunk that is missing, occurs twice, or does not belong there
    Application application = {}; ///< the function, of AppliedEarly and AppliedElsewhere
  };
  /// Checks whether `value` consists of exactly the inputs `wanted`, each once, and is then `function` of that, if
  /// there is one.
  Verdict check(ValueId value, std::span<const ValueId> wanted, const std::optional<Application> &function = {});
  /// Returns the function whose result `value` is; nothing for another value.
  const Application *applicationOf(ValueId value) const;
  /// True if `value` is the result of `function`, or if there is none.
  bool isOf(ValueId value, const std::optional<Application> &function) const;
  /// Returns the operand of all functions that were applied to it one after the other; else `value` itself. A value in
  /// the wire format is such an operand.
  ValueId operandOf(ValueId value) const;
  /// Returns true and sets `op` to the reduce operation of a reduction, zeroed or not; returns false for another value.
  bool reduced(ValueId value, ir::ReduceOp &op) const;
  /// Returns the parts of a reduction, sorted, or the operand of a function; none for an input.
  std::span<const ValueId> partsOf(ValueId value) const;
  /// True if `value` was computed from `part`, or is `part`. Nothing is known of values after a fault.
  bool contains(ValueId value, ValueId part) const;
  ir::Contribution contribution(ValueId leaf) const;
  /// Returns the unit of an input, as in input().
  std::uint64_t unitOf(ValueId leaf) const { return leaf - firstInput_[contribution(leaf).rank]; }
  /// Returns the number of reductions and results of functions.
  std::uint64_t numReductions() const { return nodes_.size(); }
  /// Returns the number of values. Every id of a value is less than it.
  std::uint64_t end() const { return firstNode_ + nodes_.size(); }

  /// The way in which a value is computed from other values.
  enum class Step : std::uint8_t {
    Narrow, ///< a reduction, rounded to the type of elements
    Wide,   ///< a reduction, rounded to f32 or a wider type
    Switch, ///< a reduction in an unknown order, rounded to the type of elements
    Apply,  ///< the result of a function
    Zero,   ///< its operand, with +0.0 instead of -0.0
  };
  /// The step of a value that is no input.
  Step stepOf(ValueId value) const { return nodes_[value - firstNode_].step; }

private:
  struct Node {
    std::uint32_t firstPart, numParts;
    ir::ReduceOp op;
    Step step;
  };
  Application wired() const { return {wire_, none, Application::anywhere}; }
  std::uint32_t unitsPerChunk_, wire_;
  std::vector<std::uint64_t> firstInput_; // [rank], and the end
  std::uint64_t firstNode_;
  std::vector<Node> nodes_;
  std::vector<ValueId> parts_, step_;
  std::vector<std::uint32_t> table_;            ///< open addressing over nodes_; the size is a power of two
  std::unordered_map<ValueId, ValueId> zeroed_; ///< by their operands
  std::map<std::pair<Application, ValueId>, ValueId> applied_;
  std::unordered_map<ValueId, Application> applications_; ///< by their results
  std::vector<std::uint32_t> stamp_; ///< [leaf]: the round in which it was wanted, or wanted and found
  std::uint32_t round_ = 0;
  void grow();
  ValueId find(ir::ReduceOp op, Step step, std::vector<ValueId> &parts);
  ValueId add(ir::ReduceOp op, Step step, std::span<const ValueId> parts);
};

} // namespace mscclc::passes::proof
