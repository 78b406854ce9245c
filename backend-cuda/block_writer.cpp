#include "backend-cuda/block_writer.h"

#include "backend-cuda/alias_order.h"
#include "backend-cuda/channel_order.h"
#include "backend-cuda/fused_hooks.h"
#include "backend-cuda/operand_writer.h"
#include "backend-cuda/operation_writer.h"
#include "backend-cuda/split.h"
#include "ir/shape_classes.h"

namespace mscclc::cuda {

namespace {

using ir::Op;
using ir::OpKind;

/// Sequences of operations that repeat at least so often become loops. Others are straight-line code.
constexpr int minRepeats = 16;
constexpr std::size_t maxPeriod = 32;
/// After this number of failed attempts to make a loop, the rest of a program becomes straight-line code.
constexpr int maxFailedRepeats = 64;

class BlockWriter {
public:
  BlockWriter(const KernelFacts &facts, const std::vector<RankBlock> &instances, Tables &tables)
      : facts_(facts), operands_(facts, instances, tables), block_(operands_.block()) {
    shapes_.reserve(block_.ops.size());
    ir::ShapeClasses classes;
    for (const Op &op : block_.ops)
      shapes_.push_back(classes.of(ir::shapeOf(operands_.rank(), block_, op)));
    syncBefore_.resize(block_.ops.size());
    fenceBefore_.resize(block_.ops.size());
    releases_.resize(block_.ops.size());
    for (const RankBlock &who : instances) {
      const ir::Rank &rank = facts.program.ranks[static_cast<std::size_t>(who.rank)];
      markUnorderedChannels(rank, rank.blocks[static_cast<std::size_t>(who.block)], syncBefore_);
    }
    markFusedHooks(instances);
    for (const RankBlock &who : instances) {
      const auto rank = static_cast<std::uint32_t>(who.rank);
      endsUnfenced_ |= markUnfencedAliases(facts.program, rank,
                                           facts.program.ranks[rank].blocks[static_cast<std::size_t>(who.block)],
                                           facts.hasPackets, syncBefore_, fenceBefore_);
      for (std::size_t o = 0; o < releases_.size(); ++o)
        releases_[o] |= facts.earlierReads.mayPrecede(rank, static_cast<std::size_t>(who.block), o) ? 1 : 0;
    }
  }

  BlockProgram write(const std::vector<RankBlock> &instances) {
    std::size_t cut = block_.ops.size();
    for (const RankBlock &who : instances)
      if (facts_.program.split)
        cut = std::min(cut, operationsThatSend(facts_.program, facts_.rows, static_cast<std::uint32_t>(who.rank),
                                               static_cast<std::uint32_t>(who.block)));
    BlockProgram out{instances, writeRange(0, cut), writeRange(cut, block_.ops.size())};
    if (endsUnfenced_)
      (facts_.program.split ? out.ofReceive : out.statements)
          .push_back({{}, CallStatement{"fenceAliasesAtEnd", {}, {}}});
    return out;
  }

private:
  /// Sets hook_ for operations at which all instances agree, and isDone_ for the operations that are then not written.
  void markFusedHooks(const std::vector<RankBlock> &instances) {
    hook_.resize(block_.ops.size());
    isDone_.resize(block_.ops.size());
    for (const RankBlock &who : instances) {
      const std::vector<std::uint32_t> hooks =
          fusedHooks(facts_.program, static_cast<std::uint32_t>(who.rank), static_cast<std::size_t>(who.block));
      for (std::size_t o = 0; o < hook_.size(); ++o)
        hook_[o] = &who == instances.data() || hook_[o] == hooks[o] ? hooks[o] : 0;
    }
    for (std::size_t o = 0; o < hook_.size(); ++o) {
      if (hook_[o] == 0)
        continue;
      isDone_[o + hook_[o]] = 1;
      if (takesElements(facts_.program, block_.ops[o + hook_[o]]))
        continue;
      // Only the sync before the operation is added. The apply has asked for the one after it.
      std::size_t written = o;
      while (written != 0 && isDone_[written - 1] != 0)
        --written;
      if (written != 0 && !ir::isBlockSync(block_.ops[written - 1].kind))
        syncBefore_[o] = 1;
    }
    std::size_t afterLoops = 0;
    for (std::size_t o = 0; o < block_.ops.size(); ++o)
      if (block_.ops[o].kind == OpKind::Pipeline)
        afterLoops = o + 1 + block_.ops[o].bodySize;
    // Nops before fused applies at the end are left out, because the end of the launch synchronises. A nop in a
    // pipeline's body stays, because it orders the iterations.
    for (std::size_t o = block_.ops.size(); o-- > afterLoops + 1 && isDone_[o] != 0;)
      if (block_.ops[o - 1].kind == OpKind::Nop)
        isDone_[o - 1] = 1;
  }

  std::vector<Statement> writeRange(std::size_t begin, std::size_t end) {
    std::vector<Statement> out;
    for (std::size_t q = begin; q < end;) {
      const Op &op = block_.ops[q];
      if (op.kind == OpKind::Pipeline) {
        out.push_back(writePipeline(q));
        q += 1 + op.bodySize;
      } else if (const std::size_t length = tryRepeat(q, end, out)) {
        q += length;
      } else {
        writeOp({q}, out);
        ++q;
      }
    }
    return out;
  }

  Statement writePipeline(std::size_t header) {
    const Op &op = block_.ops[header];
    UnitLoop loop;
    loop.unitBytes = op.imm;
    loop.chunks = op.count;
    operands_.setPipelineUnit(op.imm);
    loop.body = writeRange(header + 1, header + 1 + op.bodySize);
    operands_.setPipelineUnit(0);
    return {describe(facts_.program, op), std::move(loop)};
  }

  /// Returns how often the `period` operations from `q` on repeat with the same shape.
  int timesRepeated(std::size_t q, std::size_t end, std::size_t period) const {
    std::size_t same = 0;
    while (q + same + period < end && shapes_[q + same] == shapes_[q + same + period] &&
           block_.ops[q + same].kind != OpKind::Pipeline)
      ++same;
    return static_cast<int>(same / period + 1);
  }

  /// Writes the operations from `q` on as a loop if they repeat. Returns the number of operations that the loop covers;
  /// 0: no loop was written.
  std::size_t tryRepeat(std::size_t q, std::size_t end, std::vector<Statement> &out) {
    for (std::size_t period = 1; period <= maxPeriod && q + period * minRepeats <= end; ++period) {
      if (failedRepeats_ >= maxFailedRepeats)
        return 0;
      const int times = timesRepeated(q, end, period);
      if (times < minRepeats || !repeatsHooks(q, period, times))
        continue;
      RepeatLoop loop;
      loop.times = times;
      operands_.beginFormulasOnly();
      for (std::size_t t = 0; t < period && !operands_.formulaFailed(); ++t)
        writeOp({q + t, times, period}, loop.body);
      if (operands_.endFormulasOnly()) {
        out.push_back({{}, std::move(loop)});
        return period * static_cast<std::size_t>(times);
      }
      ++failedRepeats_;
    }
    return 0;
  }

  /// True if all repetitions of the `period` operations from `q` on call hooks at the same places. The last repetition
  /// may leave out a sync.
  bool repeatsHooks(std::size_t q, std::size_t period, int times) const {
    for (std::size_t o = q + period; o < q + period * static_cast<std::size_t>(times); ++o)
      if (hook_[o] != hook_[o - period] || (isDone_[o] != isDone_[o - period] && block_.ops[o].kind != OpKind::Nop))
        return false;
    return true;
  }

  /// True if `marks` has a mark for the operation `at`, in any of its repetitions.
  static bool isMarked(const std::vector<char> &marks, const At &at) {
    for (int step = 0; step < at.steps; ++step)
      if (marks[at.op + static_cast<std::size_t>(step) * at.stride] != 0)
        return true;
    return false;
  }

  void writeOp(const At &at, std::vector<Statement> &out) {
    const Op &op = block_.ops[at.op];
    if (has(op.sync, ir::DataSync::Before) || isMarked(syncBefore_, at))
      out.push_back({{}, SyncStatement{}});
    if (isMarked(fenceBefore_, at))
      out.push_back({{}, CallStatement{"fenceAliases", {}, {}}});
    if (isDone_[at.op] == 0)
      writeOperation(facts_, operands_, at, isMarked(releases_, at), hook_[at.op], out);
    if (has(op.sync, ir::DataSync::After))
      out.push_back({{}, SyncStatement{}});
  }

  const KernelFacts &facts_;
  OperandWriter operands_;
  const ir::ThreadBlock &block_;
  std::vector<std::uint32_t> shapes_;                     // [operation]: the class of its shape
  std::vector<char> syncBefore_, fenceBefore_, releases_; ///< [operation]: marked in some instance
  std::vector<std::uint32_t> hook_;                       ///< [operation]: fusedHooks() if all instances agree
  std::vector<char> isDone_;  ///< [operation]: not written; another operation does it, or the launch's end
  bool endsUnfenced_ = false; ///< some instance ends with unfenced accesses
  int failedRepeats_ = 0;
};

} // namespace

BlockProgram writeBlock(const KernelFacts &facts, const std::vector<RankBlock> &instances, Tables &tables) {
  return BlockWriter(facts, instances, tables).write(instances);
}

} // namespace mscclc::cuda
