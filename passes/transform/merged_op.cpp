#include "passes/transform/merged_op.h"

#include "ir/memory_map.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes {

using ir::Chunk;
using ir::Op;

namespace {

template <typename T> void own(std::span<const T> view, std::vector<T> &store) {
  if (view.data() != store.data() || view.size() != store.size())
    store.assign(view.begin(), view.end());
}
void joinList(Join join, std::span<const Chunk> &view, std::vector<Chunk> &store, std::span<const Chunk> right) {
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

bool sends(std::span<const Chunk> srcs, const Chunk &chunk) {
  return std::ranges::all_of(srcs, [&](const Chunk &src) { return src == chunk; });
}

} // namespace

void MergedOp::enter(std::uint32_t rank, const ir::ThreadBlock &block) {
  rank_ = rank;
  block_ = &block;
}

void MergedOp::start(const Op &op) {
  op_ = op;
  srcs_ = block_->srcs(op);
  dsts_ = block_->dsts(op);
  ids_ = block_->idsOf(op);
  seen_.clear();
  idsSeen_ = false;
  othersChecked_ = false;
}

const FusionRule *MergedOp::ruleFor(const Op &next) {
  const FusionRule *rule = fusionRule(op_.kind, next.kind);
  const auto needs = [&](Need need) { return (rule->needs & need) != 0; };
  if (!rule)
    return nullptr;
  // A separate thread handles each id, so an operation cannot have more ids than a block has threads.
  if (rule->ids != Join::Left && ids_.size() + next.numIds > program_.threadsPerBlock)
    return nullptr;
  if (needs(SameChannelType) && op_.channelType != next.channelType)
    return nullptr;
  if (needs(SameGroup) && (op_.groupSize != next.groupSize || op_.groupIndex != next.groupIndex))
    return nullptr;
  if (needs(SameReduceOp) && op_.reduceOp != next.reduceOp)
    return nullptr;
  // Merged sums would round fewer intermediate results, which a fixed order does not allow. And each sum must add its
  // first source first.
  if (needs(Accumulates) && (ir::isFixed(program_.movement.order) || op_.firstAfter != 0 || next.firstAfter != 0))
    return nullptr;
  if (needs(ViaMemory) && next.channelType != ir::ChannelType::Memory)
    return nullptr;
  if (!operandsAllow(*rule, next) || (needs(DisjointIds) && !disjointIds(block_->idsOf(next))))
    return nullptr;
  return rule;
}

/// True if the operands of both operations satisfy the rule's conditions.
bool MergedOp::operandsAllow(const FusionRule &rule, const Op &next) {
  const std::span<const Chunk> srcs = block_->srcs(next), dsts = block_->dsts(next);
  const auto needs = [&](Need need) { return (rule.needs & need) != 0; };
  if (needs(SameFirstSize) && srcs_[0].size != srcs[0].size)
    return false;
  if (needs(SameSources) && !std::ranges::equal(srcs_, srcs))
    return false;
  if (needs(OneSourceBuffer) && op_.channelType == ir::ChannelType::Memory &&
      std::ranges::any_of(srcs, [&](const Chunk &src) { return src.space != srcs_[0].space; }))
    return false;
  if (needs(SendsResult) && !sends(srcs, dsts_[0]))
    return false;
  // With a wire format, an input or output buffer rounds the result before it is sent. Scratch holds the result in the
  // form in which it is sent.
  if (needs(SendsResult) && ir::wireOf(program_) &&
      ir::bufferOf(program_.ranks[rank_], dsts_[0]) != ir::BufferKind::Scratch)
    return false;
  if (needs(SendsPackets) && !sends(srcs, dsts_[1]))
    return false;
  if (needs(StoresResult) && (srcs[0] != dsts_[0] || srcs_[0].size != dsts[0].size))
    return false;
  if (needs(LandsInPlace) && !landsInPlace(dsts_[0], dsts[0]))
    return false;
  return !needs(Accumulates) || accumulates(next);
}

/// True if `chunk` is the memory on this rank that a switch broadcast to `target` writes.
bool MergedOp::landsInPlace(const Chunk &chunk, const Chunk &target) const {
  const ir::BufferKind buffer = ir::bufferOf(program_.ranks[rank_], target);
  return ir::memoryOf(program_, rank_, chunk) ==
         ir::memoryOf(program_, rank_, buffer, target.index, target.size, ir::DataForm::Plain);
}

bool MergedOp::accumulates(const Op &next) {
  const std::span<const Chunk> srcs = block_->srcs(next), dsts = block_->dsts(next);
  const Chunk &into = dsts_[0];
  if (srcs[0] != srcs_[0] || dsts[0] != into)
    return false;
  const ir::MemoryRange memory = ir::memoryOf(program_, rank_, into);
  if (memory != ir::memoryOf(program_, rank_, srcs[0]))
    return false;
  auto apart = [&](std::span<const Chunk> others) {
    for (std::uint32_t i = 1; i < others.size(); ++i)
      if (ir::isLocal(others[i].space) &&
          memory.overlaps(ir::memoryOf(program_, rank_, others[i], ir::formOfSource(next, i))))
        return false;
    return true;
  };
  if (!othersChecked_ && !apart(srcs_))
    return false;
  othersChecked_ = apart(srcs);
  return othersChecked_;
}

void MergedOp::markOwn() {
  if (std::exchange(idsSeen_, true))
    return;
  for (const std::uint32_t id : ids_)
    seen_.insert(id);
}
bool MergedOp::disjointIds(std::span<const std::uint32_t> ids) {
  markOwn();
  return std::ranges::none_of(ids, [&](std::uint32_t id) { return seen_.contains(id); });
}

void MergedOp::merge(const FusionRule &rule, const Op &next) {
  if (rule.ids == Join::Union)
    markOwn();
  joinList(rule.srcs, srcs_, srcStore_, block_->srcs(next));
  joinList(rule.dsts, dsts_, dstStore_, block_->dsts(next));
  own(ids_, idStore_);
  for (const std::uint32_t id : block_->idsOf(next))
    if (rule.ids == Join::Append || (rule.ids == Join::Union && seen_.insert(id)))
      idStore_.push_back(id);
  ids_ = idStore_;
  if (rule.needs & DisjointIds)
    for (const std::uint32_t id : block_->idsOf(next))
      seen_.insert(id);
  op_.kind = rule.merged;
  op_.sync = op_.sync | next.sync;
  if (rule.needs & ViaMemory)
    op_.channelType = next.channelType;
  op_.loc = program_.sources.merge(op_.loc, next.loc);
}

} // namespace mscclc::passes
