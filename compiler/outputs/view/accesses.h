// The chunks that operations access, as the page shows them.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace mscclc::driver {

/// A buffer on the page. Scratch is divided into chunks and into packets, so packets are shown as a separate buffer.
enum class ShownBuffer : std::uint8_t { Input, Output, Scratch, Packets };
inline constexpr std::string_view shownBuffers[] = {"input", "output", "scratch", "packets"};

/// Chunks [index, index + size) of a buffer of a rank. Aliases are resolved: in place, input and output are the same
/// buffer.
struct ShownChunks {
  std::uint32_t rank = 0;
  ShownBuffer buffer = ShownBuffer::Input;
  std::uint32_t index = 0, size = 0;
};

/// The chunks that an operation reads and writes. An operand of a switch channel stands for chunks on each rank of the
/// channel's group.
struct ShownAccesses {
  std::vector<ShownChunks> reads, writes;
  bool pairwise = false; ///< write i stores read i; otherwise each write stores the reduction of all reads
};

/// Returns the chunks that `op` reads and writes. `block`: the block of `op`, on `rank`.
ShownAccesses accessesOf(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block,
                         const ir::Op &op);

/// Returns the chunks that hold the input at the beginning of the launch.
ShownChunks inputOf(const ir::Program &program, std::uint32_t rank);

} // namespace mscclc::driver
