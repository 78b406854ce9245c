// Through which channel a call goes whose operation does not say so.
#pragma once

#include "ir/program.h"

#include <vector>

namespace mscclc::dsl {

/// By operation of `block`: the channel of its type that its call goes through. Puts and reductions through memory name
/// the remote buffer alone; they get a channel that leads there, so that the block's table of channels comes out in its
/// order. Of other operations: the first channel they name, or 0. The program is one of calls (calls.h).
std::vector<std::uint32_t> channelsOf(const ir::Rank &rank, const ir::ThreadBlock &block);

} // namespace mscclc::dsl
