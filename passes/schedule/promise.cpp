#include "passes/schedule/promise.h"

#include "ir/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

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
    if (!unwritten_.empty())
      reportUnwritten();
  }

private:
  /// Unwritten chunks with the same name on several ranks.
  struct Unwritten {
    ir::RankChunk chunks; ///< the chunks on the first of `ranks`
    std::vector<std::uint32_t> ranks;
    std::uint64_t count() const { return std::uint64_t{chunks.size} * ranks.size(); }
  };

  void check(std::uint32_t rank, std::uint32_t chunk) {
    const ChunkCell &cell = memory_[memory_.firstOf(rank, ir::BufferKind::Output, chunk)];
    const std::optional<std::uint32_t> reduced = wanted_.reducedOverAll(rank, chunk);
    const std::uint64_t pair = reduced ? std::uint64_t{cell.value} << 32 | *reduced : 0;
    const auto function = proof::promisedApplication(program_, rank, chunk);
    if (reduced && right_.contains(pair) && values_.isOf(cell.value, function))
      return;
    wanted_.of(rank, chunk, inputs_);
    if (inputs_.empty())
      return;
    const ir::RankChunk output{rank, ir::BufferKind::Output, chunk, 1};
    leaves_.clear();
    for (const ir::Contribution &input : inputs_)
      leaves_.push_back(values_.input(input.rank, input.chunk));
    const Values::Verdict verdict = values_.check(cell.value, leaves_, function);
    // In a program that works in place, an output without a writer may hold an input.
    if (verdict.kind != Values::Verdict::Right && cell.writer == ir::none) {
      addUnwritten(output);
      return;
    }
    if (verdict.kind != Values::Verdict::Right)
      return reportWrong(output, cell, verdict);
    if (isSameOp(output, cell) && reduced)
      right_.insert(pair);
  }

  void addUnwritten(const ir::RankChunk &output) {
    if (!unwritten_.empty()) {
      ir::RankChunk &last = unwritten_.back();
      if (last.rank == output.rank && last.index + last.size == output.index) {
        ++last.size;
        return;
      }
    }
    unwritten_.push_back(output);
  }

  /// Joins unwritten chunks that have the same name on several ranks into one entry. Its `chunks` are those on the
  /// first of these ranks.
  std::vector<Unwritten> joinRanks() const {
    std::map<std::tuple<ir::BufferKind, std::uint32_t, std::uint32_t>, std::size_t> entries; // [buffer, index, size]
    std::vector<Unwritten> joined;
    for (const ir::RankChunk &output : unwritten_) {
      const ir::RankChunk named = asNamed(output);
      const auto [at, isNew] = entries.try_emplace({named.buffer, named.index, named.size}, joined.size());
      if (isNew)
        joined.push_back({named, {}});
      joined[at->second].ranks.push_back(named.rank);
    }
    return joined;
  }

  /// Returns `output` under the name that the program uses for it. A program that works in place may call all output
  /// chunks input.
  ir::RankChunk asNamed(const ir::RankChunk &output) const {
    const std::size_t cell = memory_.firstOf(output), input = memory_.firstOf(output.rank, ir::BufferKind::Input);
    if (program_.movement.places.empty() || cell < input ||
        cell - input + output.size > program_.ranks[output.rank].inputChunks ||
        std::ranges::find(program_.movement.places, ir::BufferKind::Output, &ir::RankChunk::buffer) !=
            program_.movement.places.end())
      return output;
    return {output.rank, ir::BufferKind::Input, static_cast<std::uint32_t>(cell - input), output.size};
  }

  void reportUnwritten() {
    constexpr std::size_t mostShown = 3;
    const std::vector<Unwritten> joined = joinRanks();
    std::string shown;
    std::uint64_t others = 0;
    std::string_view kind = "output chunk";
    for (std::size_t i = 0; i < joined.size(); ++i) {
      const Unwritten &one = joined[i];
      if (one.chunks.buffer == ir::BufferKind::Input)
        kind = "chunk";
      if (i < mostShown)
        shown += (i == 0 ? "" : ", ") + describe(one.chunks, one.ranks);
      else
        others += one.count();
    }
    const ir::Collective &collective = program_.collective;
    std::string size;
    if (ir::hasChunkFactor(collective.kind))
      size = ": this " + std::string(toString(collective.kind)) + " of " + ir::plural(program_.ranks.size(), "rank") +
             " with chunk factor " + std::to_string(collective.chunkFactor) + " has " +
             ir::plural(program_.ranks[0].outputChunks, kind) + " on each";
    const std::string more = "more " + std::string(kind);
    findings_.reportOnProgram(diag::meaning_not_written,
                              {shown, others == 0 ? "" : ", nor " + ir::plural(others, more), size});
  }

  void reportWrong(const ir::RankChunk &output, const ChunkCell &cell, const Values::Verdict &verdict) {
    using V = Values::Verdict;
    if (verdict.kind == V::Unknown)
      return;
    std::vector<ir::DiagArg> args{describe(asNamed(output)), verdict.which.rank, verdict.which.chunk};
    const ir::DiagInfo *info = verdict.kind == V::Missing            ? &diag::meaning_lacks
                               : verdict.kind == V::Twice            ? &diag::meaning_twice
                               : verdict.kind == V::MixedOps         ? &diag::meaning_mixed_ops
                               : verdict.kind == V::NotApplied       ? &diag::meaning_not_applied
                               : verdict.kind == V::AppliedEarly     ? &diag::meaning_applied_early
                               : verdict.kind == V::AppliedElsewhere ? &diag::meaning_applied_elsewhere
                               : verdict.kind == V::Reencoded        ? &diag::meaning_encoded_twice
                                                                     : &diag::meaning_foreign;
    if (verdict.kind == V::NotApplied)
      args = {args[0], program_.collective.then};
    if (verdict.kind == V::AppliedEarly || verdict.kind == V::AppliedElsewhere)
      args = {args[0], program_.hooks[verdict.application.hook].name, describe(verdict.application, 1)};
    ir::ReduceOp op;
    if (verdict.kind == V::Foreign && inputs_.size() == 1 && !values_.reduced(cell.value, op)) {
      info = &diag::meaning_other_input;
      args[0] = describe(output); // an error about a wrong input would say little, so it is called output
      args.insert(args.end(), {inputs_[0].rank, inputs_[0].chunk});
    }
    report(*info, output, cell, args);
  }

  /// Reports an error and returns false if `output` is reduced with another operation than the first output.
  bool isSameOp(const ir::RankChunk &output, const ChunkCell &cell) {
    ir::ReduceOp op;
    if (!values_.reduced(values_.operandOf(cell.value), op))
      return true;
    if (!firstOp_) {
      firstOp_ = op;
      firstMaker_ = cell.maker;
      firstOutput_ = output;
    }
    if (op == *firstOp_)
      return true;
    report(diag::meaning_ops_differ, output, cell,
           {describe(asNamed(output)), ir::toString(op), ir::toString(*firstOp_)}, true);
    return false;
  }

  /// Reports an error at the statement that made a wrong value, not at copies that bring the value to the output.
  void report(const ir::DiagInfo &info, const ir::RankChunk &output, const ChunkCell &cell,
              const std::vector<ir::DiagArg> &args, bool otherOp = false) {
    const std::uint32_t fault = cell.maker != ir::none ? cell.maker : cell.writer;
    if (!findings_.isNew(info, fault))
      return;
    ir::DiagBuilder finding = findings_.report(info, fault, args);
    if (fault != cell.writer)
      finding.note(diag::meaning_copied_here, findings_.where(cell.writer), {describe(asNamed(output))});
    if (&info == &diag::meaning_other_input)
      noteOverwritten(finding, cell.writer);
    if (otherOp)
      finding.note(diag::meaning_other_op, findings_.where(firstMaker_),
                   {describe(firstOutput_), ir::toString(*firstOp_)});
  }

  /// Adds a note at the statement that overwrote the only input of this output. Does nothing unless `copy` came later
  /// and read the place of the input.
  void noteOverwritten(ir::DiagBuilder &finding, std::uint32_t copy) const {
    const ir::RankChunk input{inputs_[0].rank, ir::BufferKind::Input, inputs_[0].chunk, 1};
    const std::size_t place = memory_.firstOf(input);
    const std::uint32_t writer = memory_[place].writer;
    const bool isRead =
        std::ranges::any_of(program_.movement.srcs(program_.movement.statements[copy]), [&](const ir::RankChunk &src) {
          return place >= memory_.firstOf(src) && place - memory_.firstOf(src) < src.size;
        });
    if (isRead && writer < copy)
      finding.note(diag::meaning_overwritten, findings_.where(writer), {ir::describe(input)});
  }

  const ir::Program &program_;
  const ChunkMemory &memory_;
  Values &values_;
  StatementFindings &findings_;
  const ir::WantedOutputs wanted_;
  std::vector<ir::Contribution> inputs_;
  std::vector<ValueId> leaves_;
  std::unordered_set<std::uint64_t> right_; ///< correct pairs: a value, and the chunk that it reduces over all ranks
  std::vector<ir::RankChunk> unwritten_;    ///< runs of output chunks
  ir::RankChunk firstOutput_;
  std::optional<ir::ReduceOp> firstOp_;
  std::uint32_t firstMaker_ = ir::none;
};

} // namespace

void checkPromise(const ir::Program &program, const ChunkMemory &memory, Values &values, StatementFindings &findings) {
  PromiseCheck(program, memory, values, findings).run();
}

} // namespace mscclc::passes::schedule
