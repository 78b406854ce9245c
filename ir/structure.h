// The structural checker: is the input a program at all?
//
// It runs on all input (IR text, plans) and between passes. Every other part may rely on what it checks. Ranges lie
// inside their arrays, and ids name something. Each operation has the operands, channels and ids of its kind
// (op_shapes.h). Chunks lie inside their buffers, and block tables hold what the operations use. A program has
// statements of the movement form (movement.h) or operations, not both. Other parts check for races, deadlocks, wrong
// results and overlapping places of statements, and for the limits of an executor.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstdint>
#include <functional>

namespace mscclc::ir {

/// The largest number of ranks of a program. Data that passes keep for pairs of ranks takes a gigabyte then.
inline constexpr std::uint32_t maxRanks = 65536;
/// The largest number of instances of a program.
inline constexpr std::uint32_t maxInstances = 4096;
/// The largest initial value of a semaphore. Devices count semaphores in int.
inline constexpr std::uint32_t maxSemaphoreValue = 0x7fffffff;

/// The largest number of thread blocks of a rank that statements of the movement form may name.
inline constexpr std::uint32_t maxMoveBlocks = 65536;

/// The place of a fault in a program: an operation, or a statement of the movement form. Where fields are `none`, it is
/// a block, a rank or the whole program.
struct ProgramPlace {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t rank = none;
  std::uint32_t block = none;
  std::uint32_t op = none;
  std::uint32_t statement = none; ///< index into Movement::statements; then the other fields are `none`
};

/// Returns a place in words: "rank 1, block 0, operation 3", or "statement 3". Fields that are `none` are left out.
std::string describe(const ProgramPlace &place);

/// Checks the program in one linear pass. Returns true if it is well formed. Reports a fault at the operation's
/// location, or with the place in words if the operation has no location. Stops after many faults.
bool checkStructure(const Program &program, DiagnosticEngine &diagnostics);

/// Does the same for a reader that knows the places of operations in its input: `show` returns such a place.
using ShowPlace = std::function<ShownPlace(const ProgramPlace &)>;
bool checkStructure(const Program &program, DiagnosticEngine &diagnostics, const ShowPlace &show);

/// Throws InternalError if statements are left for which no pass has made thread blocks, or if rank 0 represents all
/// ranks (FoldedRanks). Code for thread blocks calls this first, because such a program, or rank, would look empty.
void requireBlocks(const Program &program);

} // namespace mscclc::ir
