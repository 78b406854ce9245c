// Through which channel a call goes whose operation does not say so.
#pragma once

#include "ir/program.h"

#include <optional>
#include <string>
#include <vector>

namespace mscclc::dsl {

/// By operation of `block`: the channel of its type that its call goes through. Puts and reductions through memory name
/// the remote buffer alone; they get a channel that leads there, so that the block's tables come out in their order. Of
/// other operations: the first channel that they name, or 0. The program is one of calls (calls.h). Nothing, and `why`,
/// if calls would make other tables than the block's.
std::optional<std::vector<std::uint32_t>> channelsOf(const ir::Rank &rank, const ir::ThreadBlock &block,
                                                     std::string &why);

/// True if calls through `channels`, by operation, enter what the block's tables have, in their order.
bool makesTables(const ir::Rank &rank, const ir::ThreadBlock &block, const std::vector<std::uint32_t> &channels);

} // namespace mscclc::dsl
