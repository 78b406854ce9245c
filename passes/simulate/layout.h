// The places of chunks in bytes, computed as in execution_plan.cc, and the message sizes that a program takes.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::passes::sim {

/// A byte range of a buffer.
struct ByteSpan {
  std::uint64_t offset = 0, bytes = 0;
};

class Layout {
public:
  /// `elementBytes`: the size of an element in bytes if elements are floats, else 0. Scratch holds elements of other
  /// types as they are.
  Layout(const ir::Program &program, std::uint64_t messageBytes, std::uint32_t elementBytes = 0);

  /// Returns the reason why the size cannot run; nothing if it can.
  const std::optional<std::string> &refusal() const { return refusal_; }
  std::uint64_t chunkBytes() const { return chunk_; }
  std::uint64_t bytesOf(std::uint32_t rank, ir::BufferKind buffer) const;
  /// Returns the size of an element in scratch divided by its size in the message (ir::Accumulate::Wide).
  std::uint64_t spread() const { return spread_; }
  /// Returns the bytes of scratch that one launch uses. Packets take twice the bytes of their payload.
  std::uint64_t scratchBytes(std::uint32_t rank) const;
  std::uint64_t iterations(const ir::Op &header) const;
  /// Returns the bytes of `chunk` that `op` touches, in iteration `iteration` of the pipeline `header` (null: no
  /// pipeline). For packets, these are the bytes of their payload.
  ByteSpan span(const ir::Chunk &chunk, const ir::Op &op, const ir::Op *header, std::uint64_t iteration, bool scratch,
                std::uint32_t rank) const;

private:
  /// Returns the number of operations of all blocks in one launch. It may exceed 64 bits, so it is a double.
  double operations() const;

  const ir::Program &program_;
  std::uint64_t spread_ = 1;
  std::uint64_t chunk_ = 0; ///< bytes of every chunk; a message size must be a multiple of the number of chunks
  std::optional<std::string> refusal_;
};

/// Messages of more bytes than this are long. Fewer sizes and schedules are run for them.
inline constexpr std::uint64_t longMessage = std::uint64_t{1} << 20;

/// Returns a few message sizes in bytes that `program` accepts for elements of `elementBytes` bytes, in ascending
/// order. They are the smallest size; an odd number of units for each chunk; sizes that slices of thread-block groups
/// do not divide evenly; and a size at which pipelines run several iterations. Returns at least two sizes if the
/// program accepts two. If it accepts none, returns one size that it refuses.
std::vector<std::uint64_t> smallSizes(const ir::Program &program, std::uint32_t elementBytes);

} // namespace mscclc::passes::sim
