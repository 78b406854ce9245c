// Checks whether packets can hold the values of a wire format.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <functional>

namespace mscclc::passes::schedule {

/// True if packets allow all that `given` does with values in a wire format (wire_hops.h):
/// - A rank's own value is in scratch only to be encoded. The message still holds this value when another rank or a sum
///   takes it.
/// - Each other value in scratch comes from another rank, or is a sum that the next statement copies to its rank's
///   message.
/// - A sum takes its rank's own value, and values that came from other ranks.
/// - Each value that comes from another rank is read.
///
/// `given`: the statements of `program`, whose places have sizes and offsets that are multiples of `piece` chunks.
/// `isAskedFor(statement, from, to)`: true if the data that `statement` moves from rank `from` to rank `to` should
/// travel in packets.
bool wireFitsPackets(const ir::Program &program, const ir::Movement &given, std::uint32_t piece,
                     const std::function<bool(const ir::Move &, std::uint32_t, std::uint32_t)> &isAskedFor);

} // namespace mscclc::passes::schedule
