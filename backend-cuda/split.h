// Divides a program into a kernel that sends and one that receives (ir::Program::split).
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"
#include "ir/rows.h"

#include <cstdint>

namespace mscclc::cuda {

/// Returns the number of operations of a block that belong to the kernel that sends. These are the operations before
/// the first one that waits for another rank or another block. A pipeline waits if an operation of its body waits.
/// `rows`: EmitOptions::rows. An operation on rows of another rank, or on a packed output, waits for counts.
std::size_t operationsThatSend(const ir::Program &program, const ir::RowSlots *rows, std::uint32_t rank,
                               std::uint32_t block);

/// Refuses a program if its sending kernel would have to wait, or would send nothing. Returns false after an error.
/// Does nothing if the program is not split.
bool checkSplit(const ir::Program &program, const ir::RowSlots *rows, ir::DiagnosticEngine &diagnostics);

} // namespace mscclc::cuda
