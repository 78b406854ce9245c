// Limits of the size of a program. No useful plan exceeds them, and the compiler would run out of memory.
#pragma once

#include "ir/structure.h"

#include <cstdint>

namespace mscclc::frontend {

/// The most bytes of a source file.
inline constexpr std::uint64_t maxSourceBytes = std::uint64_t{32} << 20;
inline constexpr std::int64_t maxRanks = ir::maxRanks;
/// The most chunks of a buffer, or of a rank's scratch. Indices are 32 bits wide.
inline constexpr std::int64_t maxChunks = 0xffffffff;
/// The most thread blocks of a rank. They all run at the same time, and no GPU holds more.
inline constexpr std::int64_t maxBlocks = 4096; // emit_ops packs numbers of blocks into 12 bits, and ranks into 16
/// The most copies of a program.
inline constexpr std::int64_t maxInstances = ir::maxInstances;
/// The most bytes of memory for a program's operations. Groups and barriers multiply operations, so even a short
/// recording may need any amount.
inline constexpr std::uint64_t maxProgramBytes = std::uint64_t{8} << 30;

} // namespace mscclc::frontend
