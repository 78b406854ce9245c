// How many thread blocks a launch of a kernel takes, by the size of its message (--blocks-by-size).
#pragma once

#include "compiler/outputs/outputs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mscclc::driver {

/// The number of instances of the program's blocks in a launch, from a message size on.
struct BlocksFrom {
  std::uint64_t bytes = 0;         ///< size of the message
  std::uint32_t instances = 1;     ///< a power of two
  std::uint32_t blocks = 0;        ///< blocks of the rank with the most
  passes::time::Time one = 0;      ///< nanoseconds of a launch of `bytes` with one instance
  passes::time::Time together = 0; ///< nanoseconds of that launch with all `instances`
};

/// Returns the numbers of instances that pay, by the time model of the job's machine, by ascending sizes: the fewest
/// that are within 2 % of the fastest. Each size from 1 KiB to 1 GiB that is a power of two is looked at. A part of a
/// message is never shorter than the messages that the program takes, since the proof is of these. No row: a launch
/// always takes one instance, because no other number pays, or because the program allows none.
std::vector<BlocksFrom> blocksBySize(const Job &job);

/// Returns what makes one number of blocks do for all sizes, as "ports"; empty if a launch may take several instances.
std::string whyOneInstance(const ir::Program &program);

/// Returns the rows as a paragraph of --explain.
std::string shownBlocks(const std::vector<BlocksFrom> &rows);

} // namespace mscclc::driver
