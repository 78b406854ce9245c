#include "compiler/outputs/dsl/channels.h"

#include "compiler/outputs/dsl/no_source.h"

#include <algorithm>

namespace mscclc::dsl {
namespace {

using ir::ChannelType;
using ir::Op;

/// Returns the remote buffer of an operation through memory that names no channel; null for other operations.
const ir::RemoteBuffer *unnamedPeer(const ir::Rank &rank, const ir::ThreadBlock &block, const Op &op) {
  if (op.channelType != ChannelType::Memory || op.numIds != 0)
    return nullptr;
  for (const ir::Chunk &chunk : block.operands(op))
    if (chunk.space == ir::ChunkSpace::Remote)
      return &rank.remoteBuffers[chunk.id];
  return nullptr;
}

/// Returns the entries of a table as one list for each type. Types are in the order of first use, as in a plan.
std::vector<std::vector<ir::ResourceUse>> byType(const std::vector<ir::ResourceUse> &table) {
  std::vector<std::vector<ir::ResourceUse>> lists;
  for (const ir::ResourceUse &use : table) {
    const auto known = std::ranges::find_if(lists, [&](const auto &list) { return list[0].type == use.type; });
    if (known == lists.end())
      lists.push_back({use});
    else
      known->push_back(use);
  }
  return lists;
}

/// Returns the memory channels in the order in which the calls would add them to the block's table.
std::vector<std::uint32_t> entered(const ir::Rank &rank, const ir::ThreadBlock &block,
                                   const std::vector<std::uint32_t> &channels) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(rank.memoryPeers.size(), false);
  for (std::size_t i = 0; i < block.ops.size(); ++i)
    if (block.ops[i].channelType == ChannelType::Memory && !seen[channels[i]]) {
      seen[channels[i]] = true;
      order.push_back(channels[i]);
    }
  return order;
}

/// Gives each put the channel of the next operation that names a channel to the same peer. If there is none, gives it
/// the channel of the previous such operation.
void byNeighbours(const ir::Rank &rank, const ir::ThreadBlock &block, const std::vector<std::uint32_t> &table,
                  std::vector<std::uint32_t> &channels) {
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> known(rank.memoryPeers.size() == 0 ? 0 : *std::ranges::max_element(rank.memoryPeers) + 1,
                                   none);
  std::vector<std::uint32_t> first = known;
  for (std::size_t i = table.size(); i-- > 0;)
    first[rank.memoryPeers[table[i]]] = table[i];
  std::vector<bool> open(block.ops.size(), false);
  for (std::size_t i = block.ops.size(); i-- > 0;) {
    const Op &op = block.ops[i];
    if (const ir::RemoteBuffer *peer = unnamedPeer(rank, block, op)) {
      if (peer->rank >= known.size())
        continue;
      open[i] = known[peer->rank] == none;
      channels[i] = known[peer->rank];
    } else if (op.channelType == ChannelType::Memory && op.numIds != 0) {
      known[rank.memoryPeers[channels[i]]] = channels[i];
    }
  }
  known = first;
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const Op &op = block.ops[i];
    const ir::RemoteBuffer *peer = unnamedPeer(rank, block, op);
    if (peer && open[i])
      channels[i] = known[peer->rank];
    else if (op.channelType == ChannelType::Memory && op.numIds != 0)
      known[rank.memoryPeers[channels[i]]] = channels[i];
  }
}

/// Chooses the channel of each put by the block's table. A put gets the first channel of the table that no call has
/// used so far, if it leads to the put's peer.
void byTable(const ir::Rank &rank, const ir::ThreadBlock &block, const std::vector<std::uint32_t> &table,
             std::vector<std::uint32_t> &channels) {
  std::vector<bool> seen(rank.memoryPeers.size(), false);
  std::vector<std::uint32_t> last(channels.size() == 0 ? 0 : rank.memoryPeers.size(), 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const Op &op = block.ops[i];
    if (op.channelType != ChannelType::Memory)
      continue;
    if (const ir::RemoteBuffer *peer = unnamedPeer(rank, block, op)) {
      if (next < table.size() && rank.memoryPeers[table[next]] == peer->rank)
        channels[i] = table[next];
      else
        for (std::size_t t = 0; t < next; ++t)
          if (rank.memoryPeers[table[t]] == peer->rank)
            channels[i] = table[t];
    }
    seen[channels[i]] = true;
    while (next < table.size() && seen[table[next]])
      ++next;
  }
}

} // namespace

bool makesTables(const ir::Rank &rank, const ir::ThreadBlock &block, const std::vector<std::uint32_t> &channels) {
  std::vector<ir::ResourceUse> used, remotes;
  std::vector<bool> usedBefore[4], remoteBefore[4];
  const auto enter = [](std::vector<bool> &before, std::vector<ir::ResourceUse> &table, ir::ResourceUse use) {
    if (before.size() <= use.id)
      before.resize(use.id + 1, false);
    if (!before[use.id])
      table.push_back(use);
    before[use.id] = true;
  };
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const Op &op = block.ops[i];
    if (op.channelType == ChannelType::None)
      continue;
    const auto type = static_cast<std::size_t>(op.channelType);
    for (const ir::Chunk &chunk : block.operands(op))
      if (chunk.space == ir::ChunkSpace::Remote) {
        enter(remoteBefore[type], remotes, {op.channelType, chunk.id});
        if (rank.peers(op.channelType)[channels[i]] != rank.remoteBuffers[chunk.id].rank)
          return false;
      }
    enter(usedBefore[type], used, {op.channelType, channels[i]});
  }
  return byType(used) == byType(block.channels) && byType(remotes) == byType(block.remoteBuffers);
}

std::vector<std::uint32_t> channelsOf(const ir::Rank &rank, const ir::ThreadBlock &block) {
  std::vector<std::uint32_t> channels(block.ops.size(), 0), table;
  for (const ir::ResourceUse &use : block.channels)
    if (use.type == ChannelType::Memory)
      table.push_back(use.id);
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    if (const std::span<const std::uint32_t> ids = block.idsOf(block.ops[i]); !ids.empty())
      channels[i] = ids[0];
    const ir::RemoteBuffer *peer = unnamedPeer(rank, block, block.ops[i]);
    if (peer && std::ranges::none_of(table, [&](std::uint32_t id) { return rank.memoryPeers[id] == peer->rank; }))
      throw NoSource{"access to rank " + std::to_string(peer->rank) + " without a channel that leads there"};
  }
  std::vector<std::uint32_t> chosen = channels;
  byNeighbours(rank, block, table, chosen);
  if (entered(rank, block, chosen) != table) {
    byTable(rank, block, table, channels);
    chosen = std::move(channels);
  }
  if (!makesTables(rank, block, chosen))
    throw NoSource{"tables of channels or remote buffers that its operations do not make"};
  return chosen;
}

} // namespace mscclc::dsl
