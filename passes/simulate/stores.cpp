// Stores of a block that other blocks may not see yet.
#include "passes/simulate/machine.h"

#include <algorithm>
#include <cstring>

namespace mscclc::passes::sim {

namespace {
constexpr std::size_t mostStores = 64; ///< most stores that a block delays
constexpr std::size_t mostBlockBytes = std::size_t{1} << 18;
} // namespace

/// Adds the stores in `others` to `view`, and drops the stores that all blocks see by now.
void Machine::add(View &view, const View &others) const {
  std::erase_if(view, [&](const Mark &mark) { return mark.upTo <= blocks_[mark.block].seen; });
  for (const Mark &mark : others) {
    if (mark.upTo <= blocks_[mark.block].seen)
      continue;
    const auto at = std::ranges::find(view, mark.block, &Mark::block);
    if (at == view.end())
      view.push_back(mark);
    else
      at->upTo = std::max(at->upTo, mark.upTo);
  }
}

/// Returns the view of the block. It includes only the first `count` of its own stores that are not yet visible to all
/// blocks.
Machine::View Machine::viewOf(const Block &block, std::uint64_t count) const {
  View view = block.view;
  const std::uint64_t kept = block.stores.size() - block.firstStore;
  add(view, {{static_cast<std::uint32_t>(&block - blocks_.data()), block.seen + std::min(count, kept)}});
  return view;
}

/// Returns the stores that a signal of the lane makes visible: all that its block has seen, and all that the block made
/// in earlier phases.
Machine::View Machine::viewOf(const Lane &lane) const {
  const Block &block = blocks_[index_.block(lane.rank, lane.block)];
  const auto first = block.stores.begin() + static_cast<std::ptrdiff_t>(block.firstStore);
  const auto now =
      std::partition_point(first, block.stores.end(), [&](const Store &s) { return s.phase < block.phase(); });
  return viewOf(block, static_cast<std::uint64_t>(now - first));
}

/// Calls `use(store, data)` for each store in `view` that some blocks do not see yet, in the order of time.
template <typename Use> void Machine::forEachStore(const View &view, const Use &use) const {
  std::vector<std::pair<const Store *, const std::byte *>> stores;
  for (const Mark &mark : view) {
    const Block &block = blocks_[mark.block];
    for (std::uint64_t i = block.seen; i < mark.upTo; ++i) {
      const Store &store = block.stores[block.firstStore + (i - block.seen)];
      stores.emplace_back(&store, block.data.data() + store.data);
    }
  }
  std::ranges::sort(stores, {}, [](const auto &store) { return store.first->number; });
  for (const auto &[store, data] : stores)
    use(*store, data);
}

/// Reads `bytes` bytes at `from` into `into`, as `block` sees them.
void Machine::load(const Block &block, std::byte *into, const std::byte *from, std::uint64_t bytes) const {
  std::memcpy(into, from, bytes);
  if (block.view.empty() && block.stores.empty())
    return;
  forEachStore(viewOf(block, block.stores.size()), [&](const Store &s, const std::byte *data) {
    const std::byte *first = std::max<const std::byte *>(from, s.at);
    const std::byte *end = std::min<const std::byte *>(from + bytes, s.at + s.bytes);
    if (first < end)
      std::memcpy(into + (first - from), data + (first - s.at), static_cast<std::size_t>(end - first));
  });
}

void Machine::store(Block &block, std::byte *to, const std::byte *from, std::uint64_t bytes) {
  if (!block.delays) {
    publish(block, 0);
    std::memcpy(to, from, bytes);
    return;
  }
  block.stores.push_back({to, bytes, block.data.size(), block.phase(), numStores_++});
  block.data.insert(block.data.end(), from, from + bytes);
  if (block.stores.size() - block.firstStore > mostStores)
    publish(block, mostStores / 4);
  if (block.data.size() > mostBlockBytes)
    publish(block, block.stores.size());
}

/// Makes all stores that `block` has seen visible to all blocks, and the first `count` of its own delayed stores.
void Machine::publish(Block &block, std::uint64_t count) {
  publish(viewOf(block, count));
  block.view.clear(); // all blocks see these stores now
}

/// Makes the stores in `view` visible to all blocks. A view that contains a store also contains the stores that it
/// overwrites. So a store never becomes visible before them.
void Machine::publish(const View &view) {
  forEachStore(view, [](const Store &s, const std::byte *data) { std::memcpy(s.at, data, s.bytes); });
  for (const auto &[number, upTo] : view) {
    Block &block = blocks_[number];
    if (upTo <= block.seen)
      continue;
    block.firstStore += upTo - block.seen;
    block.seen = upTo;
    if (block.firstStore == block.stores.size()) {
      block.firstStore = 0;
      block.stores.clear();
      block.data.clear();
    }
  }
}

} // namespace mscclc::passes::sim
