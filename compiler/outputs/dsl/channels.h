// Chooses a channel for calls whose operation does not name one.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// Returns, for each operation of `block`, the channel of its type for its call. Puts and reductions through memory
/// name only the remote buffer. They get a channel to its rank, so that the block's tables keep their order. Other
/// operations get the first channel that they name, or 0. The program must consist of calls (calls.h). If calls would
/// make other tables than the block's, throws NoSource.
std::vector<std::uint32_t> channelsOf(const ir::Rank &rank, const ir::ThreadBlock &block);

/// True if calls with `channels`, one entry for each operation, make the tables of the block in the same order.
bool makesTables(const ir::Rank &rank, const ir::ThreadBlock &block, const std::vector<std::uint32_t> &channels);

} // namespace mscclc::dsl
