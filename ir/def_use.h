// Versions of chunks: which write of its own block each read sees.
//
// Within a thread block every write of a local place defines a new version of the chunks it covers, named by the
// index of the writing operation; a read sees the versions that cover its range at that point, left to right. What lay
// there before the block wrote is `initialVersion`. An operation reads all its sources before it writes.
// - Aliases count: in place, input and output are one memory (memory_map.h); packet chunk k of scratch covers plain
//   chunks [2k, 2k + 2); a switch operand is an access of this rank's own share of the group's buffer, too.
// - Remote operands have no versions: what crosses blocks and ranks goes over synchronisation edges.
// - A block of a thread-block group defines its slice; the version is named for the whole range nevertheless.
// - A pipeline's body is taken once: iterations touch disjoint slices of each chunk.
// Results are derived, never stored in a program. Chunks may be out of bounds here; nothing depends on it.
#pragma once

#include "ir/memory_map.h"

#include <map>

namespace mscclc::ir {

/// Index (into ThreadBlock::ops) of the operation that wrote a chunk last, or initialVersion.
using Version = std::uint32_t;
inline constexpr Version initialVersion = ~Version{0};

/// True if `op` writes a local place or its share of a switch buffer, and so defines a version.
bool definesVersion(const ThreadBlock &block, const Op &op);

/// Walks a block forward and knows the versions at the current point. A step costs O(log n) for each write; a question
/// O(log n + what it returns).
class VersionTracker {
public:
  /// Starts before the first operation of a block of `rank`. Program and rank must stay.
  VersionTracker(const Program &program, std::uint32_t rank);

  /// Appends to `out` the versions that source `index` of `op` sees: left to right, neighbours that are equal once.
  /// Stops after `limit` of them and returns false if there are more. Appends nothing for a remote operand.
  bool see(const Op &op, std::uint32_t index, const Chunk &chunk, std::size_t limit, std::vector<Version> &out) const;
  /// Steps over the operation: its writes become version `version`.
  void define(const ThreadBlock &block, const Op &op, Version version);

private:
  /// What a chunk covers of this rank's memory; empty for a place that has no versions.
  MemoryRange rangeOf(const Chunk &chunk, DataForm form) const;

  const Program &program_;
  std::uint32_t rank_;
  /// For each canonical buffer: begin of a segment -> its version; a segment ends where the next begins.
  std::map<std::uint64_t, Version> segments_[3];
};

/// Versions and def-use of one block, as flat arrays. Slot s = firstOperand[op] + operand (sources first).
struct BlockVersions {
  /// A read of a version: operation and index of the source.
  struct Use {
    std::uint32_t op = 0;
    std::uint32_t src = 0;
    friend bool operator==(const Use &, const Use &) = default;
  };
  std::vector<std::uint32_t> firstOperand; ///< by operation; one more at the end
  std::vector<std::uint32_t> firstSeen;    ///< by slot, into `seen`; one more at the end
  std::vector<Version> seen;               ///< what each source sees; destinations see nothing
  std::vector<std::uint32_t> firstUse;     ///< by defining operation, into `uses`; one more at the end
  std::vector<Use> uses;                   ///< reads of each version, in program order; none for initialVersion

  std::span<const Version> seenBy(std::uint32_t op, std::uint32_t src) const {
    const std::uint32_t slot = firstOperand[op] + src;
    return std::span(seen).subspan(firstSeen[slot], firstSeen[slot + 1] - firstSeen[slot]);
  }
  std::span<const Use> usesOf(Version op) const {
    return std::span(uses).subspan(firstUse[op], firstUse[op + 1] - firstUse[op]);
  }
};

/// Derives them in O((n + s) log n) for n operands and s entries of `seen`; s is n unless reads see many writes each.
BlockVersions computeVersions(const Program &program, std::uint32_t rank, std::uint32_t block);

} // namespace mscclc::ir
