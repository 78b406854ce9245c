// The contents of inputs and outputs at the end of a launch, for callers of verify() that ask for them.
#pragma once

#include "passes/run/memory.h"
#include "passes/verify/values.h"

#include <array>

namespace mscclc::passes::proof {

/// The contents of inputs and outputs. A reduction is a chain (Values::chain) in the order of an operation's sources. A
/// reduction by a switch has no known order, so it is one reduction with as many parts as there are ranks.
class FinalBuffers {
public:
  FinalBuffers(const ir::Program &program, const Memory &memory, const Values &values, std::uint32_t unitsPerChunk)
      : program(program), values(values), unitsPerChunk(unitsPerChunk), held_(program.ranks.size()) {
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
      for (const auto buffer : {ir::BufferKind::Input, ir::BufferKind::Output})
        for (std::uint64_t unit = 0; unit < std::uint64_t{program.ranks[r].chunksOf(buffer)} * unitsPerChunk; ++unit)
          held_[r][static_cast<std::size_t>(buffer)].push_back(
              memory[static_cast<CellId>(memory.base(r, buffer, false) + unit)].value);
  }

  const ir::Program &program;
  const Values &values;
  const std::uint32_t unitsPerChunk;

  /// Returns the value of unit `unit` of an input or output. Units are counted through all chunks.
  ValueId of(std::uint32_t rank, ir::BufferKind buffer, std::uint64_t unit) const {
    return held_[rank][static_cast<std::size_t>(buffer)][unit];
  }

private:
  std::vector<std::array<std::vector<ValueId>, 2>> held_; ///< [rank][buffer][unit]
};

} // namespace mscclc::passes::proof
