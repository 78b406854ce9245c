// Divides a program into a kernel that sends and one that receives (ir::Program::split).
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "ir/rows.h"

#include <cstdint>

namespace mscclc::cuda {

/// Returns how many operations of a block the kernel that sends has: those before the first one that waits for another
/// rank or another block. A pipeline waits if an operation of its body does. `rows`: EmitOptions::rows; an operation on
/// rows of another rank, or on a packed output, waits for counts.
std::size_t operationsThatSend(const ir::Program &program, const ir::RowSlots *rows, std::uint32_t rank,
                               std::uint32_t block);

/// Refuses a program whose kernel that sends would have to wait, or would send nothing. Returns false after an error.
/// Does nothing if the program is not split.
bool checkSplit(const ir::Program &program, const ir::RowSlots *rows, ir::DiagnosticEngine &diagnostics);

} // namespace mscclc::cuda
