// The structural checker: is this a program at all?
//
// It is run on whatever comes from outside (IR text, plans) and between passes. What it accepts, every other part may
// rely on: ranges lie inside their arrays, ids name something, each operation has the operands, channels and ids that
// its kind takes (op_shapes.h), chunks lie inside their buffers, block tables hold what the operations use. A program
// has statements of the movement form (movement.h) or operations, not both. Whether the program is right (races,
// deadlocks, results, statements whose places overlap) and within an executor's limits is asked elsewhere.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstdint>
#include <functional>

namespace mscclc::ir {

/// Of a program. What passes keep of pairs of ranks is a gigabyte then.
inline constexpr std::uint32_t maxRanks = 65536;
/// Copies of a program.
inline constexpr std::uint32_t maxInstances = 4096;
/// What a semaphore may start at: devices count in int.
inline constexpr std::uint32_t maxSemaphoreValue = 0x7fffffff;

/// Thread blocks of a rank that statements of the movement form may name.
inline constexpr std::uint32_t maxMoveBlocks = 65536;

/// Something of a program that a fault lies in: an operation, or where fields are `none` a block, a rank, the program;
/// or a statement of the movement form.
struct ProgramPlace {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t rank = none;
  std::uint32_t block = none;
  std::uint32_t op = none;
  std::uint32_t statement = none; ///< into Movement::statements; the others are `none` then
};

/// "rank 1, block 0, operation 3", as far as the place goes; or "statement 3".
std::string describe(const ProgramPlace &place);

/// Checks in one linear pass; true if the program is well formed. A fault is reported at the operation's location, or
/// in words where it has none. The search ends after many faults.
bool checkStructure(const Program &program, DiagnosticEngine &diagnostics);

/// The same, for a reader that knows where in its input each thing stood.
using ShowPlace = std::function<ShownPlace(const ProgramPlace &)>;
bool checkStructure(const Program &program, DiagnosticEngine &diagnostics, const ShowPlace &show);

/// Throws InternalError where statements are left that no pass has made thread blocks of, or rank 0 alone has those of
/// all ranks (FoldedRanks): for whoever works on thread blocks and would take such a program, or rank, for an empty
/// one.
void requireBlocks(const Program &program);

} // namespace mscclc::ir
