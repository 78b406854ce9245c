// The chunks of operands for the page.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A buffer on the page. Scratch has two scales, chunks and packets, so packets are shown separately.
enum class ShownBuffer : std::uint8_t { Input, Output, Scratch, Packets };
inline constexpr std::string_view shownBuffers[] = {"input", "output", "scratch", "packets"};

/// Chunks [index, index + size) of a buffer of a rank, with aliases resolved: in place, input and output are one
/// buffer.
struct ShownChunks {
  std::uint32_t rank = 0;
  ShownBuffer buffer = ShownBuffer::Input;
  std::uint32_t index = 0, size = 0;
};

/// The chunks that an operation reads and writes. An operand behind a switch channel has one on each rank of its group.
struct ShownAccesses {
  std::vector<ShownChunks> reads, writes;
  bool pairwise = false; ///< write i gets read i; else each write gets all reads, reduced
};

/// Returns the chunks that `op`, of a block of `rank`, reads and writes.
ShownAccesses accessesOf(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
                         const ir::Op &op);

/// Returns the chunks that hold the input at the beginning of the launch.
ShownChunks inputOf(const ir::Program &program, std::uint32_t rank);

} // namespace mscclc::driver
