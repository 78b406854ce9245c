// Where chunks lie in bytes, as execution_plan.cc computes it, and which message sizes a program takes.
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
  Layout(const ir::Program &program, std::uint64_t messageBytes);

  /// Why the size cannot be run, with the numbers; nothing if it can.
  const std::optional<std::string> &refusal() const { return refusal_; }
  std::uint64_t chunkBytes() const { return chunk_; }
  std::uint64_t bytesOf(std::uint32_t rank, ir::BufferKind buffer) const;
  /// Bytes of scratch that one launch uses (packets counted double under LL).
  std::uint64_t scratchBytes(std::uint32_t rank) const;
  std::uint64_t iterations(const ir::Op &header) const;
  /// Bytes that `op` touches of `chunk`, in iteration `iteration` of `header`, if that is given. Of packets: payload.
  ByteSpan span(const ir::Chunk &chunk, const ir::Op &op, const ir::Op *header, std::uint64_t iteration, bool scratch,
                std::uint32_t rank) const;

private:
  /// Of all blocks in one launch; any number, so not a whole one.
  double operations() const;

  const ir::Program &program_;
  std::uint64_t chunk_ = 0; ///< bytes of every chunk: sizes that do not divide evenly are refused
  std::optional<std::string> refusal_;
};

/// Bytes; longer messages are worth fewer sizes and schedules.
inline constexpr std::uint64_t longMessage = std::uint64_t{1} << 20;

/// A few message sizes that `program` takes of elements of so many bytes, from the least on: one unit a chunk or as
/// many as it asks for, an odd number of them, more that slices of thread-block groups do not divide, and one for which
/// pipelines go round. There are two at least if the program takes two; if it takes none, it is one that it refuses.
std::vector<std::uint64_t> smallSizes(const ir::Program &program, std::uint32_t elementBytes);

} // namespace mscclc::passes::sim
