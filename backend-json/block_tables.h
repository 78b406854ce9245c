// The tables of a thread block as a plan lists them: one list for each type, in the order of first appearance.
#pragma once

#include "ir/program.h"

#include <array>
#include <span>

namespace mscclc::json {

/// The types of a table in the order of first appearance. There are `count` of them.
struct TableTypes {
  std::array<ir::ChannelType, 4> types{};
  std::size_t count = 0;
  std::span<const ir::ChannelType> list() const { return {types.data(), count}; }
};

/// Returns the types in a block's table.
inline TableTypes typesOf(const std::vector<ir::ResourceUse> &table) {
  TableTypes found;
  unsigned seen = 0;
  for (const ir::ResourceUse &use : table) {
    const unsigned bit = 1u << unsigned(use.type);
    if (seen & bit)
      continue;
    seen |= bit;
    found.types[found.count++] = use.type;
  }
  return found;
}

/// Calls f(position, id) for each entry of `type`. The position counts only entries of that type.
template <typename F> void forEachOfType(const std::vector<ir::ResourceUse> &table, ir::ChannelType type, F f) {
  std::uint32_t position = 0;
  for (const ir::ResourceUse &use : table)
    if (use.type == type)
      f(position++, use.id);
}

/// Finds the position of an id among the entries of its type in the current block's table, in constant time. One object
/// serves all blocks of a rank. Each slot has the number of the block that set it, so slots of earlier blocks are
/// ignored.
class LocalIndex {
public:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  /// Begins a rank with `size` ids.
  void resize(std::size_t size) { slots_.assign(size, {0, 0}); }
  /// Loads the entries of `type` from the table of block `block`. The first entry of an id counts.
  void load(const std::vector<ir::ResourceUse> &table, ir::ChannelType type, std::uint32_t block) {
    stamp_ = block + 1;
    forEachOfType(table, type, [&](std::uint32_t position, std::uint32_t id) {
      if (id < slots_.size() && slots_[id].stamp != stamp_)
        slots_[id] = {stamp_, position};
    });
  }
  std::uint32_t operator[](std::uint32_t id) const {
    return id < slots_.size() && slots_[id].stamp == stamp_ ? slots_[id].position : absent;
  }

private:
  struct Slot {
    std::uint32_t stamp, position;
  };
  std::vector<Slot> slots_;
  std::uint32_t stamp_ = 0;
};

} // namespace mscclc::json
