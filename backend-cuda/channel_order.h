// Keeps the operations on a channel in the program's order: an operation on several channels gives the i-th to the i-th
// thread of the block, so two operations may reach one channel by different threads.
#pragma once

#include "ir/program.h"

#include <cstddef>
#include <vector>

namespace mscclc::cuda {

/// Marks in `before` (one for each operation of the block, marks there are kept) the operations in front of which the
/// block has to synchronise, because an earlier one of the same phase waits on, signals on, or asks the proxy for, the
/// same channel by another thread. Waits count what they have seen in a word of the channel, signals may count so what
/// they sent, and requests for a port are served in the order of their numbers.
void markUnorderedChannels(const ir::Rank &rank, const ir::ThreadBlock &block, std::vector<char> &before);

} // namespace mscclc::cuda
