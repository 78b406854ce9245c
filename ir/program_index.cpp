#include "ir/program_index.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::ir {

ProgramIndex::ProgramIndex(const Program &p) : program(p) {
  static const ThreadBlock empty;
  firstBlock_.push_back(0);
  firstSemaphore_.push_back(0);
  for (std::uint32_t r = 0; r < numRanks(); ++r) {
    const auto blocks = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(p.ranks[r].blocks.size()));
    firstBlock_.push_back(firstBlock_.back() + blocks);
    rankOf_.insert(rankOf_.end(), blocks, r);
    for (const ThreadBlock &block : p.ranks[r].blocks)
      code_.push_back(&block);
    if (p.ranks[r].blocks.empty())
      code_.push_back(&empty);
    firstSemaphore_.push_back(firstSemaphore_.back() + static_cast<std::uint32_t>(p.ranks[r].semaphores.size()));
  }
  std::uint32_t next = 0;
  for (const auto type : {ChannelType::Memory, ChannelType::Port}) {
    auto &first = firstChannel_[type == ChannelType::Port];
    for (const Rank &rank : p.ranks) {
      first.push_back(next);
      next += static_cast<std::uint32_t>(rank.peers(type).size());
    }
    first.push_back(next);
  }
  pairOf_.assign(next, none);
  const ChannelPairing pairing(p);
  for (const auto type : {ChannelType::Memory, ChannelType::Port})
    for (std::uint32_t r = 0; r < numRanks(); ++r)
      for (std::uint32_t c = 0; c < p.ranks[r].peers(type).size(); ++c)
        if (const auto peer = pairing.peer(type, {r, c}))
          pairOf_[channel(type, r, c)] = channel(type, peer->rank, peer->channel);
  numberBarriers();
}

void ProgramIndex::numberBarriers() {
  for (std::uint32_t b = 0; b < numBlocks(); ++b)
    for (const Op &op : ops(b).ops) {
      if (op.kind != OpKind::Barrier)
        continue;
      const auto [it, isNew] = barrierNumber_.try_emplace({rankOf(b), op.imm}, numBarriers());
      if (isNew)
        barriers_.push_back({rankOf(b), op.imm, {}});
      auto &blocks = barriers_[it->second].blocks;
      if (blocks.empty() || blocks.back() != b)
        blocks.push_back(b);
    }
}

std::uint32_t ProgramIndex::queue(std::uint32_t rank, const Op &op, std::uint32_t id) const {
  if (isSemaphoreOp(op.kind))
    return semaphoreQueue(rank, id);
  const std::uint32_t end = channel(op.channelType, rank, id);
  return takes(op.kind) ? end : pairOf(end);
}

std::uint32_t ProgramIndex::rankOfChannel(std::uint32_t channel) const {
  const auto &first = firstChannel_[channel >= firstChannel_[1].front()];
  return static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), channel) - first.begin() - 1);
}

std::string ProgramIndex::describeChannel(std::uint32_t channel) const {
  const bool port = channel >= firstChannel_[1].front();
  const std::uint32_t rank = rankOfChannel(channel), id = channel - firstChannel_[port][rank];
  const auto type = port ? ChannelType::Port : ChannelType::Memory;
  const Rank &owner = program.ranks[rank];
  if (!port && id >= owner.memoryPeers.size() - owner.switchSignals)
    return "the switch's signals of rank " + std::to_string(rank) + " (to rank " +
           std::to_string(owner.memoryPeers[id]) + ")";
  return std::string(toString(type)) + " channel " + std::to_string(id) + " of rank " + std::to_string(rank) +
         " (to rank " + std::to_string(program.ranks[rank].peers(type)[id]) + ")";
}

std::string ProgramIndex::describeSemaphore(std::uint32_t semaphore) const {
  const auto rank = static_cast<std::uint32_t>(
      std::upper_bound(firstSemaphore_.begin(), firstSemaphore_.end(), semaphore) - firstSemaphore_.begin() - 1);
  return "semaphore " + std::to_string(semaphore - firstSemaphore_[rank]) + " of rank " + std::to_string(rank);
}

} // namespace mscclc::ir
