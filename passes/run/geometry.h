// Finds the exact places of operands. Chunks are divided into units. These are so small that slices of groups and of
// pipelines are whole units. Example: if a group of 2 blocks and a group of 3 blocks use chunks, a chunk has 6 units,
// so slices are 3 and 2 units long.
//
// A program with pipelines is proven for several lengths of a chunk, unless one length is sufficient (see sizes.h).
// LoopRates finds these lengths: see verify.h, Pipelines.
#pragma once

#include "ir/program_index.h"

#include <optional>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// The bytes that executor.cc reserves for scratch when resources are reused.
inline constexpr std::uint64_t reusedScratchBytes = std::uint64_t{64} << 20;

/// An iteration of a pipeline: the offset of each operand in this iteration, and its length, in units.
struct LoopSlice {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Units [first, first + count) of an operand's buffer.
struct UnitSpan {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
};

/// The reason why a program's operands cannot be laid out exactly.
struct GeometryFault {
  enum Kind { TooFine, TooManyIterations, TooManySlots, UnevenWrap } kind;
  ir::OpRef place;
  std::uint64_t number = 0;
};

/// Returns the bytes of a message in which each chunk has one unit of the program's alignment.
std::uint64_t bytesOfUnit(const ir::Program &program);

/// Returns the least and the largest size of the program's messages, in units a chunk.
std::pair<std::uint64_t, std::uint64_t> unitsAllowed(const ir::Program &program);

/// The division of chunks by pipelines, and the lengths of a chunk that have to be proven. Lengths are in grains. In
/// each iteration, every operand of a pipeline moves a whole number of grains.
class LoopRates {
public:
  explicit LoopRates(const ProgramIndex &index);

  bool empty() const { return rates_.empty(); }
  /// True if the program allows messages that are so long that iterations share slots of reused scratch.
  bool wraps() const { return slots_ != 0; }
  /// Returns the reason why lengths cannot be determined; nothing if they can.
  const std::optional<GeometryFault> &fault() const { return fault_; }
  /// Returns the lengths at which a pipeline, or an operand of a pipeline, has run 1, 2, ... `iterations` times. If
  /// scratch wraps, adds the lengths at which it has run this often after wrapping. Leaves out lengths that no message
  /// of the program has. The result is ascending, and not empty if there are pipelines. `backward`: some pipeline is
  /// ahead of one for which it waits.
  std::vector<std::uint64_t> lengths(const ir::Program &program, std::uint64_t iterations, bool backward) const;

  /// Returns the length, in bytes, of the longest message in which the pipeline of `header` runs at most `iterations`
  /// times.
  std::uint64_t longestMessage(const ir::Program &program, const ir::Op &header, std::uint64_t iterations) const;

private:
  friend class Geometry;
  /// Operands with the same progress. An operand has `size` chunks in `parts` slices, and each iteration moves
  /// Rate::unit bytes of a slice.
  struct Share {
    std::uint64_t parts = 1, size = 1;
    friend auto operator<=>(const Share &, const Share &) = default;
  };
  struct Rate {
    std::uint64_t unit;        ///< bytes of an iteration
    std::uint32_t numChunks;   ///< chunks over which the loop runs
    std::vector<Share> shares; ///< first the share of the pipeline, then other shares of its operands
    bool scratch = false;      ///< true if an operand is in scratch
    ir::OpRef place;
  };
  void scan(const ProgramIndex &index);
  void countSlots(const ir::Program &program);
  std::uint64_t grainsOf(std::uint64_t bytes) const { return bytes / unitGcd_ * scale_; }
  std::uint64_t bytesOf(std::uint64_t grains) const {
    return grains / scale_ * unitGcd_ + grains % scale_ * unitGcd_ / scale_;
  }
  /// Returns the length of a chunk that one iteration moves completely.
  std::uint64_t step(const Rate &rate, const Share &share) const {
    return grainsOf(rate.unit) / share.size * share.parts;
  }

  std::vector<Rate> rates_;
  std::uint64_t groupLcm_ = 1;
  std::uint64_t unitGcd_ = 1, scale_ = 1; ///< a grain has unitGcd_ / scale_ bytes
  std::uint64_t slots_ = 0;               ///< grains of a scratch chunk, if iterations share them; else 0
  std::optional<GeometryFault> fault_;
};

/// The places of operands for one length of a chunk.
class Geometry {
public:
  /// Makes the geometry in which each pipeline runs once, whatever it moves. Groups divide chunks evenly.
  explicit Geometry(const LoopRates &rates);
  /// Makes the geometry with `length` grains in a chunk.
  Geometry(const ProgramIndex &index, const LoopRates &rates, std::uint64_t length);
  /// Makes the geometry in which a chunk has `units` units of the program's alignment (slicing.h). Pipelines run once.
  static Geometry ofUnits(const LoopRates &rates, std::uint32_t units);

  const std::optional<GeometryFault> &fault() const { return fault_; }
  std::uint32_t unitsPerChunk() const { return unitsPerChunk_; }
  /// Returns the number of iterations of a pipeline for this length.
  std::uint32_t iterations(const ir::Op &header) const {
    return static_cast<std::uint32_t>(iterations(header.imm, header.count));
  }
  LoopSlice slice(const ir::Op &header, std::uint32_t iteration) const;
  /// True if a chunk is so long that iterations share slots of reused scratch.
  bool wraps() const { return wrapUnits_ != 0; }
  /// Returns the most iterations of any pipeline; 0 without pipelines.
  std::uint32_t mostIterations() const { return mostIterations_; }

  /// Returns the units of `chunk` that `op` accesses. `loop`: the iteration of its pipeline; null: all iterations.
  /// `scratch`: the buffer is scratch.
  UnitSpan span(const ir::Chunk &chunk, const ir::Op &op, const LoopSlice *loop, bool scratch) const;

  /// Returns the number of units that all operands of the operations of one launch read and write.
  std::uint64_t unitsTouched(const ProgramIndex &index) const;

private:
  Geometry() = default;
  bool countIterations(const ir::Program &program, const LoopRates &rates);
  std::uint64_t iterations(std::uint64_t unit, std::uint32_t numChunks) const;

  std::uint64_t unitGcd_ = 1, scale_ = 1; ///< as in LoopRates
  std::uint64_t length_ = 0;              ///< grains of a chunk; 0: a chunk is not longer than any slice
  std::uint64_t wrapUnits_ = 0;           ///< units of a scratch chunk that are reused; 0: none
  std::uint32_t unitsPerChunk_ = 1;
  std::uint32_t mostIterations_ = 0;
  std::optional<GeometryFault> fault_;
};

/// Returns the bytes of a scratch chunk if resources are reused (calMaxScratchChunkSize of execution_plan.cc).
std::uint64_t reusedScratchChunkBytes(const ir::Program &program, const ir::Rank &rank);

} // namespace mscclc::passes::proof
