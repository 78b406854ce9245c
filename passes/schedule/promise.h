#pragma once

#include "passes/schedule/chunk_memory.h"
#include "passes/schedule/statement_findings.h"

namespace mscclc::passes::schedule {

/// Compares outputs with the promise of the collective. Reports a wrong value at the statement that made it. If no
/// reduction or hook made it, reports it at the last statement that wrote the chunk. Ignores chunks with
/// Values::unknown, which were reported before.
void checkPromise(const ir::Program &program, const ChunkMemory &memory, proof::Values &values,
                  StatementFindings &findings);

} // namespace mscclc::passes::schedule
