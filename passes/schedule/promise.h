#pragma once

#include "passes/schedule/chunk_memory.h"
#include "passes/schedule/statement_findings.h"

namespace mscclc::passes::schedule {

/// Compares outputs with what the collective promises. Reports at the statement that wrote the chunk last. What holds
/// Values::unknown was reported before, and is left out.
void checkPromise(const ir::Program &program, const ChunkMemory &memory, proof::Values &values,
                  StatementFindings &findings);

} // namespace mscclc::passes::schedule
