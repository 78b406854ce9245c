#include "passes/split_ops.h"

#include "ir/op_semantics.h"
#include "passes/diagnostics.h"
#include "passes/local_accesses.h"

#include <algorithm>
#include <vector>

namespace mscclc::passes {
namespace {

using ir::Chunk;
using ir::Op;
using ir::OpKind;

/// How an operation may be split.
enum class SplitForm : std::uint8_t {
  Never,
  Channels,     ///< a list of channels
  Semaphores,   ///< a list of semaphores
  Pairs,        ///< pairs of a source and a destination, each with its channel
  SharedSource, ///< one source, several destinations
  Sum,          ///< sources summed step by step into destination 0; further ones are sent behind it
};

struct SplitRule {
  SplitForm form = SplitForm::Never;
  OpKind step = OpKind::Nop; ///< Sum: takes some of the sources and keeps the sum
  OpKind send = OpKind::Nop; ///< Sum: sends destination 0 on
};

constexpr SplitRule splitRule(OpKind kind) {
  using enum OpKind;
  using enum SplitForm;
  switch (kind) {
  case Signal:
  case Wait:
  case RelaxedSignal:
  case RelaxedWait:
  case Flush:
    return {Channels};
  case SemAcquire:
  case SemRelease:
    return {Semaphores};
  case Get:
  case Put:
  case PutWithSignal:
  case PutWithSignalAndFlush:
  case PutPacket:
    return {Pairs};
  case ReadPutPacket:
    return {SharedSource};
  case Reduce:
  case ReduceSend:
    return {Sum, Reduce, Put};
  case ReadReduce:
  case ReadReduceSend:
    return {Sum, ReadReduce, Put};
  case ReducePacket:
  case ReduceSendPacket:
  case ReduceCopyPacket:
  case ReduceCopySendPacket:
    return {Sum, ReducePacket, PutPacket};
  default:
    return {};
  }
}

/// Rewrites one block after another; buffers are kept between them.
class Splitter {
public:
  Splitter(ir::Program &program, const Target &target, ir::DiagnosticEngine &diags)
      : program_(program), target_(target), limits_(*target.executor), diags_(diags) {}

  void run(std::uint32_t rank, std::uint32_t index, ir::ThreadBlock &block) {
    if (std::ranges::none_of(block.ops, [this](const Op &op) { return tooWide(op); }))
      return;
    in_ = &block;
    out_.ops.clear();
    out_.chunks.clear();
    out_.ids.clear();
    std::uint32_t header = 0, bodyEnd = 0;
    for (std::uint32_t i = 0; i < block.ops.size(); ++i) {
      const Op &op = block.ops[i];
      const std::size_t before = out_.ops.size();
      if (!tooWide(op)) {
        append(op, block.srcs(op), block.dsts(op), block.idsOf(op));
      } else if (const char *reason = obstacle(rank, op)) {
        refuse({rank, index, i}, reason);
        append(op, block.srcs(op), block.dsts(op), block.idsOf(op));
      } else {
        split(op);
      }
      if (op.kind == OpKind::Pipeline) {
        header = static_cast<std::uint32_t>(before);
        bodyEnd = i + 1 + op.bodySize;
      } else if (i < bodyEnd) {
        out_.ops[header].bodySize += static_cast<std::uint32_t>(out_.ops.size() - before - 1);
      }
    }
    block.ops = out_.ops;
    block.chunks = out_.chunks;
    block.ids = out_.ids;
  }

  SplitCounts counts;

private:
  std::uint32_t maxIds(OpKind kind) const {
    return ir::isSemaphoreOp(kind) ? limits_.semaphoresPerOp : limits_.channelsPerOp;
  }
  bool tooWide(const Op &op) const {
    return op.numIds > maxIds(op.kind) || op.numSrcs > limits_.chunksPerSide || op.numDsts > limits_.chunksPerSide;
  }

  /// Why splitting `op` would change what it does, or null.
  const char *obstacle(std::uint32_t rank, const Op &op) const {
    const SplitRule rule = splitRule(op.kind);
    if (rule.form == SplitForm::Never)
      return "it is one operation on all of them";
    if (rule.form != SplitForm::Sum || op.numSrcs <= limits_.chunksPerSide)
      return nullptr;
    // A later step must not read what an earlier one has written, other than as the sum so far.
    const std::span<const Chunk> srcs = in_->srcs(op);
    const MemoryRange sum = memoryOf(program_, rank, in_->dsts(op)[0]);
    for (std::uint32_t i = limits_.chunksPerSide; i < srcs.size(); ++i)
      if (ir::isLocal(srcs[i].space) && sum.overlaps(memoryOf(program_, rank, srcs[i], ir::formOfSource(op, i))))
        return "a later source lies where the result goes";
    return nullptr;
  }

  void refuse(ir::OpRef ref, const char *reason) {
    const Op &op = in_->ops[ref.op];
    const bool byIds = op.numIds > maxIds(op.kind);
    const std::uint32_t chunks = std::max(op.numSrcs, op.numDsts);
    const char *what = ir::isSemaphoreOp(op.kind) ? "semaphore" : "channel";
    diags_.report(diag::limit_width, whereIs(program_, ref),
                  {ir::toString(op.kind), ref.block, ref.rank,
                   byIds ? ir::plural(op.numIds, what) : ir::plural(chunks, "chunk") + " on a side", target_.name(),
                   byIds ? maxIds(op.kind) : limits_.chunksPerSide, reason});
  }

  void append(const Op &op, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
              std::span<const std::uint32_t> ids) {
    out_.append(op, srcs, dsts, ids);
  }
  void piece(const Op &op, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
             std::span<const std::uint32_t> ids = {}) {
    append(op, srcs, dsts, ids);
    ++counts.pieces;
  }
  void nop(ir::LocId loc) {
    Op op;
    op.loc = loc;
    append(op, {}, {}, {});
    ++counts.nops;
  }

  void split(const Op &op) {
    ++counts.split;
    switch (const SplitRule rule = splitRule(op.kind); rule.form) {
    case SplitForm::Channels:
    case SplitForm::Semaphores:
      splitIds(op);
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

  void splitIds(const Op &op) {
    const std::span<const std::uint32_t> ids = in_->idsOf(op);
    for (std::size_t at = 0; at < ids.size(); at += maxIds(op.kind))
      piece(op, {}, {}, ids.subspan(at, std::min<std::size_t>(maxIds(op.kind), ids.size() - at)));
  }

  void splitCopies(const Op &op, std::span<const Chunk> srcs, std::span<const Chunk> dsts,
                   std::span<const std::uint32_t> ids, bool shared) {
    const std::size_t width =
        ids.empty() ? limits_.chunksPerSide : std::min(limits_.chunksPerSide, limits_.channelsPerOp);
    for (std::size_t at = 0; at < dsts.size(); at += width) {
      const std::size_t n = std::min(width, dsts.size() - at);
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
    // Sources are taken in their order: destination 0 holds the sum so far and is the next step's first source.
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
