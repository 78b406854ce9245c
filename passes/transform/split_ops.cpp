#include "passes/transform/split_ops.h"

#include "ir/cursor.h"
#include "ir/memory_map.h"
#include "ir/op_semantics.h"
#include "passes/diagnostics.h"

#include <algorithm>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::Chunk;
using ir::Op;
using ir::OpKind;

/// The way in which an operation may be split.
enum class SplitForm : std::uint8_t {
  Never,
  Ids,          ///< a list of channels or semaphores
  Pairs,        ///< pairs of a source and a destination; each pair may have a channel
  SharedSource, ///< one source, and several destinations
  Sum,          ///< sums sources step by step into destination 0, then sends the sum to the other destinations
};

struct SplitRule {
  SplitForm form = SplitForm::Never;
  OpKind step = OpKind::Nop; ///< for Sum: the operation that adds some of the sources
  OpKind send = OpKind::Nop; ///< for Sum: the operation that sends destination 0
};

/// Returns the rule for a kind of operation. The rule follows from what the operation stores, and from its shape. Only
/// a list that may have any length can be split.
constexpr SplitRule splitRule(OpKind kind) {
  const ir::OpShape &shape = ir::opShapes[static_cast<std::size_t>(kind)];
  const ir::Stored stored = ir::info(kind).stored;
  if (ir::oneThreadPerId(kind))
    return {SplitForm::Ids};
  if (stored == ir::Stored::Sources && shape.pairwise)
    return {SplitForm::Pairs};
  if (stored == ir::Stored::Sources && shape.dsts.maxRemote == ir::anyCount)
    return {SplitForm::SharedSource};
  if (stored != ir::Stored::Reduction || shape.srcs.numSwitch != 0)
    return {SplitForm::Never};
  if (ir::isPacketOp(kind))
    return {SplitForm::Sum, OpKind::ReducePacket, OpKind::PutPacket};
  return {SplitForm::Sum, shape.srcs.maxRemote != 0 ? OpKind::ReadReduce : OpKind::Reduce, OpKind::Put};
}

/// Rewrites blocks, one after another. Reuses its buffers.
///
/// The order of each thread's work does not change. Before splitting, thread i handles position i of an operation.
/// After splitting into pieces of n positions, thread i mod n handles position i, in piece i / n. All operations of a
/// block are split by the same n, and operations that are not split have at most n positions. So two positions of one
/// thread still belong to one thread. At each position, the first work, such as a put before its signal, is still the
/// first. So no nop is needed between pieces. A block runs its operations one by one, each for all positions. When all
/// pieces are complete, the block has done the same as the whole operation. So every block that reached its end before
/// still reaches it.
class Splitter {
public:
  Splitter(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags)
      : program_(program), target_(target), limits_(*target.executor), diags_(diags) {}

  void run(std::uint32_t rank, std::uint32_t index, ir::ThreadBlock &block) {
    in_ = &block;
    chooseWidths();
    if (std::ranges::none_of(block.ops, [this](const Op &op) { return mustSplit(op); }))
      return;
    out_.ops.clear();
    out_.chunks.clear();
    out_.ids.clear();
    ir::rewriteOps(block, out_.ops, [&](std::uint32_t i) {
      const Op &op = block.ops[i];
      const char *reason = mustSplit(op) ? obstacle(rank, op) : nullptr;
      if (reason)
        refuse({rank, index, i}, reason);
      if (mustSplit(op) && !reason)
        split(op);
      else
        out_.append(op, block.srcs(op), block.dsts(op), block.idsOf(op));
    });
    block.ops = out_.ops;
    block.chunks = out_.chunks;
    block.ids = out_.ids;
  }

  SplitCounts counts;

private:
  /// Chooses the width of pieces for operations in which one thread handles each position. An operation may have more
  /// semaphores than channels. The larger width is used for semaphores, unless an operation on channels must be split,
  /// because then all widths must be equal.
  void chooseWidths() {
    channelWidth_ = std::min(limits_.channelsPerOp, program_.threadsPerBlock);
    semaphoreWidth_ = std::min(limits_.semaphoresPerOp, program_.threadsPerBlock);
    if (std::ranges::any_of(in_->ops, [this](const Op &op) {
          return ir::oneThreadPerPosition(op) && !ir::isSemaphoreOp(op.kind) && op.numIds > channelWidth_;
        }))
      semaphoreWidth_ = channelWidth_;
  }
  std::uint32_t maxIds(const Op &op) const {
    if (!ir::oneThreadPerPosition(op))
      return limits_.channelsPerOp;
    return ir::isSemaphoreOp(op.kind) ? semaphoreWidth_ : channelWidth_;
  }
  bool tooWide(const Op &op) const {
    return op.numIds > maxIds(op) || op.numSrcs > limits_.chunksPerSide || op.numDsts > limits_.chunksPerSide;
  }
  bool mustSplit(const Op &op) const {
    if (op.firstAfter != 0) // the executor's checks refuse it
      return false;
    return tooWide(op) || mixesSources(op) || lacksFlush(op) || sendsPackets(op);
  }

  /// True if `op` has sources in different buffers. handlePut and handlePutPackets read all sources from the buffer of
  /// the first one.
  bool mixesSources(const Op &op) const {
    const std::span<const Chunk> srcs = in_->srcs(op);
    return (op.kind == OpKind::Put || op.kind == OpKind::PutPacket) && op.channelType == ir::ChannelType::Memory &&
           std::ranges::any_of(srcs, [&](const Chunk &src) { return src.space != srcs[0].space; });
  }
  /// True if `op` must flush but the target's put ends with its signal. Then a flush by the same threads must follow
  /// the put.
  bool lacksFlush(const Op &op) const { return op.kind == OpKind::PutWithSignalAndFlush && !limits_.flushingPuts; }
  /// True if `op` sends packets of scratch through a port. handlePutPackets takes the source from the memory of the
  /// first plan that the executor has loaded, whichever plan runs (it omits localMemoryIdBegin_). handleReadPutPackets
  /// sends the same packets from the right memory.
  bool sendsPackets(const Op &op) const {
    return op.kind == OpKind::PutPacket && op.channelType == ir::ChannelType::Port &&
           std::ranges::all_of(in_->srcs(op), [](const Chunk &src) { return src.space == ir::ChunkSpace::Scratch; });
  }

  /// Returns the reason why splitting `op` would change its result; null if it would not.
  const char *obstacle(std::uint32_t rank, const Op &op) const {
    const SplitRule rule = splitRule(op.kind);
    if (rule.form == SplitForm::Never)
      return "it is one operation on all of them";
    if (rule.form != SplitForm::Sum || op.numSrcs <= limits_.chunksPerSide)
      return nullptr;
    // A later step must not read memory that an earlier step has written, except the sum so far.
    const std::span<const Chunk> srcs = in_->srcs(op);
    const ir::MemoryRange sum = ir::memoryOf(program_, rank, in_->dsts(op)[0]);
    for (std::uint32_t i = limits_.chunksPerSide; i < srcs.size(); ++i)
      if (ir::isLocal(srcs[i].space) && sum.overlaps(ir::memoryOf(program_, rank, srcs[i], ir::formOfSource(op, i))))
        return "a later source lies where the result goes";
    return nullptr;
  }

  void refuse(ir::OpRef ref, const char *reason) {
    const Op &op = in_->ops[ref.op];
    const bool byIds = op.numIds > maxIds(op);
    const std::uint32_t chunks = std::max(op.numSrcs, op.numDsts);
    const char *what = ir::isSemaphoreOp(op.kind) ? "semaphore" : "channel";
    diags_.report(diag::limit_width, whereIs(program_, ref),
                  {ir::wordOf(program_, op), ref.block, ref.rank,
                   byIds ? ir::plural(op.numIds, what) : ir::plural(chunks, "chunk") + " on a side", target_.name(),
                   byIds ? maxIds(op) : limits_.chunksPerSide, reason});
  }

  void piece(const Op &op, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
             std::span<const std::uint32_t> ids = {}) {
    out_.append(op, srcs, dsts, ids);
    ++counts.pieces;
  }
  void nop(ir::LocId loc) {
    out_.append({.loc = loc});
    ++counts.nops;
  }

  void split(const Op &op) {
    ++counts.split;
    if (sendsPackets(op)) {
      splitPackets(op);
      return;
    }
    if (lacksFlush(op)) {
      Op put = op, flush = op;
      put.kind = OpKind::PutWithSignal;
      flush.kind = OpKind::Flush;
      splitCopies(put, in_->srcs(op), in_->dsts(op), in_->idsOf(op), false);
      splitIds(flush, in_->idsOf(op));
      return;
    }
    switch (const SplitRule rule = splitRule(op.kind); rule.form) {
    case SplitForm::Ids:
      splitIds(op, in_->idsOf(op));
      break;
    case SplitForm::Pairs:
    case SplitForm::SharedSource:
      splitCopies(op, in_->srcs(op), in_->dsts(op), in_->idsOf(op), rule.form == SplitForm::SharedSource);
      break;
    case SplitForm::Sum:
      splitSum(op, rule);
      break;
    case SplitForm::Never:
      break;
    }
  }

  void splitIds(const Op &op, std::span<const std::uint32_t> ids) {
    for (std::size_t at = 0; at < ids.size(); at += maxIds(op))
      piece(op, {}, {}, ids.subspan(at, std::min<std::size_t>(maxIds(op), ids.size() - at)));
  }

  /// Makes a piece for each source. Each piece begins again at position 0, so the order of threads is lost. A nop
  /// replaces it.
  void splitPackets(const Op &op) {
    const std::span<const Chunk> srcs = in_->srcs(op), dsts = in_->dsts(op);
    const std::span<const std::uint32_t> ids = in_->idsOf(op);
    Op send = op;
    send.kind = OpKind::ReadPutPacket;
    const bool several = std::ranges::any_of(srcs, [&](const Chunk &src) { return src != srcs[0]; });
    for (std::size_t at = 0, end = 0; at < srcs.size(); at = end) {
      while (end < srcs.size() && srcs[end] == srcs[at])
        ++end;
      splitCopies(send, srcs.subspan(at, 1), dsts.subspan(at, end - at), ids.subspan(at, end - at), true);
      if (several)
        nop(op.loc);
    }
  }

  void splitCopies(const Op &op, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
                   std::span<const std::uint32_t> ids, bool shared) {
    const std::size_t width = ids.empty() ? limits_.chunksPerSide : std::min(limits_.chunksPerSide, maxIds(op));
    const bool oneBuffer = mixesSources(op);
    for (std::size_t at = 0, n = 0; at < dsts.size(); at += n) {
      n = std::min(width, dsts.size() - at);
      for (std::size_t i = 1; oneBuffer && i < n; ++i)
        if (srcs[at + i].space != srcs[at].space)
          n = i;
      piece(op, shared ? srcs : srcs.subspan(at, n), dsts.subspan(at, n), ids.empty() ? ids : ids.subspan(at, n));
    }
  }

  void splitSum(const Op &op, const SplitRule &rule) {
    std::span<const Chunk> srcs = in_->srcs(op);
    const std::span<const Chunk> dsts = in_->dsts(op);
    Op step = op;
    step.kind = rule.step;
    if (rule.step != OpKind::ReadReduce)
      step.channelType = ir::ChannelType::None;
    // Adds the sources in their order. Destination 0 holds the sum so far, which is the first source of the next step.
    std::vector<Chunk> rest(srcs.begin(), srcs.end());
    std::size_t done = 0;
    while (rest.size() - done > limits_.chunksPerSide) {
      piece(step, std::span(rest).subspan(done, limits_.chunksPerSide), dsts.first(1));
      nop(op.loc);
      done += limits_.chunksPerSide - 1;
      rest[done] = dsts[0];
    }
    srcs = std::span(rest).subspan(done);
    if (dsts.size() <= limits_.chunksPerSide) {
      piece(op, srcs, dsts, in_->idsOf(op));
      return;
    }
    piece(op, srcs, dsts.first(limits_.chunksPerSide), in_->idsOf(op));
    nop(op.loc);
    const std::span<const Chunk> sent = dsts.subspan(limits_.chunksPerSide);
    const std::vector<Chunk> result(sent.size(), dsts[0]);
    Op send = op;
    send.kind = rule.send;
    send.reduceOp = ir::ReduceOp::Sum;
    splitCopies(send, result, sent, {}, false);
  }

  ir::Program &program_;
  const Target &target_;
  const ExecutorLimits &limits_;
  ir::DiagnosticEngine &diags_;
  const ir::ThreadBlock *in_ = nullptr;
  std::uint32_t channelWidth_ = 0, semaphoreWidth_ = 0; ///< widths of pieces in the current block
  ir::ThreadBlock out_;
};

} // namespace

SplitCounts splitWideOps(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags) {
  Splitter splitter(program, target, diags);
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b)
      splitter.run(r, b, program.ranks[r].blocks[b]);
  return splitter.counts;
}

} // namespace mscclc::passes
