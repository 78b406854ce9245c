// Keeps the operations on a channel in the program's order. The i-th channel of an operation is handled by thread i,
// counted from the block's last thread. So two operations on one channel may be done by different threads.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

/// Marks in `before` the operations before which the block must synchronise. `before` has one entry for each operation
/// of the block, and earlier marks are kept. An operation is marked if another thread has used the same channel in the
/// same way in this phase: to wait, to signal, or to request a transfer. The order of two such uses matters. A wait
/// counts the signals that it has seen in a word of the channel, a signal may count the signals that were sent, and a
/// port serves requests in the order of their numbers.
void markUnorderedChannels(const ir::Rank &rank, const ir::ThreadBlock &block, std::vector<char> &before);

} // namespace mscclc::cuda
