// Finds programs whose instances would access each other's chunks.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes {

/// Reports two operations of `program` whose instances would share a chunk that one of them writes, once for each
/// buffer. Replication gives instance i of an operation on chunks [k, k + s) the chunks [k·n + i·s, k·n + (i + 1)·s).
/// So two operations that divide a buffer differently disagree about the instance that owns a chunk. Example with 2
/// instances: an operation on chunks [0, 2) becomes [0, 2) and [2, 4). An operation on chunk [1, 2) becomes [2, 3) and
/// [3, 4). The second instance of the one and the first instance of the other share chunk 2.
///
/// Plain chunks and packets are separate. Costs O(n log n) for n different pieces of a buffer. Buffers that are divided
/// into equal pieces take linear time.
void reportSharedChunks(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
