#include "passes/schedule/block_writer.h"

#include "ir/op_semantics.h"
#include "passes/schedule/statement_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

namespace mscclc::passes::schedule {

using ir::ChannelType;
using ir::DataSync;
using ir::Op;
using ir::OpKind;

/// True if all threads of the block have done something since they last met. One thread does a port's put of plain
/// data. But if a port puts packets, all threads make these packets.
static bool endsWithThreads(const ir::ThreadBlock &block) {
  if (block.ops.empty() || ir::info(block.ops.back().kind).step != ir::OpStep::Data)
    return false;
  const Op &last = block.ops.back();
  return !ir::putsAndSignals(last.kind) && !(last.kind == OpKind::Put && last.channelType == ChannelType::Port);
}

void BlockWriter::write(std::uint32_t agent, const std::vector<Group> &groups) {
  agent_ = agent;
  if (agent == 0 || rank_ != plan_.agents[agent].rank)
    std::ranges::fill(remoteIds_, ir::none);
  rank_ = plan_.agents[agent].rank;
  if (std::ranges::all_of(groups,
                          [](const Group &g) { return g.nodes.empty() && g.waits.empty() && g.signals.empty(); }))
    return; // this agent has nothing to do
  std::vector<ir::ThreadBlock> &blocks = program_.ranks[rank_].blocks;
  if (blocks.size() <= plan_.agents[agent].block)
    blocks.resize(plan_.agents[agent].block + 1);
  block_ = &blocks[plan_.agents[agent].block];
  reserve(groups);
  writeGroups(groups);
  writeFlushes();
  // The tables are copied in their exact size, because they live as long as the program.
  block_->channels.assign(channelsOfBlock_.begin(), channelsOfBlock_.end());
  block_->remoteBuffers.assign(remotesOfBlock_.begin(), remotesOfBlock_.end());
  channelsOfBlock_.clear();
  remotesOfBlock_.clear();
  for (std::size_t type = 0; type < numTypes; ++type) {
    namedChannels_[type].clear();
    namedRemotes_[type].clear();
  }
}

void BlockWriter::writeGroups(const std::vector<Group> &groups) {
  if (movement_.step == 0 || groups.size() == 1) {
    for (const Group &group : groups)
      writeGroup(group, true, true);
    return;
  }
  // A launch begins only once, even if the pipeline has many iterations.
  writeGroup(groups[0], true, true);
  for (std::size_t g = 1; g < groups.size(); ++g)
    writeGroup(groups[g], true, false);
  const std::size_t last = groups.size() - endsApart(groups);
  writeLoop(std::span(groups).subspan(1, last - 1));
  writeLoop(std::span(groups).subspan(last));
}

/// True if the last group only waits for the end of the launch, and no other group in the loop waits for the same
/// agents. Then these waits get a separate loop after the others. In the same loop, a unit would begin only after the
/// unit before it is completed on other ranks. If another group waited for the same agent, the signals of this agent
/// would be mixed up.
bool BlockWriter::endsApart(std::span<const Group> groups) {
  const Group &end = groups.back();
  return groups.size() > 2 && end.nodes.empty() && end.signals.empty() &&
         std::ranges::none_of(groups.first(groups.size() - 1) | std::views::transform(&Group::waits) | std::views::join,
                              [&](const Sync &sync) {
                                return !sync.entry &&
                                       std::ranges::find(end.waits, sync.agent, &Sync::agent) != end.waits.end();
                              });
}

/// Writes a pipeline that does the work of these groups for each unit.
void BlockWriter::writeLoop(std::span<const Group> groups) {
  if (groups.empty())
    return;
  const std::size_t header = block_->append({.kind = OpKind::Pipeline,
                                             .loc = locOfGroup(groups[0]),
                                             .imm = movement_.step,
                                             .count = movement_.places[0].size});
  for (const Group &group : groups)
    writeGroup(group, false, true);
  if (const auto size = static_cast<std::uint32_t>(block_->ops.size() - header - 1); size != 0)
    block_->ops[header].bodySize = size;
  else
    block_->ops.pop_back();
}

ir::LocId BlockWriter::locOfGroup(const Group &group) const {
  if (!group.nodes.empty())
    return movement_.statements[group.nodes[0].statement].loc;
  return group.waits.empty() ? ir::noLoc : locOf(group.waits[0]);
}

/// Reserves about as much room as `groups` need.
void BlockWriter::reserve(std::span<const Group> groups) {
  std::size_t ops = 0, chunks = 0, ids = 0;
  for (const Group &group : groups) {
    ids += group.waits.size() + group.signals.size();
    ops += group.nodes.size();
    for (const Node &node : group.nodes)
      chunks += movement_.statements[node.statement].numSrcs + movement_.statements[node.statement].numDsts;
  }
  block_->ops.reserve(ops + ids);
  block_->chunks.reserve(chunks);
  block_->ids.reserve(ops + ids);
}

/// Writes a group. `entries`: the syncs that announce the beginning of launches; `rest`: everything else.
void BlockWriter::writeGroup(const Group &group, bool entries, bool rest) {
  const auto choose = [&](std::span<const Sync> syncs) { // entries come first
    const auto end = std::ranges::find(syncs, false, &Sync::entry);
    return std::span(entries ? syncs.begin() : end, rest ? syncs.end() : end);
  };
  const std::span<const Sync> waits = choose(group.waits);
  for (const Sync &sync : waits)
    tell(sync, true, &sync == &waits.back() ? DataSync::After : DataSync::None);
  if (rest)
    writeNodes(group);
  const bool atBeginning = block_->ops.empty();
  bool first = true;
  for (const Sync &sync : choose(group.signals))
    if (sync.carrier != Carrier::Put) {
      tell(sync, false, first && !atBeginning ? DataSync::Before : DataSync::None);
      first = false;
    }
}

/// Writes the statements of a group.
void BlockWriter::writeNodes(const Group &group) {
  signalling_.clear();
  for (const Sync &sync : group.signals)
    if (sync.carrier == Carrier::Put)
      signalling_.push_back(sync.statement);
  std::ranges::sort(signalling_);
  for (const Node &node : group.nodes) {
    const ir::Move &statement = movement_.statements[node.statement];
    if (node.arrives)
      continue;
    if (isPortPut(statement)) {
      puts_.push_back(node.statement);
      continue;
    }
    writePuts();
    execute(statement);
  }
  writePuts();
}

/// Writes the current run of puts, and ends it. If some puts do not signal, the channels take turns, so that the last
/// puts of all channels are adjacent. Then one operation can put to several channels, and one flush serves many puts.
void BlockWriter::writePuts() {
  if (puts_.empty())
    return;
  // The receiver of a put's signal assumes that everything before the put in this block is done.
  if (endsWithThreads(*block_))
    block_->append({.kind = OpKind::Nop, .loc = movement_.statements[puts_[0]].loc});
  if (!std::ranges::all_of(puts_, [this](std::uint32_t put) { return isSignalling(put); })) {
    std::map<std::uint32_t, std::uint32_t> counts; // [receiving agent]: puts that were counted so far
    std::map<std::uint32_t, std::uint32_t> after;  // [put]: number of later puts on the same channel
    for (const std::uint32_t put : puts_ | std::views::reverse)
      after[put] = counts[channels_.receiverOf(put)]++;
    std::ranges::stable_sort(puts_, std::greater(), [&](std::uint32_t put) { return after[put]; });
  }
  flushesPuts_ = std::ranges::any_of(puts_, [this](std::uint32_t put) { return plan_.flushed[put]; });
  for (const std::uint32_t put : puts_)
    execute(movement_.statements[put]);
  puts_.clear();
}

/// Flushes the puts that were not flushed at once. Any thread may have put data, so all threads meet before the flush.
void BlockWriter::writeFlushes() {
  DataSync sync = DataSync::Before;
  for (const auto &[channel, loc] : flushedLate_)
    block_->append({.kind = OpKind::Flush,
                    .channelType = ChannelType::Port,
                    .sync = std::exchange(sync, DataSync::None),
                    .loc = loc},
                   {}, {}, {&channel, 1});
  flushedLate_.clear();
}

void BlockWriter::useChannel(ChannelType type, std::uint32_t id) {
  if (namedChannels_[static_cast<std::size_t>(type)].insert(id))
    channelsOfBlock_.push_back({type, id});
}

/// Writes the signal or the wait of this block for an edge.
void BlockWriter::tell(const Sync &sync, bool waits, DataSync around) {
  Op op{.kind = waits ? OpKind::Wait : OpKind::Signal, .sync = around, .loc = locOf(sync)};
  std::uint32_t id = 0;
  switch (sync.carrier) {
  case Carrier::Semaphore:
    op.kind = waits ? OpKind::SemAcquire : OpKind::SemRelease;
    id = waits ? channels_.semaphore(sync.agent, agent_) : channels_.semaphore(agent_, sync.agent);
    break;
  case Carrier::MemorySignal:
    op.channelType = ChannelType::Memory;
    id = channels_.memory(agent_, sync.agent);
    break;
  case Carrier::RelaxedSignal:
    op.kind = waits ? OpKind::RelaxedWait : OpKind::RelaxedSignal;
    op.channelType = ChannelType::Memory;
    id = channels_.memory(agent_, sync.agent);
    break;
  case Carrier::PortSignal:
    op.channelType = ChannelType::Port;
    id = channels_.port(agent_, sync.agent);
    break;
  case Carrier::Put: // the signal is part of the put
    if (!waits)
      return;
    op.channelType = ChannelType::Port;
    id = channels_.put(agent_, sync.agent);
    break;
  }
  if (op.channelType != ChannelType::None)
    useChannel(op.channelType, id);
  block_->append(op, {}, {}, {&id, 1});
}

ir::Chunk BlockWriter::local(const ir::RankChunk &place) const {
  return {ir::spaceOf(place.buffer), place.index, place.size, 0};
}

ir::Chunk BlockWriter::remote(const ir::RankChunk &place, ChannelType type) {
  std::vector<ir::RemoteBuffer> &buffers = program_.ranks[rank_].remoteBuffers;
  std::uint32_t &id = remoteIds_[std::size_t{3} * place.rank + static_cast<std::size_t>(place.buffer)];
  if (id == ir::none) {
    id = static_cast<std::uint32_t>(buffers.size());
    buffers.push_back({place.rank, place.buffer, false, false});
  }
  (type == ChannelType::Port ? buffers[id].viaPort : buffers[id].viaMemory) = true;
  if (namedRemotes_[static_cast<std::size_t>(type)].insert(id))
    remotesOfBlock_.push_back({type, id});
  return {ir::ChunkSpace::Remote, place.index, place.size, id};
}

void BlockWriter::execute(const ir::Move &statement) {
  if (statement.via)
    return statement.via == ir::Via::Switch ? executeInSwitch(statement) : executeRemote(statement);
  const bool packets = statement.packets.value_or(false), reduces = statement.kind == ir::MoveKind::Reduce;
  srcs_.clear();
  for (const ir::RankChunk &src : movement_.srcs(statement))
    srcs_.push_back(local(src));
  std::vector<ir::Chunk> dsts;
  for (const ir::RankChunk &dst : movement_.dsts(statement))
    dsts.push_back(local(dst));
  Op op{.reduceOp = statement.reduceOp, .loc = statement.loc, .firstAfter = statement.firstAfter};
  if (statement.kind == ir::MoveKind::Apply) {
    op.kind = OpKind::Apply;
    op.imm = statement.hook;
  } else if (reduces)
    op.kind = dsts.size() > 1 ? OpKind::ReduceCopyPacket : packets ? OpKind::ReducePacket : OpKind::Reduce;
  else
    op.kind = packets ? OpKind::UnpackPacket : OpKind::Copy;
  block_->append(op, srcs_, dsts);
}

void BlockWriter::executeRemote(const ir::Move &statement) {
  const ChannelType type = statement.via == ir::Via::Port ? ChannelType::Port : ChannelType::Memory;
  const ir::RankChunk &to = movement_.dsts(statement).back();
  const bool relays = relaysPackets(movement_, statement);
  const auto statementNumber = static_cast<std::uint32_t>(&statement - movement_.statements.data());
  Op op{.channelType = type, .reduceOp = statement.reduceOp, .loc = statement.loc, .firstAfter = statement.firstAfter};
  std::optional<std::uint32_t> id;
  srcs_.clear();
  for (const ir::RankChunk &src : movement_.srcs(statement)) {
    srcs_.push_back(src.rank == rank_ ? local(src) : remote(src, type));
    if (type == ChannelType::Memory && src.rank != rank_)
      useChannel(type, channels_.memoryTo(agent_, src.rank));
  }
  const ir::Chunk dst = to.rank == rank_ ? local(to) : remote(to, type);
  if (type == ChannelType::Port) {
    const bool packets = statement.packets.value_or(false);
    op.kind = packets                          ? OpKind::ReadPutPacket
              : !isSignalling(statementNumber) ? OpKind::Put
              : flushesPuts_                   ? OpKind::PutWithSignalAndFlush
                                               : OpKind::PutWithSignal;
    if (packets) { // the port puts packets from memory, so they are made first
      const ir::Chunk made = local(movement_.dsts(statement)[0]);
      block_->append({.kind = OpKind::CopyPacket, .loc = statement.loc}, srcs_, {&made, 1});
      srcs_.assign(1, made);
    }
    id = channels_.put(agent_, channels_.receiverOf(statementNumber));
    if (!packets && !flushesPuts_ &&
        std::ranges::find(flushedLate_, *id, &std::pair<std::uint32_t, ir::LocId>::first) == flushedLate_.end())
      flushedLate_.emplace_back(*id, op.loc);
  } else if (statement.kind == ir::MoveKind::Reduce) {
    op.kind = OpKind::ReadReduce;
  } else if (to.rank == rank_ && statement.packets.value_or(false)) {
    block_->append({.kind = OpKind::CopyPacket, .loc = statement.loc}, srcs_, {&dst, 1});
    return;
  } else if (to.rank != rank_) {
    const bool packets = statement.packets.value_or(false);
    op.kind = relays ? OpKind::ReadPutPacket : packets ? OpKind::PutPacket : OpKind::Put;
    useChannel(type, channels_.memoryTo(agent_, to.rank));
  } else {
    op.kind = OpKind::Get;
    id = channels_.memoryTo(agent_, movement_.srcs(statement)[0].rank);
  }
  if (id)
    useChannel(type, *id);
  block_->append(op, srcs_, {&dst, 1}, id ? std::span<const std::uint32_t>(&*id, 1) : std::span<const std::uint32_t>());
}

void BlockWriter::executeInSwitch(const ir::Move &statement) {
  const std::uint32_t id = channels_.multicast(movement_, statement);
  useChannel(ChannelType::Switch, id);
  const bool reduces = statement.kind == ir::MoveKind::Reduce;
  const ir::RankChunk &spread = reduces ? movement_.srcs(statement)[0] : movement_.dsts(statement)[0];
  const ir::Chunk all{ir::ChunkSpace::Switch, spread.index, spread.size, id};
  const ir::Chunk own = local(reduces ? movement_.dsts(statement)[0] : movement_.srcs(statement)[0]);
  Op op{.kind = reduces ? OpKind::SwitchReduce : OpKind::SwitchBroadcast,
        .channelType = ChannelType::Switch,
        .reduceOp = statement.reduceOp,
        .loc = statement.loc};
  block_->append(op, {reduces ? &all : &own, 1}, {reduces ? &own : &all, 1}, {&id, 1});
}

} // namespace mscclc::passes::schedule
