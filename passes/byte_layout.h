// Bytes behind chunks at the largest message that a program declares, as the executor computes them.
#pragma once

#include "ir/op_semantics.h"

#include <algorithm>
#include <limits>

namespace mscclc::passes {

/// Byte offsets of one rank's operations (execution_plan.cc, calcOffset and setupOperation). All buffers of the rank
/// share one scale: the message, cut in the rank's input chunks, or its output chunks where it has no input.
class ByteLayout {
public:
  ByteLayout(const ir::Program &program, std::uint32_t rank) : program_(program) {
    const ir::Rank &r = program.ranks[rank];
    chunks_ = messageChunks_ = r.inputChunks != 0 ? r.inputChunks : r.outputChunks;
    if (!known())
      return;
    units_ = program.maxMessageSize / program.bufferAlignment;
    // The size of an all-gather is that of its output; of all others that of their input.
    if (program.collective.kind == ir::CollectiveKind::AllGather && r.inputChunks != 0 && r.outputChunks != 0) {
      units_ = units_ / r.outputChunks * r.inputChunks;
      messageChunks_ = r.outputChunks;
    }
  }

  /// True if the program declares a largest message; only then are the other questions answered.
  bool known() const {
    return program_.maxMessageSize != std::numeric_limits<std::uint64_t>::max() && program_.bufferAlignment != 0 &&
           chunks_ != 0;
  }

  /// Byte at which chunk `index` begins.
  std::uint64_t offset(std::uint64_t index) const {
    return (index * (units_ / chunks_) + std::min<std::uint64_t>(index, units_ % chunks_)) * program_.bufferAlignment;
  }

  /// The larger of a chunk's offset and size, as the executor stores them. Packets take twice the bytes.
  std::uint64_t largestNumber(const ir::Chunk &chunk, ir::DataForm form) const {
    const std::uint64_t begin = offset(chunk.index), end = offset(std::uint64_t{chunk.index} + chunk.size);
    return std::max(begin, end - begin) * (form == ir::DataForm::Packet ? 2 : 1);
  }

  /// Bytes of the largest chunk.
  std::uint64_t chunkBytes() const { return (units_ + chunks_ - 1) / chunks_ * program_.bufferAlignment; }

  /// The largest message whose chunks have at most `bytes` bytes, a multiple of the alignment.
  std::uint64_t messageOfChunks(std::uint64_t bytes) const {
    return bytes / program_.bufferAlignment * program_.bufferAlignment * messageChunks_;
  }

  /// How often a pipeline runs its body.
  std::uint64_t iterations(const ir::Op &pipeline) const {
    return (pipeline.count * chunkBytes() + pipeline.imm - 1) / pipeline.imm;
  }

private:
  const ir::Program &program_;
  std::uint64_t chunks_ = 0, units_ = 0;
  std::uint64_t messageChunks_ = 0; ///< chunks that the message size counts
};

} // namespace mscclc::passes
