// Chooses a channel for each call whose operation names no channel.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// Returns, for each operation of `block`, the channel that its call names. A put or a reduction through memory names
/// only the remote buffer. It gets a channel to the rank of that buffer, chosen so that the block's tables keep their
/// order. Other operations get the first channel that they name, or 0. The program must consist of calls (calls.h).
/// Throws NoSource if the calls would make other tables than those of the block.
std::vector<std::uint32_t> channelsOf(const ir::Rank &rank, const ir::ThreadBlock &block);

/// True if calls that name `channels` (one entry for each operation) make the same tables as those of the block.
bool makesTables(const ir::Rank &rank, const ir::ThreadBlock &block, const std::vector<std::uint32_t> &channels);

} // namespace mscclc::dsl
