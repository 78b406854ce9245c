// Compares the result of a program with the meaning of its statements.
#pragma once

#include "passes/schedule/meaning.h"
#include "passes/verify/final_buffers.h"

#include <map>
#include <unordered_map>

namespace mscclc::passes::schedule {

/// Values of several tables in a common form, in which equal values have the same number.
///
/// Sums and products are compared as trees of commutative steps. With `reassociate`, they are compared by their parts
/// and how often each occurs. Min and max are compared by the set of their parts. Example: max(a, max(b, a)) equals
/// max(a, b). a + (b + a) equals (a + a) + b only with `reassociate`.
class CommonForms {
public:
  explicit CommonForms(bool reassociate) : reassociate_(reassociate) {}

  /// A value in the common form. If chunks are cut into pieces, the value consists of piece number `piece` of its
  /// chunks.
  struct Form {
    static constexpr std::uint32_t unwritten = 0, ///< holds nothing that the program defines
        unknown = 1;                              ///< undefined, or made of several different pieces
    std::uint32_t id = unwritten;
    std::uint32_t piece = 0;
    friend bool operator==(const Form &, const Form &) = default;
  };

  /// Reads one table of values.
  class Reader {
  public:
    /// `values` are the values of units. Each chunk of the meaning consists of `pieces` units.
    Reader(CommonForms &forms, const proof::Values &values, std::uint32_t pieces)
        : forms_(forms), values_(values), pieces_(pieces) {}
    Form of(proof::ValueId value);

  private:
    struct Part {
      proof::ValueId value;
      std::uint32_t count;
    };
    std::vector<Part> partsOf(proof::ValueId value, ir::ReduceOp op) const;
    Form leaf(proof::ValueId value);
    Form applied(proof::Application function, const Form &operand);
    bool isKnown(proof::ValueId value) const { return value < known_.size() && known_[value].id != notKnown; }
    void setKnown(proof::ValueId value, const Form &form);

    CommonForms &forms_;
    const proof::Values &values_;
    const std::uint32_t pieces_;
    static constexpr std::uint32_t notKnown = ir::none;
    std::vector<Form> known_; ///< [value]; values are numbered without gaps, and most are needed
  };

private:
  /// A form, and how often it occurs in a reduction; 2^32 - 1 means that often or more.
  using Counted = std::pair<std::uint32_t, std::uint32_t>;
  struct Reduction {
    ir::ReduceOp op;
    std::vector<Counted> parts; ///< sorted
    friend auto operator<=>(const Reduction &, const Reduction &) = default;
  };
  bool anyOrder(ir::ReduceOp op) const { return ir::isReorderable(op) || reassociate_; }
  std::uint32_t reduction(ir::ReduceOp op, const std::vector<Counted> &parts);

  const bool reassociate_;
  std::uint32_t next_ = Form::unknown + 1;
  std::vector<std::vector<std::uint32_t>> leaves_; ///< [rank][chunk]; `unwritten` if there is none yet
  std::map<std::pair<proof::Application, std::uint32_t>, std::uint32_t>
      applications_; ///< [function, with the number of a chunk as its unit; operand]
  std::map<Reduction, std::uint32_t> reductions_;
  std::unordered_map<std::uint32_t, const Reduction *> reductionOf_;
};

/// Compares every input and output chunk after the first launch with the meaning, also chunks that no promise names.
/// Instances and pipelines may have cut each chunk of the meaning into the same number of chunks, in order. A reduction
/// of three or more parts through a switch equals no chain, unless reductions may be computed in any order.
///
/// Throws ir::InternalError if a chunk differs, because then the schedule is wrong.
void checkSameResult(const Meaning &meaning, const proof::FinalBuffers &end);

} // namespace mscclc::passes::schedule
