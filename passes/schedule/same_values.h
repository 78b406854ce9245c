// Whether a program ends with what its statements mean.
#pragma once

#include "passes/schedule/meaning.h"
#include "passes/verify/final_buffers.h"

#include <map>
#include <unordered_map>

namespace mscclc::passes::schedule {

/// Values of several tables in one common form: equal values have one number.
///
/// Sums and products are compared as trees of commutative steps; with `reassociate`, by their parts and how often each
/// is in them.
/// Min and max are compared by the set of their parts.
class CommonForms {
public:
  explicit CommonForms(bool reassociate) : reassociate_(reassociate) {}

  /// A value in this form. `piece`: where chunks are cut into pieces, the piece of its chunks that it is made of.
  struct Form {
    static constexpr std::uint32_t unwritten = 0, ///< holds nothing that the program says
        unknown = 1;                              ///< nobody knows, or it is made of several pieces
    std::uint32_t id = unwritten;
    std::uint32_t piece = 0;
    friend bool operator==(const Form &, const Form &) = default;
  };

  /// Reads one table.
  class Reader {
  public:
    /// Each chunk is `pieces` units of `values`.
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
    bool isKnown(proof::ValueId value) const { return value < known_.size() && known_[value].id != notKnown; }
    void setKnown(proof::ValueId value, const Form &form);

    CommonForms &forms_;
    const proof::Values &values_;
    const std::uint32_t pieces_;
    static constexpr std::uint32_t notKnown = ir::none;
    std::vector<Form> known_; ///< [value]: values are numbered without gaps, and most of them are asked for
  };

private:
  /// A form and how often it is in a reduction; 2^32 - 1 stands for more, too.
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
  std::vector<std::vector<std::uint32_t>> leaves_; ///< [rank][chunk]; `unwritten` where there is none yet
  std::map<Reduction, std::uint32_t> reductions_;
  std::unordered_map<std::uint32_t, const Reduction *> reductionOf_;
};

/// Compares every input and output chunk, also those that no promise names, with the meaning. Both are what the first
/// launch leaves. Chunks of the program may be pieces of chunks of the meaning, equally many of each, in order: as
/// instances and pipelines cut them. What a reduction through a switch yields is equal to no chain of three
/// parts or more, unless reductions may be taken in any order.
///
/// Throws ir::InternalError where they differ, as it is the schedule that is wrong then.
void checkSameResult(const Meaning &meaning, const proof::FinalBuffers &end);

} // namespace mscclc::passes::schedule
