#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Says of each statement which thread block of its rank executes it.
///
/// What conflicts in the rank's own memory stays in one block: the sum of a share with the puts that send it on, what
/// is read of a place with what is stored there later. Such clusters are dealt out over `blocks` blocks, in the order
/// of their distance from the rank. With `stages`, each stage of the way that data takes has such blocks of its own, so
/// that a pipeline keeps all of them busy: a stage ends where data goes on to another rank. Where there are shares of
/// the message for all blocks, what a rank does with one share goes to one block, too.
///
/// For an executor, a block that would need more channels or remote buffers than it takes becomes several.
///
/// Where all ranks do the same (statement_symmetry.h), the statements of rank 0 are dealt out, and those of the others
/// go to the same blocks.
///
/// A statement whose block is given keeps it, and takes its cluster along. Blocks are numbered densely, in the order of
/// the numbers given.
///
/// Requires: placed statements. Provides: every statement has `block`.
Pass createCutPass();

} // namespace mscclc::passes
