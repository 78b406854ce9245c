// Which chunks of which ranks the operands of an operation are, as the page shows them.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A buffer as the page shows it. Scratch has two scales, chunks and packets, so packets are shown apart.
enum class ShownBuffer : std::uint8_t { Input, Output, Scratch, Packets };
inline constexpr std::string_view shownBuffers[] = {"input", "output", "scratch", "packets"};

/// Chunks [index, index + size) of a buffer of a rank, where they really lie: of a collective in place, input and
/// output are one buffer.
struct ShownChunks {
  std::uint32_t rank = 0;
  ShownBuffer buffer = ShownBuffer::Input;
  std::uint32_t index = 0, size = 0;
};

/// What an operation reads and writes. An operand behind a switch channel is one of each rank of its group.
struct ShownAccesses {
  std::vector<ShownChunks> reads, writes;
  bool pairwise = false; ///< the i-th write gets the i-th read; else each gets all reads, reduced
};

/// What `op`, of a block of `rank`, reads and writes.
ShownAccesses accessesOf(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
                         const ir::Op &op);

/// The chunks in which the launch finds its input.
ShownChunks inputOf(const ir::Program &program, std::uint32_t rank);

} // namespace mscclc::driver
