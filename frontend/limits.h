// How large a program may be. Beyond these no plan is of use, and the compiler would only run out of memory.
#pragma once

#include "ir/structure.h"

#include <cstdint>

namespace mscclc::frontend {

/// Of a source file, in bytes.
inline constexpr std::uint64_t maxSourceBytes = std::uint64_t{32} << 20;
inline constexpr std::int64_t maxRanks = ir::maxRanks;
/// Chunks of a buffer, and of a rank's scratch: indices are 32 bits wide.
inline constexpr std::int64_t maxChunks = 0xffffffff;
/// Thread blocks of a rank. They all run at once, and no GPU holds more.
inline constexpr std::int64_t maxBlocks = 4096; // 12 bits, and ranks 16: emit_ops packs them
/// Copies of a program.
inline constexpr std::int64_t maxInstances = ir::maxInstances;
/// Memory that a program's operations may take. Groups and barriers multiply, so a short recording can ask for any
/// amount.
inline constexpr std::uint64_t maxProgramBytes = std::uint64_t{8} << 30;

} // namespace mscclc::frontend
