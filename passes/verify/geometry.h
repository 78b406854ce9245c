// Where operands lie, exactly: chunks cut into units so fine that slices of groups and of pipelines are whole units.
//
// A program with pipelines is proven for several sizes of chunk, unless one decides (see sizes.h). In them they run
// once, twice and three times: a first iteration with nothing before it, a middle one with both, a last one with
// nothing after it; and, as what comes around a loop may lean on what only some iterations do, the shorter ones too.
// More iterations repeat the middle one: iterations touch disjoint slices, so only what carries over from one to the
// next (signals, semaphores) can conflict, and that repeats. Two cases need more than three, and get it: a slice of a
// thread-block group covers fewer iterations than its pipeline has, so iterations are counted on the narrowest operand;
// and where scratch is reused, iteration i and i + W share a slot (W: slots a scratch chunk has), so W + 3 are
// unrolled.
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

class Geometry {
public:
  /// The size in which the narrowest operand of each pipeline sees `least` iterations: 1, 2 or 3. Groups cut it evenly.
  Geometry(const ProgramIndex &index, std::uint32_t least);
  /// The size of `units` units of the program's alignment a chunk: see slicing.h. Pipelines run once.
  static Geometry ofUnits(const ProgramIndex &index, std::uint32_t units);

  const std::optional<GeometryFault> &fault() const { return fault_; }
  std::uint32_t unitsPerChunk() const { return unitsPerChunk_; }
  /// Iterations of a pipeline in the size that is proven.
  std::uint32_t iterations(const ir::Op &header) const {
    return static_cast<std::uint32_t>(iterations(header.imm, header.count));
  }
  LoopSlice slice(const ir::Op &header, std::uint32_t iteration) const;
  /// True if the program is proven for messages so long that iterations share slots of reused scratch.
  bool wraps() const { return wrapUnits_ != 0; }
  /// Most iterations of any pipeline; 0 without pipelines.
  std::uint32_t mostIterations() const { return mostIterations_; }

  /// Units of `chunk` that `op` touches, in iteration `loop` if it is in a pipeline. `scratch`: the buffer is scratch.
  UnitSpan span(const ir::Chunk &chunk, const ir::Op &op, const LoopSlice *loop, bool scratch) const;

  /// Units that the operations of one launch read and write, those of each operand counted.
  std::uint64_t unitsTouched(const ProgramIndex &index) const;

private:
  Geometry() = default;
  void scanOps(const ProgramIndex &index);
  void chooseSize(const ProgramIndex &index, std::uint32_t least);
  std::uint64_t countSlots(const ir::Program &program);
  bool chooseChunk(std::uint32_t wantedIterations, std::uint64_t slots);
  bool countIterations(const ir::Program &program, bool ofSlots);
  std::uint64_t iterations(std::uint64_t unit, std::uint32_t numChunks) const;

  struct Rate {
    std::uint64_t unit;      ///< bytes an iteration
    std::uint32_t numChunks; ///< chunks the loop runs over
    std::uint64_t narrow;    ///< least iterations times this make every operand see enough of them, as numerator
    std::uint64_t wide;      ///< and denominator
    bool scratch;            ///< an operand lies in scratch
    ir::OpRef place;
  };
  std::vector<Rate> rates_;
  std::uint64_t groupLcm_ = 1;
  std::uint64_t unitGcd_ = 1;
  std::uint64_t chunkBytes_ = 0; ///< in units of unitGcd_; 0: no longer than any slice
  std::uint64_t wrapUnits_ = 0;  ///< units of a scratch chunk that are reused; 0: none
  std::uint32_t unitsPerChunk_ = 1;
  std::uint32_t mostIterations_ = 0;
  std::optional<GeometryFault> fault_;
};

/// Bytes of a scratch chunk where resources are reused (calMaxScratchChunkSize of execution_plan.cc).
std::uint64_t reusedScratchChunkBytes(const ir::Program &program, const ir::Rank &rank);

} // namespace mscclc::passes::proof
