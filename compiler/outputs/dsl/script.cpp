#include "compiler/outputs/dsl/script.h"

#include "compiler/outputs/dsl/channels.h"
#include "compiler/outputs/dsl/no_source.h"
#include "compiler/outputs/dsl/order.h"
#include "ir/internal_error.h"
#include "ir/op_semantics.h"
#include "ir/program_index.h"

#include <algorithm>
#include <set>
#include <utility>

namespace mscclc::dsl {

using ir::BufferKind;
using ir::ChannelType;
using ir::Chunk;
using ir::DataSync;
using ir::Op;
using ir::OpKind;

namespace {

std::string_view syncText(DataSync sync) {
  switch (sync) {
  case DataSync::None:
    return "Sync::None";
  case DataSync::Before:
    return "Sync::Before";
  case DataSync::After:
    return "Sync::After";
  case DataSync::Both:
    break;
  }
  return "Sync::Both";
}

std::string signalOptions(DataSync sync, bool relaxed) {
  std::string text;
  if (sync != DataSync::Both)
    text = ".sync = " + std::string(syncText(sync));
  if (relaxed)
    text += text.empty() ? ".relaxed = true" : ", .relaxed = true";
  return text.empty() ? text : ", {" + text + "}";
}

std::string_view listOf(ChannelType type) {
  return type == ChannelType::Port ? "ports" : "channels";
}

/// Writes the lines of one rank.
class Writer {
public:
  /// `channels`: [block][operation], the channel that the call names.
  Writer(const ir::Program &program, const Names &names, std::uint32_t rank, Templates &templates,
         std::vector<std::vector<std::uint32_t>> channels)
      : names_(names), rank_(program.ranks[rank]), id_(rank), templates_(templates), channels_(std::move(channels)) {
    for (const ChannelType type : {ChannelType::Memory, ChannelType::Port}) {
      std::unordered_map<std::uint32_t, std::uint32_t> seen;
      for (const std::uint32_t peer : rank_.peers(type))
        numbers_[type == ChannelType::Port].push_back(seen[peer]++);
    }
  }

  std::vector<Node> run(const std::vector<Event> &events) {
    declare(ChannelType::Memory, !rank_.portChannelsFirst);
    declare(ChannelType::Port, true);
    declare(ChannelType::Memory, rank_.portChannelsFirst);
    for (const ir::Semaphore &semaphore : rank_.semaphores)
      line("semaphores.push_back(Semaphore(rank, %v));", {semaphore.initialValue});
    for (const Event &event : events)
      take(event);
    return std::move(lines_);
  }

private:
  void declare(ChannelType type, bool here) {
    if (!here)
      return;
    const std::string list(listOf(type)), made = type == ChannelType::Port ? "PortChannel(" : "MemoryChannel(";
    for (const std::uint32_t peer : rank_.peers(type))
      if (names_.byPeer[static_cast<std::size_t>(type)])
        line(list + "[%p] = " + made + "%p, rank);", {peer, peer});
      else
        line(list + "[%p].push_back(" + made + "%p, rank));", {peer, peer});
  }

  Node node(const std::string &text, std::vector<std::int64_t> values) {
    Node node{.text = templates_.idOf(text), .block = block_, .values = std::move(values)};
    node.setShape();
    return node;
  }
  void line(const std::string &text, std::vector<std::int64_t> values) {
    (inLoop_ ? loop_.body : lines_).push_back(node(text, std::move(values)));
  }

  void take(const Event &event) {
    block_ = event.block;
    const ir::ThreadBlock &block = rank_.blocks[event.block];
    switch (event.kind) {
    case Event::Kind::LoopBegin: {
      const Op &op = block.ops[event.op];
      loop_ = node("PipelineLoop loop(%u, %v);", {static_cast<std::int64_t>(op.imm), op.count});
      loop_.kind = Node::Kind::Scope;
      inLoop_ = true;
      return;
    }
    case Event::Kind::LoopEnd:
      inLoop_ = false;
      loop_.setShape();
      lines_.push_back(std::move(loop_));
      return;
    case Event::Kind::Call:
      break;
    }
    call(event, block, block.ops[event.op]);
  }

  /// Returns the text for the thread blocks of a call.
  std::string on(const Event &event) {
    if (event.blocks.empty()) {
      values_.push_back(event.block);
      return "tb(%b)";
    }
    return "ThreadBlockGroup(" + listTemplate(event.blocks, values_, 'b') + ")";
  }

  std::string local(const Chunk &chunk) {
    values_.insert(values_.end(), {chunk.index, chunk.size});
    switch (chunk.space) {
    case ir::ChunkSpace::Input:
      return "input%s";
    case ir::ChunkSpace::Output:
      return "output%s";
    case ir::ChunkSpace::Scratch:
      return "scratch%s";
    case ir::ChunkSpace::Remote:
    case ir::ChunkSpace::Switch:
      break;
    }
    throw ir::InternalError("a chunk of another rank among the local ones");
  }

  std::string chunk(const Chunk &chunk) {
    if (chunk.space != ir::ChunkSpace::Remote)
      return local(chunk);
    const ir::RemoteBuffer &buffer = rank_.remoteBuffers[chunk.id];
    values_.insert(values_.end(), {buffer.rank, chunk.index, chunk.size});
    switch (buffer.buffer) {
    case BufferKind::Input:
      return "Rank(%p).input()%s";
    case BufferKind::Output:
      return "Rank(%p).output()%s";
    case BufferKind::Scratch:
      break;
    }
    return "scratches[%p]%s";
  }

  /// Returns the text for a channel. It names the peer and, if needed, the channel's number among the channels to this
  /// peer.
  std::string channel(ChannelType type, std::uint32_t id) {
    const std::vector<std::uint32_t> &peers = rank_.peers(type);
    values_.push_back(peers[id]);
    if (names_.byPeer[static_cast<std::size_t>(type)])
      return std::string(listOf(type)) + "[%p]";
    values_.push_back(numbers_[type == ChannelType::Port][id]);
    return std::string(listOf(type)) + "[%p][%v]";
  }

  /// Returns the text for a list of chunks. A long list gets the name `others`, and lines before the call fill it.
  std::string others(std::span<const Chunk> chunks) {
    std::string list;
    if (chunks.size() <= othersInCall) {
      for (const Chunk &other : chunks)
        list += (list.empty() ? "{" : ", ") + chunk(other);
      return list + "}";
    }
    std::vector<std::int64_t> outer;
    values_.swap(outer);
    line("others.clear();", {});
    for (const Chunk &other : chunks) {
      const std::string text = chunk(other);
      line("others.push_back(" + text + ");", std::exchange(values_, {}));
    }
    values_.swap(outer);
    return "others";
  }

  std::string reduceOptions(const ir::ThreadBlock &block, const Op &op) {
    std::string options;
    const auto add = [&](const std::string &text) { options += (options.empty() ? "" : ", ") + text; };
    if (block.dsts(op)[0] != block.srcs(op)[0])
      add(".dst = " + local(block.dsts(op)[0]));
    if (op.reduceOp != ir::ReduceOp::Sum)
      add(".op = " + std::string(reduceOpText(op.reduceOp)));
    if (op.kind == OpKind::ReducePacket)
      add(".packet = true");
    return options.empty() ? options : ", {" + options + "}";
  }

  void call(const Event &event, const ir::ThreadBlock &block, const Op &op) {
    values_.clear();
    std::string text = textOf(event, block, op);
    line(text, std::move(values_));
  }

  std::string textOf(const Event &event, const ir::ThreadBlock &block, const Op &op) {
    switch (op.kind) {
    case OpKind::Nop:
      values_.push_back(event.block);
      return "Rank(rank).barrier({%b});";
    case OpKind::Barrier:
      return "Rank(rank).barrier(" + listTemplate(event.blocks, values_, 'b') + ");";
    case OpKind::SemAcquire:
    case OpKind::SemRelease:
      values_.push_back(block.idsOf(op)[0]);
      return "semaphores[%v]." + std::string(op.kind == OpKind::SemAcquire ? "acquire(" : "release(") + on(event) +
             (op.sync == DataSync::Both ? "" : ", " + std::string(syncText(op.sync))) + ");";
    case OpKind::Signal:
    case OpKind::RelaxedSignal:
    case OpKind::Wait:
    case OpKind::RelaxedWait:
    case OpKind::Flush:
    case OpKind::SwitchSignal:
    case OpKind::SwitchRelaxedSignal:
    case OpKind::SwitchWait:
    case OpKind::SwitchRelaxedWait:
      return sync(event, block, op);
    case OpKind::Copy:
    case OpKind::CopyPacket:
    case OpKind::UnpackPacket: {
      const std::string dst = local(block.dsts(op)[0]), src = local(block.srcs(op)[0]);
      return std::string(ir::info(op.kind).call) + "(" + dst + ", " + src + ", " + on(event) + ");";
    }
    case OpKind::Reduce:
    case OpKind::ReducePacket:
      return "reduce(" + reduction(event, block, op);
    case OpKind::ReadReduce:
      return readReduction(event, block, op);
    case OpKind::Get:
    case OpKind::Put:
    case OpKind::PutWithSignal:
    case OpKind::PutWithSignalAndFlush:
    case OpKind::PutPacket:
    case OpKind::ReadPutPacket: {
      const std::string through = channel(op.channelType, channels_[event.block][event.op]);
      const std::string dst = chunk(block.dsts(op)[0]), src = chunk(block.srcs(op)[0]);
      return through + "." + std::string(ir::info(op.kind).call) + "(" + dst + ", " + src + ", " + on(event) + ");";
    }
    case OpKind::SwitchReduce:
    case OpKind::SwitchBroadcast:
    case OpKind::SwitchBroadcastPacket:
      return inSwitch(event, block, op);
    case OpKind::Apply:
      throw NoSource{"it applies a hook, whose declaration is not written"};
    case OpKind::ReduceCopyPacket:
    case OpKind::ReduceSend:
    case OpKind::ReduceSendPacket:
    case OpKind::ReduceCopySendPacket:
    case OpKind::ReadReduceSend:
    case OpKind::SwitchReduceBroadcast:
    case OpKind::Pipeline:
      break;
    }
    throw ir::InternalError("no call makes " + std::string(toString(op.kind)));
  }

  std::string reduction(const Event &event, const ir::ThreadBlock &block, const Op &op) {
    const std::string src = local(block.srcs(op)[0]), rest = others(block.srcs(op).subspan(1)), where = on(event);
    return src + ", " + rest + ", " + where + reduceOptions(block, op) + ");";
  }

  std::string readReduction(const Event &event, const ir::ThreadBlock &block, const Op &op) {
    const std::string through = channel(ChannelType::Memory, channels_[event.block][event.op]);
    return through + ".reduce(" + reduction(event, block, op);
  }

  std::string sync(const Event &event, const ir::ThreadBlock &block, const Op &op) {
    const bool relaxed = ir::isRelaxed(op.kind);
    const std::string_view name = op.kind == OpKind::Flush ? "flush" : ir::isWait(op.kind) ? "wait" : "signal";
    std::string through = "switches[%v].atRank(rank)";
    if (op.channelType == ChannelType::Switch)
      values_.push_back(names_.switchOf[id_][block.idsOf(op)[0]]);
    else
      through = channel(op.channelType, block.idsOf(op)[0]);
    return through + "." + std::string(name) + "(" + on(event) + signalOptions(op.sync, relaxed) + ");";
  }

  std::string inSwitch(const Event &event, const ir::ThreadBlock &block, const Op &op) {
    const bool reduces = op.kind == OpKind::SwitchReduce;
    const Chunk &far = (reduces ? block.srcs(op) : block.dsts(op))[0];
    const Chunk &near = (reduces ? block.dsts(op) : block.srcs(op))[0];
    values_.push_back(names_.switchOf[id_][far.id]);
    std::string text = "switches[%v].atRank(rank).";
    if (reduces) {
      values_.insert(values_.end(), {far.index, far.size});
      text += "reduce(%v, %v, " + local(near);
      text += ", " + on(event);
      if (op.reduceOp != ir::ReduceOp::Sum)
        text += ", " + std::string(reduceOpText(op.reduceOp));
      return text + ");";
    }
    text += op.kind == OpKind::SwitchBroadcast ? "broadcast(" : "broadcastPackets(";
    text += local(near);
    values_.insert(values_.end(), {far.index, far.size});
    return text + ", %v, %v, " + on(event) + ");";
  }

  const Names &names_;
  const ir::Rank &rank_;
  const std::uint32_t id_; ///< the rank
  Templates &templates_;
  std::vector<std::vector<std::uint32_t>> channels_; ///< [block][operation]: the channel that the call names
  std::array<std::vector<std::uint32_t>, 2>
      numbers_; ///< number of each memory channel and port channel among those to the same peer
  std::vector<Node> lines_;
  Node loop_;
  bool inLoop_ = false;
  std::uint32_t block_ = ir::none;   ///< block of the call that is being written; ir::none before the first call
  std::vector<std::int64_t> values_; ///< numbers of the call that is being written
};

/// Gives the blocks of a group the same channel in each call that they share. Returns false if the blocks' tables do
/// not allow this.
bool shareChannels(const ir::Rank &rank, const std::vector<Event> &events,
                   std::vector<std::vector<std::uint32_t>> &channels) {
  std::vector<std::uint32_t> next(rank.blocks.size(), 0); // index of the next operation of each block
  std::set<std::uint32_t> changed;
  for (const Event &event : events) {
    if (event.kind == Event::Kind::LoopEnd)
      continue;
    std::vector<std::uint32_t> blocks = event.blocks;
    if (blocks.empty())
      blocks.push_back(event.block);
    next[event.block] = event.op; // skips the header of a pipeline
    const Op &op = rank.blocks[event.block].ops[event.op];
    std::uint32_t &first = channels[blocks[0]][event.op];
    for (const std::uint32_t block : blocks) {
      std::uint32_t &at = next[block];
      if (rank.blocks[block].ops[at].kind == OpKind::Pipeline && op.kind != OpKind::Pipeline)
        ++at;
      std::uint32_t &own = channels[block][at];
      if (own != first) {
        const auto has = [&](std::uint32_t id) {
          return std::ranges::find(rank.blocks[block].channels, ir::ResourceUse{op.channelType, id}) !=
                 rank.blocks[block].channels.end();
        };
        if (!has(first) && blocks.size() > 1)
          first = own;
        own = first;
        changed.insert(blocks.begin(), blocks.end());
      }
      ++at;
    }
  }
  return std::ranges::all_of(
      changed, [&](std::uint32_t block) { return makesTables(rank, rank.blocks[block], channels[block]); });
}

/// Finds an order in which all switch channels can be constructed. Each construction appends a channel to the list of
/// every rank of its group.
void orderSwitches(const ir::Program &program, Names &names) {
  names.switchOf.resize(program.ranks.size());
  const auto next = [&](std::uint32_t rank) -> const ir::SwitchChannel * {
    const std::vector<ir::SwitchChannel> &all = program.ranks[rank].switchChannels;
    return names.switchOf[rank].size() < all.size() ? &all[names.switchOf[rank].size()] : nullptr;
  };
  for (std::uint32_t rank = 0; rank < program.ranks.size();) {
    const ir::SwitchChannel *channel = next(rank);
    if (!channel) {
      ++rank;
      continue;
    }
    std::uint32_t at = rank;
    // If a member's next channel is another one, that channel must be constructed first. The search ends if some order
    // suits all ranks.
    for (std::size_t steps = 0;; ++steps) {
      const auto other = std::ranges::find_if(
          channel->ranks, [&](std::uint32_t member) { return !next(member) || *next(member) != *channel; });
      if (other == channel->ranks.end())
        break;
      at = *other;
      channel = next(at);
      if (!channel || steps > program.ranks.size())
        throw NoSource{"switch channels that no order of construction gives"};
    }
    for (const std::uint32_t member : channel->ranks)
      names.switchOf[member].push_back(static_cast<std::uint32_t>(names.switches.size()));
    names.switches.push_back(*channel);
  }
}

} // namespace

std::string_view reduceOpText(ir::ReduceOp op) {
  static constexpr std::string_view texts[] = {
#define REDUCE_OP(id, ...) "ReduceOp::" #id,
#include "ir/reduce_ops.def"
  };
  return texts[static_cast<std::size_t>(op)];
}

std::string listTemplate(const std::vector<std::uint32_t> &list, std::vector<std::int64_t> &values, char letter) {
  const std::int64_t step = list.size() < 2 ? 1 : std::int64_t{list[1]} - list[0];
  bool inRow = list.size() > 3;
  for (std::size_t i = 1; i < list.size(); ++i)
    inRow &= std::int64_t{list[i]} - list[i - 1] == step;
  if (inRow) {
    values.insert(values.end(), {list[0], static_cast<std::int64_t>(list.size())});
    if (step == 1)
      return "numbers(%v, %v)";
    values.push_back(step);
    return "numbers(%v, %v, %v)";
  }
  std::string text;
  for (const std::uint32_t number : list) {
    values.push_back(number);
    text += (text.empty() ? "{%" : ", %") + std::string(1, letter);
  }
  return text + "}";
}

Names namesOf(const ir::Program &program) {
  Names names;
  for (const ChannelType type : {ChannelType::Memory, ChannelType::Port})
    names.byPeer[static_cast<std::size_t>(type)] = std::ranges::all_of(program.ranks, [&](const ir::Rank &rank) {
      return std::set(rank.peers(type).begin(), rank.peers(type).end()).size() == rank.peers(type).size();
    });
  names.scratch = std::ranges::any_of(program.ranks, [](const ir::Rank &rank) { return rank.scratchChunks != 0; });
  orderSwitches(program, names);
  return names;
}

std::vector<Node> scriptOf(const ir::Program &program, const Names &names, std::uint32_t rank, Templates &templates) {
  std::vector<std::vector<std::uint32_t>> channels;
  const std::vector<ir::ThreadBlock> &blocks = program.ranks[rank].blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    try {
      channels.push_back(channelsOf(program.ranks[rank], blocks[b]));
    } catch (const NoSource &no) {
      throw NoSource{"thread block " + std::to_string(b) + ": " + no.why};
    }
  if (!blocks.empty() && blocks.back().ops.empty())
    throw NoSource{"thread block " + std::to_string(blocks.size() - 1) + ", the last one, has no operations"};
  const std::vector<Event> events = orderCalls(program, rank);
  if (!shareChannels(program.ranks[rank], events, channels))
    throw NoSource{"a thread-block group whose blocks have no channel in common"};
  return Writer(program, names, rank, templates, std::move(channels)).run(events);
}

} // namespace mscclc::dsl
