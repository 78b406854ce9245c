// What a block stored and others may not see yet.
#include "passes/simulate/machine.h"

#include <algorithm>
#include <cstring>

namespace mscclc::passes::sim {

namespace {
constexpr std::size_t mostStores = 64; ///< that a block keeps
constexpr std::size_t mostBlockBytes = std::size_t{1} << 18;
} // namespace

/// Reads as the block sees it.
void Machine::load(const Block &block, std::byte *into, const std::byte *from, std::uint64_t bytes) const {
  std::memcpy(into, from, bytes);
  for (std::size_t i = block.firstStore; i < block.stores.size(); ++i) {
    const Store &s = block.stores[i];
    const std::byte *first = std::max<const std::byte *>(from, s.at);
    const std::byte *end = std::min<const std::byte *>(from + bytes, s.at + s.bytes);
    if (first < end)
      std::memcpy(into + (first - from), block.data.data() + s.data + (first - s.at),
                  static_cast<std::size_t>(end - first));
  }
}

void Machine::store(Block &block, std::byte *to, const std::byte *from, std::uint64_t bytes) {
  if (!block.delays) {
    std::memcpy(to, from, bytes);
    return;
  }
  block.stores.push_back({to, bytes, block.data.size(), block.phase()});
  block.data.insert(block.data.end(), from, from + bytes);
  if (block.stores.size() - block.firstStore > mostStores)
    publish(block, mostStores / 4);
  if (block.data.size() > mostBlockBytes)
    publish(block, block.stores.size());
}

/// Lets others see the first `count` of the stores that they do not see yet.
void Machine::publish(Block &block, std::uint64_t count) {
  for (; count > 0 && block.firstStore < block.stores.size(); --count, ++block.seen) {
    const Store &s = block.stores[block.firstStore++];
    std::memcpy(s.at, block.data.data() + s.data, s.bytes);
  }
  if (block.firstStore == block.stores.size()) {
    block.firstStore = 0;
    block.stores.clear();
    block.data.clear();
  }
}

/// What the lane's block stored in earlier phases.
Machine::Mark Machine::markOf(const Lane &lane) const {
  const std::uint32_t number = index_.block(lane.rank, lane.block);
  const Block &block = blocks_[number];
  const auto first = block.stores.begin() + static_cast<std::ptrdiff_t>(block.firstStore);
  const auto now =
      std::partition_point(first, block.stores.end(), [&](const Store &s) { return s.phase < block.phase(); });
  return {number, block.seen + static_cast<std::uint64_t>(now - first)};
}

void Machine::show(const Mark &mark) {
  if (mark.block != none && mark.upTo > blocks_[mark.block].seen)
    publish(blocks_[mark.block], mark.upTo - blocks_[mark.block].seen);
}

void Machine::showAll(std::vector<Mark> &marks) {
  for (const Mark &mark : marks)
    show(mark);
  marks.clear();
}

} // namespace mscclc::passes::sim
