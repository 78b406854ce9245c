// Which collective a schedule is for, and how long its buffers are.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

namespace mscclc::xml {

/// Of all buffers of all gpus. Each takes some tens of bytes of the reader.
inline constexpr std::uint64_t mostChunks = std::uint64_t{1} << 22;

/// A program for the collective that `schedule` names, without statements, whose buffers are counted in the schedule's
/// own chunks. What the collective asks of them is reported where the schedule cannot meet it. A name that is no known
/// collective's is that of a custom one, of whose outputs nothing is promised; with a warning, but for "custom".
ir::Program programFor(const Schedule &schedule, Findings &findings);

/// How many chunks of the program one of the schedule becomes, so that the collective has as many as it asks for: those
/// of an all-reduce are a multiple of the ranks.
std::uint32_t chunksOfOne(const ir::Program &program);

/// Multiplies all chunks of `program`, those of statements, too.
void multiplyChunks(ir::Program &program, std::uint32_t factor);

/// Sets the root of a collective that has one: XML does not say it. It is the rank that makes most outputs hold what
/// the collective asks for, the lowest of several.
void findRoot(ir::Program &program);

} // namespace mscclc::xml
