#include "passes/verify/index.h"

#include <algorithm>

namespace mscclc::passes::proof {

ProgramIndex::ProgramIndex(const ir::Program &p) : program(p) {
  static const ir::ThreadBlock empty;
  firstBlock_.push_back(0);
  firstSemaphore_.push_back(0);
  for (std::uint32_t r = 0; r < numRanks(); ++r) {
    const auto blocks = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(p.ranks[r].blocks.size()));
    firstBlock_.push_back(firstBlock_.back() + blocks);
    rankOf_.insert(rankOf_.end(), blocks, r);
    for (const ir::ThreadBlock &block : p.ranks[r].blocks)
      code_.push_back(&block);
    if (p.ranks[r].blocks.empty())
      code_.push_back(&empty);
    firstSemaphore_.push_back(firstSemaphore_.back() + static_cast<std::uint32_t>(p.ranks[r].semaphores.size()));
  }
  std::uint32_t next = 0;
  for (const auto type : {ir::ChannelType::Memory, ir::ChannelType::Port}) {
    auto &first = firstChannel_[type == ir::ChannelType::Port];
    for (const ir::Rank &rank : p.ranks) {
      first.push_back(next);
      next += static_cast<std::uint32_t>(rank.peers(type).size());
    }
    first.push_back(next);
  }
  pairOf_.assign(next, none);
  const ir::ChannelPairing pairing(p);
  for (const auto type : {ir::ChannelType::Memory, ir::ChannelType::Port})
    for (std::uint32_t r = 0; r < numRanks(); ++r)
      for (std::uint32_t c = 0; c < p.ranks[r].peers(type).size(); ++c)
        if (const auto peer = pairing.peer(type, {r, c}))
          pairOf_[channel(type, r, c)] = channel(type, peer->rank, peer->channel);
}

std::uint32_t ProgramIndex::rankOfChannel(std::uint32_t channel) const {
  const auto &first = firstChannel_[channel >= firstChannel_[1].front()];
  return static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), channel) - first.begin() - 1);
}

std::string ProgramIndex::describeChannel(std::uint32_t channel) const {
  const bool port = channel >= firstChannel_[1].front();
  const std::uint32_t rank = rankOfChannel(channel), id = channel - firstChannel_[port][rank];
  const auto type = port ? ir::ChannelType::Port : ir::ChannelType::Memory;
  return std::string(ir::toString(type)) + " channel " + std::to_string(id) + " of rank " + std::to_string(rank) +
         " (to rank " + std::to_string(program.ranks[rank].peers(type)[id]) + ")";
}

std::string ProgramIndex::describeSemaphore(std::uint32_t semaphore) const {
  const auto rank = static_cast<std::uint32_t>(
      std::upper_bound(firstSemaphore_.begin(), firstSemaphore_.end(), semaphore) - firstSemaphore_.begin() - 1);
  return "semaphore " + std::to_string(semaphore - firstSemaphore_[rank]) + " of rank " + std::to_string(rank);
}

} // namespace mscclc::passes::proof
