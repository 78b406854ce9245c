// Keeps the operations on a channel in the program's order. An operation on several channels gives the i-th one to the
// i-th thread of the block, from the last one on. So different threads may do two operations on one channel.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

/// Marks in `before` (one entry for each operation of the block; marks in it are kept) the operations before which the
/// block must synchronise. Before such an operation, another thread waits on, signals on, or asks the proxy for the
/// same channel in the same phase. The order matters: waits count the signals that they have seen in a word of the
/// channel, signals may count those that they sent, and requests for a port are served in the order of their numbers.
void markUnorderedChannels(const ir::Rank &rank, const ir::ThreadBlock &block, std::vector<char> &before);

} // namespace mscclc::cuda
