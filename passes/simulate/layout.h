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
  /// `elementBytes`: the size of an element of floats; 0: of any other, which scratch holds as it is.
  Layout(const ir::Program &program, std::uint64_t messageBytes, std::uint32_t elementBytes = 0);

  /// Returns why the size cannot run, with the numbers; nothing if it can.
  const std::optional<std::string> &refusal() const { return refusal_; }
  std::uint64_t chunkBytes() const { return chunk_; }
  std::uint64_t bytesOf(std::uint32_t rank, ir::BufferKind buffer) const;
  /// Returns how many times the room of an element of the message it takes in scratch (ir::Accumulate::Wide).
  std::uint64_t spread() const { return spread_; }
  /// Returns the bytes of scratch that one launch uses (packets count double under LL).
  std::uint64_t scratchBytes(std::uint32_t rank) const;
  std::uint64_t iterations(const ir::Op &header) const;
  /// Returns the bytes of `chunk` that `op` touches, in iteration `iteration` of `header` if that is given. For
  /// packets: payload.
  ByteSpan span(const ir::Chunk &chunk, const ir::Op &op, const ir::Op *header, std::uint64_t iteration, bool scratch,
                std::uint32_t rank) const;

private:
  /// Returns the number of operations of all blocks in one launch. It may exceed 64 bits, so it is a double.
  double operations() const;

  const ir::Program &program_;
  std::uint64_t spread_ = 1;
  std::uint64_t chunk_ = 0; ///< bytes of every chunk; sizes that do not divide evenly are refused
  std::optional<std::string> refusal_;
};

/// In bytes. For longer messages, fewer sizes and schedules are run.
inline constexpr std::uint64_t longMessage = std::uint64_t{1} << 20;

/// Returns a few message sizes, in ascending order, that `program` takes for elements of this many bytes. These are:
/// the smallest size, with one unit for each chunk; an odd number of units; sizes that slices of thread-block groups do
/// not divide; and one at which pipelines run several iterations. There are at least two if the program takes two. If
/// it takes none, the result is one that it refuses.
std::vector<std::uint64_t> smallSizes(const ir::Program &program, std::uint32_t elementBytes);

} // namespace mscclc::passes::sim
