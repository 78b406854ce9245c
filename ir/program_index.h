// Dense numbers for the parts of a program: blocks, channels, semaphores, barriers of all ranks.
//
// A *queue* is a counter that blocks wait for. Each end of a channel has a queue with the number of the end. The queues
// of semaphores follow.
#pragma once

#include "ir/channel_pairing.h"
#include "ir/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mscclc::ir {

/// No number.
inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// A barrier: the blocks of a rank that meet there, in order.
struct Barrier {
  std::uint32_t rank = 0;
  std::uint64_t id = 0; ///< number of the barrier within the rank
  std::vector<std::uint32_t> blocks;
};

/// A program whose parts are numbered across ranks. Every rank has at least one block number, even if it has no blocks.
/// So there is always a block that represents the user of the rank's buffers before and after a launch.
class ProgramIndex {
public:
  explicit ProgramIndex(const Program &program);

  const Program &program;

  std::uint32_t numRanks() const { return static_cast<std::uint32_t>(program.ranks.size()); }
  std::uint32_t numBlocks() const { return firstBlock_.back(); }
  std::uint32_t numBlocks(std::uint32_t rank) const { return firstBlock_[rank + 1] - firstBlock_[rank]; }
  std::uint32_t block(std::uint32_t rank, std::uint32_t id) const { return firstBlock_[rank] + id; }
  std::uint32_t rankOf(std::uint32_t block) const { return rankOf_[block]; }
  std::uint32_t idOf(std::uint32_t block) const { return block - firstBlock_[rankOf_[block]]; }
  const ThreadBlock &ops(std::uint32_t block) const { return *code_[block]; }
  OpRef place(std::uint32_t block, std::uint32_t op) const { return {rankOf(block), idOf(block), op}; }

  std::uint32_t numChannels() const { return firstChannel_[1].back(); }
  std::uint32_t channel(ChannelType type, std::uint32_t rank, std::uint32_t id) const {
    return firstChannel_[type == ChannelType::Port][rank] + id;
  }
  /// Returns the other end of a channel; `none` if it has no pair.
  std::uint32_t pairOf(std::uint32_t channel) const { return pairOf_[channel]; }
  std::uint32_t rankOfChannel(std::uint32_t channel) const;
  /// Returns "memory channel 3 of rank 0 (to rank 1)".
  std::string describeChannel(std::uint32_t channel) const;

  std::uint32_t numSemaphores() const { return firstSemaphore_.back(); }
  std::uint32_t semaphore(std::uint32_t rank, std::uint32_t id) const { return firstSemaphore_[rank] + id; }
  /// Returns "semaphore 2 of rank 0".
  std::string describeSemaphore(std::uint32_t semaphore) const;

  std::uint32_t numQueues() const { return numChannels() + numSemaphores(); }
  std::uint32_t semaphoreQueue(std::uint32_t rank, std::uint32_t id) const {
    return numChannels() + semaphore(rank, id);
  }
  /// Returns the queue that id `id` of operation `op` of `rank` refers to. A wait or an acquire takes from this queue,
  /// and other operations add to it. Returns `none` if `op` sends through a channel without a pair.
  std::uint32_t queue(std::uint32_t rank, const Op &op, std::uint32_t id) const;

  std::uint32_t numBarriers() const { return static_cast<std::uint32_t>(barriers_.size()); }
  /// Returns the number of barrier `id` of `rank`. Some block of the rank must name this barrier.
  std::uint32_t barrierOf(std::uint32_t rank, std::uint64_t id) const { return barrierNumber_.at({rank, id}); }
  const Barrier &barrier(std::uint32_t number) const { return barriers_[number]; }

private:
  void numberBarriers();

  std::vector<std::uint32_t> firstBlock_, rankOf_;
  std::vector<const ThreadBlock *> code_;      ///< [block]
  std::vector<std::uint32_t> firstChannel_[2]; // memory, then port
  std::vector<std::uint32_t> pairOf_;
  std::vector<std::uint32_t> firstSemaphore_;
  std::vector<Barrier> barriers_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> barrierNumber_; ///< [rank, id]
};

} // namespace mscclc::ir
