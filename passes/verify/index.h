// Dense numbers for what a program is made of: blocks, channels, semaphores, barriers over all ranks.
#pragma once

#include "ir/channel_pairing.h"
#include "ir/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::passes::proof {

inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// A program with everything numbered across ranks. Every rank has at least one block number, so that whoever uses its
/// buffers before and after a launch is always somebody.
class ProgramIndex {
public:
  explicit ProgramIndex(const ir::Program &program);

  const ir::Program &program;

  std::uint32_t numRanks() const { return static_cast<std::uint32_t>(program.ranks.size()); }
  std::uint32_t numBlocks() const { return firstBlock_.back(); }
  std::uint32_t block(std::uint32_t rank, std::uint32_t id) const { return firstBlock_[rank] + id; }
  std::uint32_t rankOf(std::uint32_t block) const { return rankOf_[block]; }
  std::uint32_t idOf(std::uint32_t block) const { return block - firstBlock_[rankOf_[block]]; }
  const ir::ThreadBlock &ops(std::uint32_t block) const { return *code_[block]; }
  ir::OpRef place(std::uint32_t block, std::uint32_t op) const { return {rankOf(block), idOf(block), op}; }

  std::uint32_t numChannels() const { return firstChannel_[1].back(); }
  std::uint32_t channel(ir::ChannelType type, std::uint32_t rank, std::uint32_t id) const {
    return firstChannel_[type == ir::ChannelType::Port][rank] + id;
  }
  /// The other end of a channel, or `none`.
  std::uint32_t pairOf(std::uint32_t channel) const { return pairOf_[channel]; }
  std::uint32_t rankOfChannel(std::uint32_t channel) const;
  /// "memory channel 3 of rank 0 (to rank 1)".
  std::string describeChannel(std::uint32_t channel) const;

  std::uint32_t numSemaphores() const { return firstSemaphore_.back(); }
  std::uint32_t semaphore(std::uint32_t rank, std::uint32_t id) const { return firstSemaphore_[rank] + id; }
  /// "semaphore 2 of rank 0".
  std::string describeSemaphore(std::uint32_t semaphore) const;

private:
  std::vector<std::uint32_t> firstBlock_, rankOf_;
  std::vector<const ir::ThreadBlock *> code_;  ///< [block]
  std::vector<std::uint32_t> firstChannel_[2]; // memory, then port
  std::vector<std::uint32_t> pairOf_;
  std::vector<std::uint32_t> firstSemaphore_;
};

} // namespace mscclc::passes::proof
