#include "passes/transform/fuse.h"

#include "ir/memory_map.h"
#include "passes/analysis/thread_order.h"
#include "passes/transform/fusion_rules.h"
#include "passes/transform/op_list.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes {
namespace {

using ir::Chunk;
using ir::DataSync;
using ir::Op;
using ir::OpKind;

SyncRole syncRoleOf(OpKind kind) {
  switch (kind) {
  case OpKind::Nop:
    return SyncRole::Nop;
  case OpKind::Barrier:
    return SyncRole::Barrier;
  case OpKind::Pipeline:
    return SyncRole::Loop;
  default:
    return ir::hasDataSync(kind) ? SyncRole::Asks : SyncRole::Other;
  }
}

/// The sync that an operation brings at its start and its end; of a pipeline that of its body's ends.
DataSync syncOf(const Op &op) {
  return ir::isBlockSync(op.kind) ? DataSync::Both : op.sync;
}

/// An operation with its operands, while neighbours are merged into it.
class Current {
public:
  void start(const ir::ThreadBlock &block, const Op &op) {
    op_ = op;
    merged_ = false;
    srcs_ = block.srcs(op);
    dsts_ = block.dsts(op);
    ids_ = block.idsOf(op);
  }

  Op &op() { return op_; }
  const Op &op() const { return op_; }
  std::span<const Chunk> srcs() const { return srcs_; }
  std::span<const Chunk> dsts() const { return dsts_; }
  std::span<const std::uint32_t> ids() const { return ids_; }
  bool merged() const { return merged_; }

  /// Joins operand lists; `isNew(id)` is asked for each id of a union.
  template <typename IsNew>
  void join(const FusionRule &rule, const ir::ThreadBlock &block, const Op &right, IsNew isNew) {
    joinList(rule.srcs, srcs_, srcStore_, block.srcs(right));
    joinList(rule.dsts, dsts_, dstStore_, block.dsts(right));
    own(ids_, idStore_);
    for (const std::uint32_t id : block.idsOf(right))
      if (rule.ids == Join::Append || (rule.ids == Join::Union && isNew(id)))
        idStore_.push_back(id);
    ids_ = idStore_;
    merged_ = true;
  }

private:
  template <typename T> static void own(std::span<const T> view, std::vector<T> &store) {
    if (view.data() != store.data() || view.size() != store.size())
      store.assign(view.begin(), view.end());
  }
  static void joinList(Join join, std::span<const Chunk> &view, std::vector<Chunk> &store,
                       std::span<const Chunk> right) {
    if (join == Join::Left)
      return;
    if (join == Join::Right) {
      store.assign(right.begin(), right.end());
    } else {
      own(view, store);
      store.insert(store.end(), right.begin() + (join == Join::AppendRest), right.end());
    }
    view = store;
  }

  Op op_;
  bool merged_ = false;
  std::span<const Chunk> srcs_, dsts_;
  std::span<const std::uint32_t> ids_;
  std::vector<Chunk> srcStore_, dstStore_;
  std::vector<std::uint32_t> idStore_;
};

/// Fuses one block after another; buffers are kept between them.
class Fuser {
public:
  explicit Fuser(ir::Program &program) : program_(program), lowered_(propertiesOf(program) & DataSyncLowered) {}

  void run(std::uint32_t rank, ir::ThreadBlock &block) {
    if (!mayChange(block))
      return;
    rank_ = rank;
    in_ = &block;
    apart_.assign(block.ops.size(), false);
    given_.clear();
    for (const Op &op : block.ops) // the sweep takes some of it
      given_.push_back(op.sync);
    const Counts before = counts;
    for (;;) {
      sweep();
      if (!movesThreads_ || !ThreadOrder::matters(out_))
        break;
      swapSyncs();
      const std::vector<std::uint32_t> lost = ThreadOrder(program_, rank_, block, into_, out_).lost();
      if (lost.empty()) {
        swapSyncs();
        break;
      }
      for (std::uint32_t i = 0; i < given_.size(); ++i)
        given_[i] = block.ops[i].sync;
      for (const std::uint32_t op : lost)
        apart_[op] = true;
      counts = before;
    }
    counts.apart += static_cast<std::uint64_t>(std::ranges::count(apart_, true));
    if (changed_) { // exact sizes: a block's lists live as long as the program
      block.ops = std::vector<Op>(out_.ops);
      block.chunks = std::vector<Chunk>(out_.chunks);
      block.ids = std::vector<std::uint32_t>(out_.ids);
    }
  }

  struct Counts {
    std::uint64_t merged = 0, dropped = 0, unasked = 0, apart = 0;
  };
  Counts counts;

private:
  /// Between what the operations of in_ ask for now and what they asked for at first.
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
    DataSync sync = DataSync::None; // at its start and its end
  };

  /// False if no two neighbours may merge or spare each other a sync: then the sweep would change nothing.
  static bool mayChange(const ir::ThreadBlock &block) {
    for (std::size_t i = 0; i + 1 < block.ops.size(); ++i) {
      const Op &left = block.ops[i], &right = block.ops[i + 1];
      if (left.kind == OpKind::Pipeline || right.kind == OpKind::Pipeline || fusionRule(left.kind, right.kind))
        return true;
      const SyncRule &rule = syncRule(syncRoleOf(left.kind), syncRoleOf(right.kind));
      switch (rule.edit) {
      case SyncEdit::None:
        break;
      case SyncEdit::DropLeft:
      case SyncEdit::DropRight:
        return true;
      case SyncEdit::LeftAsksNotAfter:
        if (ir::has(left.sync, DataSync::After) &&
            (rule.when == SyncWhen::Always || ir::has(right.sync, DataSync::Before)))
          return true;
        break;
      case SyncEdit::RightAsksNotBefore:
        if (ir::has(right.sync, DataSync::Before))
          return true;
        break;
      }
    }
    return false;
  }

  void fuseBody(std::uint32_t header) {
    fuseRange(header + 1, nextOp(*in_, header));
    Body &body = bodies_.emplace_back();
    body.ops.swap(out_.ops);
    if (body.ops.empty())
      return;
    // As in the DSL, a neighbour sees the body's first operation before others are merged into it.
    const DataSync last = syncOf(body.ops.back());
    DataSync first = syncOf(in_->ops[header + 1]);
    if (parts(header + 1, nextOp(*in_, header)) || mergedBefore(in_->ops[header + 1]))
      first = DataSync::None;
    body.sync = (first & DataSync::Before) | (last & DataSync::After);
  }

  void fuseRange(std::uint32_t begin, std::uint32_t end) {
    if (begin == end)
      return;
    start(begin);
    for (std::uint32_t i = nextOp(*in_, begin); i < end; i = nextOp(*in_, i)) {
      Op &next = in_->ops[i];
      if (const FusionRule *rule = fusionRule(current_.op().kind, next.kind);
          rule && !apart_[i] && applies(*rule, next)) {
        into_[i] = {leader_, static_cast<std::uint32_t>(current_.ids().size())};
        movesThreads_ |= next.numIds != 0;
        merge(*rule, next);
        continue;
      }
      const SyncEdit edit = syncEdit(next);
      switch (parts(i, end) ? SyncEdit::None : edit) {
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

  /// True if an earlier run may have merged `op` from several. The one sweep decides about a sync before it sees what
  /// else merges into the operation behind it, as the DSL does. So what it left before such an operation stays, or the
  /// output would not be what the passes make of it again. Flushes of one channel merge into one that does not show it.
  bool mergedBefore(const Op &op) const {
    return ir::hasDataSync(op.kind) && (in_->idsOf(op).size() > 1 || (op.kind == OpKind::Flush && lowered_));
  }
  /// True for a nop in front of such an operation.
  bool parts(std::uint32_t index, std::uint32_t end) const {
    return in_->ops[index].kind == OpKind::Nop && index + 1 < end && mergedBefore(in_->ops[index + 1]);
  }

  void start(std::uint32_t index) {
    current_.start(*in_, in_->ops[index]);
    leader_ = index;
    generation_ += 1;
    idsSeen_ = false;
    othersChecked_ = false;
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

  SyncEdit syncEdit(const Op &next) const {
    const Op &op = current_.op();
    const SyncRule &rule = syncRule(syncRoleOf(op.kind), syncRoleOf(next.kind));
    if (rule.edit == SyncEdit::None || mergedBefore(next))
      return SyncEdit::None;
    const DataSync left = op.kind == OpKind::Pipeline ? bodies_[body_].sync : syncOf(op);
    const DataSync right = next.kind == OpKind::Pipeline ? bodies_[nextBody_].sync : syncOf(next);
    const bool holds =
        rule.when == SyncWhen::Always ||
        (rule.when == SyncWhen::RightSyncsBefore ? ir::has(right, DataSync::Before) : ir::has(left, DataSync::After));
    return holds ? rule.edit : SyncEdit::None;
  }

  bool applies(const FusionRule &rule, const Op &right) {
    const Op &left = current_.op();
    const std::span<const Chunk> srcs = in_->srcs(right), dsts = in_->dsts(right);
    auto needs = [&rule](Need need) { return (rule.needs & need) != 0; };
    // One thread for each that it names: a block has no more.
    if (rule.ids != Join::Left && current_.ids().size() + right.numIds > program_.threadsPerBlock)
      return false;
    if (needs(SameChannelType) && left.channelType != right.channelType)
      return false;
    if (needs(SameGroup) && (left.groupSize != right.groupSize || left.groupIndex != right.groupIndex))
      return false;
    if (needs(SameReduceOp) && left.reduceOp != right.reduceOp)
      return false;
    if (needs(ViaMemory) && right.channelType != ir::ChannelType::Memory)
      return false;
    if (needs(SameIds) && !std::ranges::equal(current_.ids(), in_->idsOf(right)))
      return false;
    if (needs(SameFirstSize) && current_.srcs()[0].size != srcs[0].size)
      return false;
    if (needs(SameSources) && !std::ranges::equal(current_.srcs(), srcs))
      return false;
    if (needs(OneSourceBuffer) && left.channelType == ir::ChannelType::Memory &&
        std::ranges::any_of(srcs, [&](const Chunk &src) { return src.space != current_.srcs()[0].space; }))
      return false;
    if (needs(SendsResult) && !sends(srcs, current_.dsts()[0]))
      return false;
    if (needs(SendsPackets) && !sends(srcs, current_.dsts()[1]))
      return false;
    if (needs(StoresResult) && (srcs[0] != current_.dsts()[0] || current_.srcs()[0].size != dsts[0].size))
      return false;
    if (needs(LandsInPlace) && !landsInPlace(current_.dsts()[0], dsts[0]))
      return false;
    if (needs(Accumulates) && !accumulates(right))
      return false;
    return !needs(DisjointIds) || disjointIds(in_->idsOf(right));
  }

  static bool sends(std::span<const Chunk> srcs, const Chunk &chunk) {
    return std::ranges::all_of(srcs, [&](const Chunk &src) { return src == chunk; });
  }

  /// True if `chunk` is this rank's share of what a switch broadcast writes at `target`.
  bool landsInPlace(const Chunk &chunk, const Chunk &target) const {
    const ir::BufferKind buffer = ir::bufferOf(program_.ranks[rank_], target);
    return ir::memoryOf(program_, rank_, chunk) ==
           ir::memoryOf(program_, rank_, buffer, target.index, target.size, ir::DataForm::Plain);
  }

  bool accumulates(const Op &right) {
    const std::span<const Chunk> srcs = in_->srcs(right), dsts = in_->dsts(right);
    const Chunk &into = current_.dsts()[0];
    if (srcs[0] != current_.srcs()[0] || dsts[0] != into)
      return false;
    const ir::MemoryRange memory = ir::memoryOf(program_, rank_, into);
    if (memory != ir::memoryOf(program_, rank_, srcs[0]))
      return false;
    auto apart = [&](std::span<const Chunk> others) {
      for (std::uint32_t i = 1; i < others.size(); ++i)
        if (ir::isLocal(others[i].space) &&
            memory.overlaps(ir::memoryOf(program_, rank_, others[i], ir::formOfSource(right, i))))
          return false;
      return true;
    };
    if (!othersChecked_ && !apart(current_.srcs()))
      return false;
    othersChecked_ = apart(srcs);
    return othersChecked_;
  }

  /// Marks `id` as one of the current operation's. False if it was marked before.
  bool mark(std::uint32_t id) {
    if (id >= seen_.size())
      seen_.resize(id + 1, 0);
    if (seen_[id] == generation_)
      return false;
    seen_[id] = generation_;
    return true;
  }
  void markCurrent() {
    if (idsSeen_)
      return;
    idsSeen_ = true;
    for (const std::uint32_t id : current_.ids())
      mark(id);
  }
  bool disjointIds(std::span<const std::uint32_t> ids) {
    markCurrent();
    for (const std::uint32_t id : ids)
      if (id < seen_.size() && seen_[id] == generation_)
        return false;
    return true;
  }

  void merge(const FusionRule &rule, const Op &right) {
    if (rule.ids == Join::Union)
      markCurrent();
    current_.join(rule, *in_, right, [this](std::uint32_t id) { return mark(id); });
    if (rule.needs & DisjointIds)
      for (const std::uint32_t id : in_->idsOf(right))
        mark(id);
    Op &op = current_.op();
    op.kind = rule.merged;
    op.sync = op.sync | right.sync;
    if (rule.needs & ViaMemory)
      op.channelType = right.channelType;
    op.loc = program_.sources.merge(op.loc, right.loc);
    ++counts.merged;
    changed_ = true;
  }

  ir::Program &program_;
  const bool lowered_; ///< no operation asks for sync: nops say it all
  std::uint32_t rank_ = 0;
  ir::ThreadBlock *in_ = nullptr;
  ir::ThreadBlock out_;
  std::vector<DataSync> given_;  // by operation of in_: what it asked for at first
  std::vector<MergedInto> into_; // by operation of in_
  std::vector<bool> apart_;      // operations of in_ that may not merge into what stands before them
  bool movesThreads_ = false;    // some operation that names ids was merged
  Current current_;
  std::uint32_t leader_ = 0; // operation of in_ with which the current one began
  std::vector<Body> bodies_; // of the block's pipelines, in order
  std::size_t nextBody_ = 0, body_ = 0;
  std::vector<std::uint64_t> seen_; // by id: the generation that used it last
  std::uint64_t generation_ = 0;
  bool idsSeen_ = false, othersChecked_ = false;
  bool changed_ = false;
};

void fuse(PassContext &context) {
  if (!context.program.fuse)
    return;
  Fuser fuser(context.program);
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
  return {.run = fuse};
}

} // namespace mscclc::passes
