// A function that replaces the functions of hooks, which are not known here.
//
// It works on bits. Each byte of the result depends on the whole row, on the arrays of the rank, and on the number of
// earlier changes of these arrays. So a result is right only if the function was applied once to the final value of
// each row, by the promised rank and at the promised place.
#pragma once

#include "passes/simulate/numbers.h"

namespace mscclc::passes::sim {

/// Returns the number of bytes to which hook `hook` is applied at once: those of a row, an element or a block. Chunks
/// and slices consist of whole rows, elements or blocks.
std::uint64_t testRowBytes(const ir::Program &program, std::uint32_t hook, DataType type);

/// Returns the contents of the arrays of `hook` at the beginning of a launch, for the row that begins at byte `offset`
/// of the output of `rank`.
std::uint64_t testArrays(const ir::Program &program, std::uint32_t hook, std::uint32_t rank, std::uint32_t launch,
                         std::uint64_t offset);

/// Applies the function to a row of `bytes` bytes. Returns the new contents of the arrays that it writes.
std::uint64_t applyTestHook(std::uint64_t arrays, std::byte *row, std::uint64_t bytes);

} // namespace mscclc::passes::sim
