// Finds the collective of a schedule and the length of its buffers.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

namespace mscclc::xml {

/// The most chunks of all buffers of all gpus together. The reader needs some tens of bytes for each chunk.
inline constexpr std::uint64_t mostChunks = std::uint64_t{1} << 22;

/// Returns a program without statements, for the collective that `schedule` names. Buffers are counted in the
/// schedule's own chunks. Reports where the schedule does not meet the collective's requirements. An unknown name
/// becomes a custom collective without promises about its outputs, with a warning unless the name is "custom".
ir::Program programFor(const Schedule &schedule, Findings &findings);

/// Returns the number of the program's chunks that make one chunk of the schedule. The collective may require a
/// multiple: the chunks of an all-reduce are a multiple of the ranks.
std::uint32_t chunksOfOne(const ir::Program &program);

/// Multiplies all chunks of `program`, including those of statements.
void multiplyChunks(ir::Program &program, std::uint32_t factor);

/// Sets the root if the collective has one, because XML does not contain it. The root is the rank with which most
/// outputs are right; of several such ranks, the lowest.
void findRoot(ir::Program &program);

} // namespace mscclc::xml
