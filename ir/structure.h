// The structural checker: is this a program at all?
//
// It is run on whatever comes from outside (IR text, plans) and between passes. What it accepts, every other part may
// rely on: ranges lie inside their arrays, ids name something, each operation has the operands, channels and ids that
// its kind takes (op_shapes.h), chunks lie inside their buffers, block tables hold what the operations use. Whether the
// program is right (races, deadlocks, results) and within an executor's limits is asked elsewhere.
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

/// Something of a program that a fault lies in: an operation, or where fields are `none` a block, a rank, the program.
struct ProgramPlace {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t rank = none;
  std::uint32_t block = none;
  std::uint32_t op = none;
};

/// "rank 1, block 0, operation 3", as far as the place goes.
std::string describe(const ProgramPlace &place);

/// Checks in one linear pass; true if the program is well formed. A fault is reported at the operation's location, or
/// in words where it has none. The search ends after many faults.
bool checkStructure(const Program &program, DiagnosticEngine &diagnostics);

/// The same, for a reader that knows where in its input each thing stood.
using ShowPlace = std::function<ShownPlace(const ProgramPlace &)>;
bool checkStructure(const Program &program, DiagnosticEngine &diagnostics, const ShowPlace &show);

} // namespace mscclc::ir
