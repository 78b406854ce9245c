// Finds the memory of chunks. If a collective works in place, input and output share memory. An input chunk and an
// output chunk in the same memory are then given the same place.
#pragma once

#include "ir/collectives.h"
#include "ir/op_memory.h"

namespace mscclc::ir {

/// The place of a chunk in the memory of its rank. If the collective works in place, an input chunk and an output chunk
/// in the same memory have the same canonical place. Two chunks of a rank overlap in memory exactly if their canonical
/// buffers are equal and their ranges meet. Packets in scratch are counted differently from plain chunks of the same
/// memory: packet chunk k covers plain chunks [2k, 2k + 2).
struct CanonicalPlace {
  BufferKind buffer;
  std::uint32_t index;
};

/// Returns the canonical place of chunk `index` of `buffer` on `rank`.
inline CanonicalPlace canonicalPlace(const Program &program, std::uint32_t rank, BufferKind buffer,
                                     std::uint32_t index) {
  if (!program.collective.inplace || buffer == BufferKind::Scratch)
    return {buffer, index};
  const CollectiveKind kind = program.collective.kind;
  if (info(kind).inPlace == InPlace::OneBuffer)
    return {BufferKind::Input, index};
  const BufferKind share = shareInPlace(kind),
                   whole = share == BufferKind::Input ? BufferKind::Output : BufferKind::Input;
  return {whole, buffer == share ? rank * program.ranks[rank].chunksOf(share) + index : index};
}

/// Returns the canonical place of the first chunk of `piece`.
inline CanonicalPlace canonicalPlace(const Program &program, const MemoryPiece &piece) {
  return canonicalPlace(program, piece.rank, piece.buffer, piece.index);
}

/// A range of a rank's memory in plain chunks. Aliases are resolved, and packets are converted to plain chunks.
struct MemoryRange {
  BufferKind buffer = BufferKind::Input;
  std::uint64_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
  bool overlaps(const MemoryRange &other) const {
    return buffer == other.buffer && begin < other.end && other.begin < end;
  }
  friend bool operator==(const MemoryRange &, const MemoryRange &) = default;
};

/// Returns the memory of chunks [index, index + size) of `buffer` on `rank`.
inline MemoryRange memoryOf(const Program &program, std::uint32_t rank, BufferKind buffer, std::uint32_t index,
                            std::uint32_t size, DataForm form) {
  const std::uint64_t scale = form == DataForm::Packet ? 2 : 1;
  const CanonicalPlace place = canonicalPlace(program, rank, buffer, index);
  return {place.buffer, place.index * scale, (std::uint64_t{place.index} + size) * scale};
}

/// Returns the memory of `piece`.
inline MemoryRange memoryOf(const Program &program, const MemoryPiece &piece) {
  return memoryOf(program, piece.rank, piece.buffer, piece.index, piece.size, piece.form);
}

/// Returns the number of the first output chunk of `rank` in `memory`. Returns nothing if `memory` is not wholly in the
/// output.
inline std::optional<std::uint32_t> outputOffset(const Program &program, std::uint32_t rank,
                                                 const MemoryRange &memory) {
  const std::uint32_t chunks = program.ranks[rank].outputChunks;
  const MemoryRange output = memoryOf(program, rank, BufferKind::Output, 0, chunks, DataForm::Plain);
  if (memory.buffer != output.buffer || memory.begin < output.begin || memory.end > output.end)
    return std::nullopt;
  return static_cast<std::uint32_t>(memory.begin - output.begin);
}

/// Returns the memory of a local chunk of `rank`.
inline MemoryRange memoryOf(const Program &program, std::uint32_t rank, const Chunk &chunk,
                            DataForm form = DataForm::Plain) {
  return memoryOf(program, rank, static_cast<BufferKind>(chunk.space), chunk.index, chunk.size, form);
}

} // namespace mscclc::ir
