// Versions of chunks. They show for each read which writes of the same block it sees.
//
// Within a thread block, every write to a local place defines a new version of the chunks that it covers. The version
// is the index of the writing operation. A read sees the versions that cover its range at that point, from left to
// right. `initialVersion` is the version of memory that the block has not yet written. An operation reads all its
// sources before it writes.
// - Aliases count. In place, input and output are one memory (memory_map.h). Packet chunk k of scratch covers plain
//   chunks [2k, 2k + 2). A switch operand is also an access to this rank's own share of the group's buffer.
// - Remote operands have no versions. Data between blocks and ranks is ordered by synchronisation.
// - A block of a thread-block group defines its slice only, but the version covers the whole range.
// - A pipeline's body is taken once: iterations touch disjoint slices of each chunk.
// Versions are derived, never stored in a program. Chunks may be out of bounds here.
#pragma once

#include "ir/memory_map.h"

#include <map>
#include <span>
#include <string>

namespace mscclc::ir {

/// Index (into ThreadBlock::ops) of the operation that wrote a chunk last, or initialVersion.
using Version = std::uint32_t;
inline constexpr Version initialVersion = ~Version{0};

/// Returns "%3", "%in", "%{in, 3}" or "no version". `cut` says that there are more versions: "%{in, 3, ..}".
std::string describe(std::span<const Version> versions, bool cut);

/// True if `op` writes a local place, or its rank's share of a switch buffer. Then it defines a version.
bool definesVersion(const ThreadBlock &block, const Op &op);

/// Walks forward through a block and keeps the versions at the current point. define() takes O(log n) for each write,
/// and see() takes O(log n + size of its result).
class VersionTracker {
public:
  /// Starts before the first operation of a block of `rank`. `program` must outlive this.
  VersionTracker(const Program &program, std::uint32_t rank);

  /// Appends to `out` the versions that source `index` of `op` sees, from left to right. Equal neighbours count once.
  /// Stops after `limit` versions, and returns false if there are more. Appends nothing for a remote operand.
  bool see(const Op &op, std::uint32_t index, const Chunk &chunk, std::size_t limit, std::vector<Version> &out) const;
  /// Steps over the operation: its writes become version `version`.
  void define(const ThreadBlock &block, const Op &op, Version version);

private:
  /// Returns the memory of this rank that a chunk covers. It is empty for a place without versions.
  MemoryRange rangeOf(const Chunk &chunk, DataForm form) const;

  const Program &program_;
  std::uint32_t rank_;
  /// For each canonical buffer: begin of a segment → its version. A segment ends where the next one begins.
  std::map<std::uint64_t, Version> segments_[3];
};

} // namespace mscclc::ir
