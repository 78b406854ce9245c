#include "passes/schedule/promise.h"

#include "ir/collectives.h"

#include <unordered_set>

namespace mscclc::passes::schedule {

namespace {

using proof::ValueId;
using proof::Values;

class PromiseCheck {
public:
  PromiseCheck(const ir::Program &program, const ChunkMemory &memory, Values &values, StatementFindings &findings)
      : program_(program), memory_(memory), values_(values), findings_(findings), wanted_(program) {}

  void run() {
    for (std::uint32_t r = 0; r < program_.ranks.size(); ++r)
      for (std::uint32_t chunk = 0; chunk < program_.ranks[r].outputChunks && !findings_.full(); ++chunk)
        check(r, chunk);
    if (unwritten_ != 0)
      findings_.reportOnProgram(diag::meaning_not_written,
                                {describe(firstUnwritten_),
                                 unwritten_ == 1 ? "" : ", nor " + ir::plural(unwritten_ - 1, "more output chunk")});
  }

private:
  void check(std::uint32_t rank, std::uint32_t chunk) {
    const ChunkCell &cell = memory_[memory_.firstOf(rank, ir::BufferKind::Output, chunk)];
    const std::optional<std::uint32_t> reduced = wanted_.reducedOverAll(rank, chunk);
    const std::uint64_t pair = reduced ? std::uint64_t{cell.value} << 32 | *reduced : 0;
    if (reduced && right_.contains(pair))
      return;
    wanted_.of(rank, chunk, inputs_);
    if (inputs_.empty())
      return;
    const ir::RankChunk output{rank, ir::BufferKind::Output, chunk, 1};
    leaves_.clear();
    for (const ir::Contribution &input : inputs_)
      leaves_.push_back(values_.input(input.rank, input.chunk));
    const Values::Verdict verdict = values_.check(cell.value, leaves_);
    if (verdict.kind != Values::Verdict::Right && cell.writer == ir::none) { // in place it may hold an input
      if (unwritten_++ == 0)
        firstUnwritten_ = output;
      return;
    }
    if (verdict.kind != Values::Verdict::Right)
      return reportWrong(output, cell, verdict);
    if (isSameOp(output, cell) && reduced)
      right_.insert(pair);
  }

  void reportWrong(const ir::RankChunk &output, const ChunkCell &cell, const Values::Verdict &verdict) {
    using V = Values::Verdict;
    if (verdict.kind == V::Unknown)
      return;
    const std::string where = describe(output);
    std::vector<ir::DiagArg> args{where, verdict.which.rank, verdict.which.chunk};
    const ir::DiagInfo *info = verdict.kind == V::Missing    ? &diag::meaning_lacks
                               : verdict.kind == V::Twice    ? &diag::meaning_twice
                               : verdict.kind == V::MixedOps ? &diag::meaning_mixed_ops
                                                             : &diag::meaning_foreign;
    ir::ReduceOp op;
    if (verdict.kind == V::Foreign && inputs_.size() == 1 && !values_.reduced(cell.value, op)) {
      info = &diag::meaning_other_input;
      args.insert(args.end(), {inputs_[0].rank, inputs_[0].chunk});
    }
    report(*info, cell, args);
  }

  /// False, and reported, where `output` is reduced with another operation than the first.
  bool isSameOp(const ir::RankChunk &output, const ChunkCell &cell) {
    ir::ReduceOp op;
    if (!values_.reduced(cell.value, op))
      return true;
    if (!firstOp_) {
      firstOp_ = op;
      firstMaker_ = cell.maker;
      firstOutput_ = output;
    }
    if (op == *firstOp_)
      return true;
    report(diag::meaning_ops_differ, cell, {describe(output), ir::toString(op), ir::toString(*firstOp_)}, true);
    return false;
  }

  void report(const ir::DiagInfo &info, const ChunkCell &cell, const std::vector<ir::DiagArg> &args,
              bool otherOp = false) {
    if (!findings_.isNew(info, cell.writer))
      return;
    ir::DiagBuilder finding = findings_.report(info, cell.writer, args);
    if (cell.maker != ir::none && cell.maker != cell.writer)
      finding.note(diag::meaning_made_here, findings_.where(cell.maker));
    if (otherOp)
      finding.note(diag::meaning_other_op, findings_.where(firstMaker_),
                   {describe(firstOutput_), ir::toString(*firstOp_)});
  }

  const ir::Program &program_;
  const ChunkMemory &memory_;
  Values &values_;
  StatementFindings &findings_;
  const ir::WantedOutputs wanted_;
  std::vector<ir::Contribution> inputs_;
  std::vector<ValueId> leaves_;
  std::unordered_set<std::uint64_t> right_; ///< (value, chunk reduced over all ranks) found right
  std::uint64_t unwritten_ = 0;
  ir::RankChunk firstUnwritten_, firstOutput_;
  std::optional<ir::ReduceOp> firstOp_;
  std::uint32_t firstMaker_ = ir::none;
};

} // namespace

void checkPromise(const ir::Program &program, const ChunkMemory &memory, Values &values, StatementFindings &findings) {
  PromiseCheck(program, memory, values, findings).run();
}

} // namespace mscclc::passes::schedule
