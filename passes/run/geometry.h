// Where operands lie, exactly: chunks cut into units so fine that slices of groups and of pipelines are whole units.
//
// A program with pipelines is proven for several lengths of chunk, unless one decides (see sizes.h). LoopRates says for
// which: see verify.h, Pipelines.
#pragma once

#include "ir/program_index.h"

#include <optional>

namespace mscclc::passes::proof {

using ir::none;
using ir::ProgramIndex;

/// What executor.cc sets aside for scratch when resources are reused.
inline constexpr std::uint64_t reusedScratchBytes = std::uint64_t{64} << 20;

/// An iteration of a pipeline: units that each operand has advanced, and units that it covers.
struct LoopSlice {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// Units [first, first + count) of an operand's buffer.
struct UnitSpan {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
};

/// Why a program's operands cannot be laid out exactly.
struct GeometryFault {
  enum Kind { TooFine, TooManyIterations, TooManySlots, UnevenWrap } kind;
  ir::OpRef place;
  std::uint64_t number = 0;
};

/// Bytes of a message of which each chunk has one unit of the program's alignment.
std::uint64_t bytesOfUnit(const ir::Program &program);

/// The least and the largest size that the program's messages may have, in units a chunk.
std::pair<std::uint64_t, std::uint64_t> unitsAllowed(const ir::Program &program);

/// How pipelines cut chunks, and which lengths of chunk have to be proven for them. Lengths are in grains, of which
/// each operand of a pipeline moves a whole number an iteration.
class LoopRates {
public:
  explicit LoopRates(const ProgramIndex &index);

  bool empty() const { return rates_.empty(); }
  /// True if some message of the program is so long that iterations share slots of reused scratch.
  bool wraps() const { return slots_ != 0; }
  /// Why lengths cannot be told.
  const std::optional<GeometryFault> &fault() const { return fault_; }
  /// The lengths at which each pipeline, and each operand in one, has run 1, 2, ... `iterations` times; where scratch
  /// wraps, so many times after it has. What they show of the message sizes that the program takes is left of them.
  /// Ascending; not empty where there are pipelines. `backward`: some pipeline is ahead of one that it waits for.
  std::vector<std::uint64_t> lengths(const ir::Program &program, std::uint64_t iterations, bool backward) const;

  /// The longest message, in bytes, in which the pipeline of `header` runs no more than `iterations` times.
  std::uint64_t longestMessage(const ir::Program &program, const ir::Op &header, std::uint64_t iterations) const;

private:
  friend class Geometry;
  /// All that iterates alike: in each iteration it moves `unit` bytes of each of `size` chunks in `parts` slices.
  struct Share {
    std::uint64_t parts = 1, size = 1;
    friend auto operator<=>(const Share &, const Share &) = default;
  };
  struct Rate {
    std::uint64_t unit;        ///< bytes an iteration
    std::uint32_t numChunks;   ///< chunks the loop runs over
    std::vector<Share> shares; ///< the pipeline's own first, then those of operands that differ from it
    bool scratch = false;      ///< an operand lies in scratch
    ir::OpRef place;
  };
  void scan(const ProgramIndex &index);
  void countSlots(const ir::Program &program);
  std::uint64_t grainsOf(std::uint64_t bytes) const { return bytes / unitGcd_ * scale_; }
  std::uint64_t bytesOf(std::uint64_t grains) const {
    return grains / scale_ * unitGcd_ + grains % scale_ * unitGcd_ / scale_;
  }
  /// Length of chunk of which one iteration moves all.
  std::uint64_t step(const Rate &rate, const Share &share) const {
    return grainsOf(rate.unit) / share.size * share.parts;
  }

  std::vector<Rate> rates_;
  std::uint64_t groupLcm_ = 1;
  std::uint64_t unitGcd_ = 1, scale_ = 1; ///< a grain has unitGcd_ / scale_ bytes
  std::uint64_t slots_ = 0;               ///< grains of a scratch chunk, where iterations share them; else 0
  std::optional<GeometryFault> fault_;
};

class Geometry {
public:
  /// The size in which each pipeline runs once, whatever it moves. Groups cut chunks evenly.
  explicit Geometry(const LoopRates &rates);
  /// A chunk has `length` grains.
  Geometry(const ProgramIndex &index, const LoopRates &rates, std::uint64_t length);
  /// The size of `units` units of the program's alignment a chunk: see slicing.h. Pipelines run once.
  static Geometry ofUnits(const LoopRates &rates, std::uint32_t units);

  const std::optional<GeometryFault> &fault() const { return fault_; }
  std::uint32_t unitsPerChunk() const { return unitsPerChunk_; }
  /// Iterations of a pipeline in the size that is proven.
  std::uint32_t iterations(const ir::Op &header) const {
    return static_cast<std::uint32_t>(iterations(header.imm, header.count));
  }
  LoopSlice slice(const ir::Op &header, std::uint32_t iteration) const;
  /// True if a chunk is so long that iterations share slots of reused scratch.
  bool wraps() const { return wrapUnits_ != 0; }
  /// Most iterations of any pipeline; 0 without pipelines.
  std::uint32_t mostIterations() const { return mostIterations_; }

  /// Units of `chunk` that `op` touches, in iteration `loop` if it is in a pipeline. `scratch`: the buffer is scratch.
  UnitSpan span(const ir::Chunk &chunk, const ir::Op &op, const LoopSlice *loop, bool scratch) const;

  /// Units that the operations of one launch read and write, those of each operand counted.
  std::uint64_t unitsTouched(const ProgramIndex &index) const;

private:
  Geometry() = default;
  bool countIterations(const ir::Program &program, const LoopRates &rates);
  std::uint64_t iterations(std::uint64_t unit, std::uint32_t numChunks) const;

  std::uint64_t unitGcd_ = 1, scale_ = 1; ///< as in LoopRates
  std::uint64_t length_ = 0;              ///< grains of a chunk; 0: no longer than any slice
  std::uint64_t wrapUnits_ = 0;           ///< units of a scratch chunk that are reused; 0: none
  std::uint32_t unitsPerChunk_ = 1;
  std::uint32_t mostIterations_ = 0;
  std::optional<GeometryFault> fault_;
};

/// Bytes of a scratch chunk where resources are reused (calMaxScratchChunkSize of execution_plan.cc).
std::uint64_t reusedScratchChunkBytes(const ir::Program &program, const ir::Rank &rank);

} // namespace mscclc::passes::proof
