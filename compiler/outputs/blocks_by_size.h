// The number of thread blocks that a launch of a kernel takes, depending on the message size (--blocks-by-size).
#pragma once

#include "compiler/outputs/outputs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::driver {

/// The number of instances that a launch takes if its message has at least `bytes` bytes.
struct BlocksFrom {
  std::uint64_t bytes = 0;         ///< message size from which on this number is taken
  std::uint32_t instances = 1;     ///< a power of two
  std::uint32_t blocks = 0;        ///< the most thread blocks of a rank
  passes::time::Time one = 0;      ///< time of a launch of `bytes` with one instance, in nanoseconds
  passes::time::Time together = 0; ///< time of a launch of `bytes` with all `instances`, in nanoseconds
};

/// Returns a row for each message size at which a launch should change its number of instances, in ascending order. At
/// each size, the number is the smallest one whose time is within 2 % of the best, by the time model of the job's
/// machine. The powers of two from 1 KiB to 1 GiB are compared. The part of a message that an instance moves is never
/// smaller than the program's smallest message, because the proof covers no smaller one. Returns no row if one instance
/// is always enough, or if the program allows only one.
std::vector<BlocksFrom> blocksBySize(const Job &job);

/// Returns the property that limits launches of the program to one instance: "port channels"; empty if there is no such
/// limit.
std::string whyOneInstance(const ir::Program &program);

/// Returns the paragraph of --explain about the rows.
std::string shownBlocks(const std::vector<BlocksFrom> &rows);

} // namespace mscclc::driver
