#include "frontend/lower/emit_ops.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::frontend {

using ir::ChannelType;
using ir::OpKind;

void OpEmitter::beginLoop(const LoopInfo &loop) {
  loop_ = loop;
  inLoop_ = true;
  ++loopNumber_;
}

/// Returns the number of ids in the operation: one for a channel or a semaphore, and none if the remote chunks alone
/// identify the channel.
std::uint32_t OpEmitter::numIds(const CheckedCall &call) {
  switch (call.info->shape().ids) {
  case ir::IdRule::None:
    return 0;
  case ir::IdRule::PerRemoteIfPort:
    return call.channelType() == ChannelType::Port;
  case ir::IdRule::Channels:
  case ir::IdRule::Semaphores:
  case ir::IdRule::PerRemote:
  case ir::IdRule::OneSwitch:
  case ir::IdRule::PerSwitch:
    return 1;
  }
  return 0;
}

std::uint32_t OpEmitter::numChunks(const CheckedCall &call) {
  if (!call.hasChunks)
    return 0;
  return call.view ? 2 : static_cast<std::uint32_t>(call.srcs.size() + 1);
}

void OpEmitter::count(const CheckedCall &call) {
  if (plans_.empty())
    plans_.resize(program_.ranks.size());
  const std::uint32_t chunks = numChunks(call), ids = numIds(call);
  std::vector<BlockPlan> &plans = plans_[call.rank];
  for (const std::uint32_t block : call.blocks) {
    if (block >= plans.size()) {
      bytes_ += (block + 1 - plans.size()) * (sizeof(BlockPlan) + sizeof(ir::ThreadBlock));
      plans.resize(block + 1);
    }
    BlockPlan &plan = plans[block];
    if (inLoop_ && plan.lastLoop != loopNumber_) {
      plan.lastLoop = loopNumber_;
      ++plan.ops;
      bytes_ += sizeof(ir::Op);
    }
    ++plan.ops;
    plan.chunks += chunks;
    plan.ids += ids;
  }
  bytes_ += call.blocks.size() * (sizeof(ir::Op) + chunks * sizeof(ir::Chunk) + ids * sizeof(std::uint32_t));
}

void OpEmitter::allocate() {
  plans_.resize(program_.ranks.size());
  for (std::size_t r = 0; r < plans_.size(); ++r) {
    std::vector<ir::ThreadBlock> &blocks = program_.ranks[r].blocks;
    blocks.resize(plans_[r].size());
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      BlockPlan &plan = plans_[r][b];
      blocks[b].ops.reserve(plan.ops);
      blocks[b].chunks.reserve(plan.chunks);
      blocks[b].ids.reserve(plan.ids);
      plan.lastLoop = 0;
    }
  }
  uses_.resize(declarations_.numChannels());
  remoteFirst_.resize(program_.ranks.size());
  remoteIds_.resize(program_.ranks.size());
  numBarriers_.resize(program_.ranks.size());
  inLoop_ = false;
  loopNumber_ = 0;
}

/// Returns the id of a barrier. Barriers of a rank are identified by their set of blocks, in any order.
std::uint32_t OpEmitter::barrierId(const CheckedCall &call) {
  std::vector<std::uint32_t> blocks(call.blocks.begin(), call.blocks.end());
  std::sort(blocks.begin(), blocks.end());
  const auto [found, isNew] = barriers_.try_emplace({call.rank, std::move(blocks)}, numBarriers_[call.rank]);
  numBarriers_[call.rank] += isNew;
  return found->second;
}

std::uint32_t OpEmitter::remoteId(const CheckedCall &call, ir::BufferKind buffer) {
  const auto channelIndex = std::size_t{call.channel->number};
  std::uint32_t &id = uses_[channelIndex].remoteId[static_cast<std::size_t>(buffer)];
  if (id != none)
    return id;
  std::vector<ir::RemoteBuffer> &buffers = program_.ranks[call.rank].remoteBuffers;
  const auto [found, isNew] = remoteIds_[call.rank].try_emplace(
      call.channel->dst << 2 | static_cast<std::uint32_t>(buffer), static_cast<std::uint32_t>(buffers.size()));
  if (isNew) {
    buffers.push_back({call.channel->dst, buffer, false, false});
    remoteFirst_[call.rank].push_back({none, none});
  }
  id = found->second;
  (call.channel->type == ChannelType::Port ? buffers[id].viaPort : buffers[id].viaMemory) = true;
  return id;
}

ir::Chunk OpEmitter::chunk(const CheckedCall &call, const Operand &operand, bool remote) {
  if (remote)
    return {ir::ChunkSpace::Remote, operand.index, operand.size, remoteId(call, operand.buffer)};
  return {ir::spaceOf(operand.buffer), operand.index, operand.size, 0};
}

/// Adds the call's channel to the block's table, unless the table has it.
void OpEmitter::useChannel(const CheckedCall &call, std::uint32_t block, ir::ThreadBlock &threadBlock) {
  if (call.view) {
    const std::uint32_t id = call.view->member.id;
    constexpr std::uint64_t isSwitch = std::uint64_t{1} << 63;
    if (usedChannels_.insert(isSwitch | std::uint64_t{call.rank} << 44 | std::uint64_t{block} << 32 | id).second)
      threadBlock.channels.push_back({ChannelType::Switch, id});
    return;
  }
  const auto channelIndex = std::size_t{call.channel->number};
  std::uint32_t &known = uses_[channelIndex].block;
  if (known == block)
    return;
  if (known == none)
    known = block;
  else if (!usedChannels_.insert(std::uint64_t{channelIndex} << 32 | block).second)
    return;
  threadBlock.channels.push_back({call.channel->type, call.channel->id});
}

/// Adds the buffer at the channel's other end to the block's table, unless the table has it.
void OpEmitter::useRemote(const CheckedCall &call, ir::BufferKind buffer, std::uint32_t block,
                          ir::ThreadBlock &threadBlock) {
  const auto channelIndex = std::size_t{call.channel->number};
  std::uint32_t &known = uses_[channelIndex].remoteBlock[static_cast<std::size_t>(buffer)];
  if (known == block)
    return;
  known = block;
  const std::uint32_t id = remoteId(call, buffer);
  const std::uint64_t port = call.channel->type == ChannelType::Port;
  std::uint32_t &first = remoteFirst_[call.rank][id][port];
  if (first == block)
    return;
  if (first == none)
    first = block;
  else if (!usedRemotes_.insert(port << 63 | std::uint64_t{call.rank} << 44 | std::uint64_t{block} << 32 | id).second)
    return;
  threadBlock.remoteBuffers.push_back({call.channel->type, id});
}

/// Returns the header of the current loop in this block. If there is none yet, makes it.
ir::Op &OpEmitter::loopHeader(BlockPlan &plan, ir::ThreadBlock &threadBlock) {
  if (plan.lastLoop != loopNumber_) {
    ir::Op header;
    header.kind = OpKind::Pipeline;
    header.loc = loop_.loc;
    header.imm = loop_.unit;
    header.count = loop_.iterations;
    plan.lastLoop = loopNumber_;
    plan.header = static_cast<std::uint32_t>(threadBlock.append(header));
  }
  return threadBlock.ops[plan.header];
}

void OpEmitter::emit(const CheckedCall &call) {
  ir::Op op;
  op.kind = call.kind();
  op.channelType = call.channelType();
  op.loc = call.loc;
  if (hasDataSync(op.kind))
    op.sync = call.sync;
  if (reduces(op.kind))
    op.reduceOp = call.reduceOp;
  if (op.kind == OpKind::Apply)
    op.imm = call.hook;
  if (op.kind == OpKind::Barrier) {
    op.imm = barrierId(call);
    op.count = static_cast<std::uint32_t>(call.blocks.size());
  }

  srcs_.clear();
  dsts_.clear();
  if (call.view && call.hasChunks) {
    const bool writes = ir::reducesInSwitch(op.kind);
    const ir::Chunk far{ir::ChunkSpace::Switch, call.offset, writes ? call.dst.size : call.srcs[0].size,
                        call.view->member.id};
    if (writes) {
      srcs_.push_back(far);
      dsts_.push_back(chunk(call, call.dst, false));
    } else {
      srcs_.push_back(chunk(call, call.srcs[0], false));
      dsts_.push_back(far);
    }
  } else if (call.hasChunks) {
    for (std::size_t i = 0; i < call.srcs.size(); ++i)
      srcs_.push_back(chunk(call, call.srcs[i], call.isRemoteSource(i)));
    dsts_.push_back(chunk(call, call.dst, call.isRemoteDestination()));
  }
  std::uint32_t id = 0;
  if (call.channel)
    id = call.channel->id;
  else if (call.view)
    id = call.view->member.id;
  else if (call.info->family == CallFamily::Semaphore)
    id = call.semaphore;
  const std::span<const std::uint32_t> ids(&id, numIds(call));

  ir::Rank &rank = program_.ranks[call.rank];
  for (std::size_t i = 0; i < call.blocks.size(); ++i) {
    const std::uint32_t block = call.blocks[i];
    ir::ThreadBlock &threadBlock = rank.blocks[block];
    if (call.channel) {
      for (const Operand &src : call.srcs)
        if (src.rank != call.rank)
          useRemote(call, src.buffer, block, threadBlock);
      if (call.hasChunks && call.dst.rank != call.rank)
        useRemote(call, call.dst.buffer, block, threadBlock);
    }
    if (call.channel || call.view)
      useChannel(call, block, threadBlock);
    if (inLoop_)
      ++loopHeader(plans_[call.rank][block], threadBlock).bodySize;
    if (call.inGroup && call.hasChunks) {
      op.groupIndex = static_cast<std::uint32_t>(i);
      op.groupSize = static_cast<std::uint32_t>(call.blocks.size());
    }
    threadBlock.append(op, srcs_, dsts_, ids);
  }
}

} // namespace mscclc::frontend
