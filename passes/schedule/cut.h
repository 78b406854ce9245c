#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Assigns each statement to a thread block of its rank.
///
/// Statements that conflict in the rank's own memory stay in one block. Examples are the sum of a share and the puts
/// that send it on, or a read of a place and a later store to it. These clusters are distributed to `blocks` blocks, in
/// the order of their distance from the rank. With `stages`, each stage on the way of the data has its own blocks, so
/// that a pipeline keeps all stages busy. A stage ends where data goes to another rank. In the first stage, clusters
/// that are nothing but port puts go to one more block. If there are at least as many message shares as blocks, all
/// statements of a rank for one share may go to one block, too.
///
/// Example: a rank sends its chunk to 4 peers, with `blocks` = 2. The four statements do not conflict, so they are 4
/// clusters. Those for the peers at distance 1 and 3 go to block 0, and those at distance 2 and 4 to block 1.
///
/// For an executor, a block that would need too many channels or remote buffers is split.
///
/// If all ranks are equivalent (statement_symmetry.h), only the statements of rank 0 are distributed. Statements of
/// other ranks go to the same blocks as their representatives.
///
/// A statement with a given block keeps it, and so does its cluster. Blocks are numbered densely, in the order of the
/// given numbers.
///
/// This pass comes after order, so that candidates that differ only in blocks share the results of place and order. It
/// comes before share-scratch, which needs the blocks to find uses that are over.
///
/// Requires: placed statements. Provides: every statement has `block`.
Pass createCutPass();

} // namespace mscclc::passes
