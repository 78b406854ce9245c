#include "passes/simulate/test_hook.h"

#include <algorithm>

namespace mscclc::passes::sim {

namespace {

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

} // namespace

std::uint64_t testRowBytes(const ir::Program &program, std::uint32_t hook, DataType type) {
  const bool isElement = program.hooks[hook].granularity == ir::Granularity::Element;
  return isElement ? sizeOf(type) : std::max(program.bufferAlignment, sizeOf(type)); // both are powers of two
}

std::uint64_t testArrays(const ir::Program &program, std::uint32_t hook, std::uint32_t rank, std::uint32_t launch,
                         std::uint64_t offset) {
  const std::uint64_t owner = program.hooks[hook].isOfRank() ? rank + std::uint64_t{1} : 0;
  return mixed(mixed(mixed(owner) + launch) + (std::uint64_t{hook} << 48) + offset);
}

std::uint64_t applyTestHook(std::uint64_t arrays, std::byte *row, std::uint64_t bytes) {
  std::uint64_t all = arrays;
  for (std::uint64_t i = 0; i < bytes; ++i)
    all = mixed(all + static_cast<std::uint64_t>(row[i]) + 1);
  for (std::uint64_t i = 0; i < bytes; ++i)
    row[i] ^= static_cast<std::byte>(mixed(all + i));
  return all;
}

} // namespace mscclc::passes::sim
