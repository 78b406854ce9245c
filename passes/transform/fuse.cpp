#include "passes/transform/fuse.h"

#include "passes/analysis/thread_order.h"
#include "passes/op_list.h"
#include "passes/transform/elide_sync.h"
#include "passes/transform/late_packets.h"
#include "passes/transform/lower_data_sync.h"
#include "passes/transform/merged_op.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace mscclc::passes {
namespace {

using ir::DataSync;
using ir::Op;
using ir::OpKind;

/// Walks through blocks, merges operations and removes sync. Reuses its buffers for all blocks. If merging has lost an
/// order between operations, walks the block again without merging these operations.
class Fuser {
public:
  explicit Fuser(const PassContext &context)
      : program_(context.program), isOneRank_(context.isOneRank), elision_(isDataSyncLowered(program_)),
        current_(program_), order_(program_) {}

  void run(std::uint32_t rank, ir::ThreadBlock &block) {
    if (!mayChange(block))
      return;
    if (!isStarted_)
      findLatePackets();
    rank_ = rank;
    in_ = &block;
    current_.enter(rank, block);
    apart_.assign(block.ops.size(), false);
    given_.resize(block.ops.size());
    for (std::size_t i = 0; i < given_.size(); ++i) // a walk removes part of the sync
      given_[i] = block.ops[i].sync;
    const Counts before = counts;
    sweep();
    for (;;) {
      if (!movesThreads_ || !ThreadOrder::matters(out_))
        break;
      swapSyncs();
      const std::span<const std::uint32_t> lost = order_.lost(rank_, block, into_, out_);
      if (lost.empty()) {
        swapSyncs();
        break;
      }
      for (const std::uint32_t op : lost)
        apart_[op] = true;
      for (std::uint32_t i = 0; i < given_.size(); ++i)
        given_[i] = block.ops[i].sync;
      counts = before;
      sweep();
    }
    counts.apart += static_cast<std::uint64_t>(std::ranges::count(apart_, true));
    if (changed_) { // copies to the exact size, because a block's lists live as long as the program
      block.ops = std::vector<Op>(out_.ops);
      block.chunks = std::vector<ir::Chunk>(out_.chunks);
      block.ids = std::vector<std::uint32_t>(out_.ids);
    }
  }

  struct Counts {
    std::uint64_t merged = 0, dropped = 0, unasked = 0, apart = 0;
  };
  Counts counts;

private:
  /// Finds late packets before anything is merged.
  void findLatePackets() {
    isStarted_ = true;
    const bool isApart = program_.latePacketsApart || program_.schedule == ir::Schedule::Auto;
    const auto reducesPackets = [](const Op &op) { return op.kind == OpKind::ReducePacket; };
    if (isApart && std::ranges::any_of(ir::opsOf(program_.ranks), reducesPackets))
      latePackets_.emplace(program_, isOneRank_);
  }

  /// Swaps the current sync of the operations of in_ with their original sync.
  void swapSyncs() {
    for (std::uint32_t i = 0; i < given_.size(); ++i)
      std::swap(given_[i], in_->ops[i].sync);
  }

  void sweep() {
    out_.ops.clear();
    out_.chunks.clear();
    out_.ids.clear();
    bodies_.clear();
    changed_ = movesThreads_ = false;
    const auto end = static_cast<std::uint32_t>(in_->ops.size());
    into_.assign(end, {});
    for (std::uint32_t i = 0; i < end; ++i)
      into_[i].leader = i;
    for (std::uint32_t i = 0; i < end; i = nextOp(*in_, i))
      if (in_->ops[i].kind == OpKind::Pipeline)
        fuseBody(i);
    nextBody_ = 0;
    fuseRange(0, end);
  }

  struct Body {
    std::vector<Op> ops;
    DataSync sync = DataSync::None; // sync at the start and the end of the body
  };

  /// False if no two neighbours can merge, and none makes sync of the other redundant. Then the walk would change
  /// nothing.
  static bool mayChange(const ir::ThreadBlock &block) {
    for (std::size_t i = 0; i + 1 < block.ops.size(); ++i) {
      const Op &left = block.ops[i], &right = block.ops[i + 1];
      if (left.kind == OpKind::Pipeline || right.kind == OpKind::Pipeline || fusionRule(left.kind, right.kind) ||
          SyncElision::mayEdit(left, right))
        return true;
    }
    return false;
  }

  void fuseBody(std::uint32_t header) {
    const std::uint32_t end = nextOp(*in_, header);
    fuseRange(header + 1, end);
    Body &body = bodies_.emplace_back();
    body.ops.swap(out_.ops);
    if (!body.ops.empty())
      body.sync = elision_.ofBody(*in_, header + 1, end, body.ops.back());
  }

  void fuseRange(std::uint32_t begin, std::uint32_t end) {
    if (begin == end)
      return;
    start(begin);
    for (std::uint32_t i = nextOp(*in_, begin); i < end; i = nextOp(*in_, i)) {
      Op &next = in_->ops[i];
      if (const FusionRule *rule = apart_[i] ? nullptr : current_.ruleFor(next); rule && !comesLater(next)) {
        into_[i] = {leader_, static_cast<std::uint32_t>(current_.ids().size())};
        movesThreads_ |= next.numIds != 0;
        current_.merge(*rule, next);
        ++counts.merged;
        changed_ = true;
        continue;
      }
      switch (elision_.between(current_.op(), syncOf(current_.op(), body_), *in_, i, syncOf(next, nextBody_), end)) {
      case SyncEdit::DropRight:
        ++counts.dropped;
        into_[i].dropped = changed_ = true;
        continue;
      case SyncEdit::DropLeft:
        ++counts.dropped;
        into_[leader_].dropped = changed_ = true;
        start(i);
        continue;
      case SyncEdit::LeftAsksNotAfter:
        stopAsking(current_.op(), DataSync::After);
        break;
      case SyncEdit::RightAsksNotBefore:
        stopAsking(next, DataSync::Before);
        break;
      case SyncEdit::None:
        break;
      }
      emit();
      start(i);
    }
    emit();
  }

  /// True if `next` sums late packets, and the current operation does not. A sum takes its operands one after another.
  /// Two separate sums are faster, because the first one can run while the late packets are still missing. Such sums
  /// stay separate if the program asks for it, or if the compiler chooses the order of the program.
  bool comesLater(const Op &next) {
    if (!readsLate(next))
      return false;
    if (!isLate_)
      isLate_ = readsLate(in_->ops[leader_]);
    return !*isLate_;
  }
  bool readsLate(const Op &op) const {
    return latePackets_ && op.kind == OpKind::ReducePacket && latePackets_->isReadBy(rank_, *in_, op);
  }

  DataSync syncOf(const Op &op, std::size_t body) const {
    return op.kind == OpKind::Pipeline ? bodies_[body].sync : SyncElision::syncOf(op);
  }

  void start(std::uint32_t index) {
    current_.start(in_->ops[index]);
    leader_ = index;
    isLate_.reset();
    if (current_.op().kind == OpKind::Pipeline)
      body_ = nextBody_++;
  }

  void emit() {
    Op &op = current_.op();
    if (op.kind == OpKind::Pipeline) {
      op.bodySize = static_cast<std::uint32_t>(bodies_[body_].ops.size());
      out_.append(op);
      out_.ops.insert(out_.ops.end(), bodies_[body_].ops.begin(), bodies_[body_].ops.end());
    } else {
      out_.append(op, current_.srcs(), current_.dsts(), current_.ids());
    }
  }

  void stopAsking(Op &op, DataSync part) {
    if ((op.sync & part) == DataSync::None)
      return;
    op.sync = ir::without(op.sync, part);
    ++counts.unasked;
    changed_ = true;
  }

  ir::Program &program_;
  const bool isOneRank_;
  const SyncElision elision_;
  std::uint32_t rank_ = 0;
  ir::ThreadBlock *in_ = nullptr;
  ir::ThreadBlock out_;
  std::vector<DataSync> given_;  // original sync of each operation of in_
  std::vector<MergedInto> into_; // for each operation of in_: the operation into which it was merged
  std::vector<bool> apart_;      // operations of in_ that may not merge with the operation before them
  bool movesThreads_ = false;    // some operation with ids was merged
  MergedOp current_;
  ThreadOrder order_;
  std::uint32_t leader_ = 0;   // index in in_ of the first operation merged into the current one
  std::optional<bool> isLate_; // the current operation reads late packets; empty: not yet known
  bool isStarted_ = false;     // late packets have been searched
  std::optional<LatePackets> latePackets_;
  std::vector<Body> bodies_; // bodies of the block's pipelines, in order
  std::size_t nextBody_ = 0, body_ = 0;
  bool changed_ = false;
};

void fuse(PassContext &context) {
  if (!context.program.fuse)
    return;
  Fuser fuser(context);
  for (std::uint32_t r = 0; r < context.program.ranks.size(); ++r)
    for (ir::ThreadBlock &block : context.program.ranks[r].blocks)
      fuser.run(r, block);
  context.stats.count("operations merged", fuser.counts.merged);
  context.stats.count("redundant nops dropped", fuser.counts.dropped);
  context.stats.count("sync requests dropped", fuser.counts.unasked);
  context.stats.count("kept apart for one thread's order", fuser.counts.apart);
}

} // namespace

Pass createFusePass() {
  return {.needs = Scheduled, .isOptional = true, .run = fuse};
}

} // namespace mscclc::passes
