// Finds programs whose instances would touch each other's chunks.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

namespace mscclc::passes {

/// Reports, once for each buffer, two operations that make instances of `program` share a chunk which one of them
/// writes: interleaving gives instance i of an operation on chunks [k, k + s) the chunks from k·n + i·s, so two
/// operations that cut a buffer differently disagree on whose chunk it is. Plain chunks and packets are looked at
/// apart. O(n log n) in the different pieces of a buffer; buffers cut in equal pieces are dismissed in linear time.
void reportSharedChunks(const ir::Program &program, ir::DiagnosticEngine &diags);

} // namespace mscclc::passes
