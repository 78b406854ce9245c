// Elements of the data types that programs move: inputs, reductions, what a collective should leave.
#pragma once

#include "ir/collectives.h"
#include "passes/simulate/simulate.h"

#include <cstddef>
#include <vector>

namespace mscclc::passes::sim {

/// Reads element `index` of `data` as a number.
double elementAt(DataType type, const std::byte *data, std::uint64_t index);

/// into[i] = into[i] op from[i], for `bytes` bytes, in the type's own arithmetic.
void accumulate(DataType type, ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes);

/// The reduce operations that a program does, the one it does most first; a sum if it does none.
std::vector<ir::ReduceOp> reduceOpsOf(const ir::Program &program);

/// The most inputs that one output of the program is reduced from.
std::uint64_t mostContributions(const ir::Program &program);

/// What ranks put in. A sum of `contributions` of them is exact, in any order: floats are whole numbers, and small. For
/// a product, products are exact instead: floats are powers of two around 1, integers odd, as an even one shifts digits
/// out.
class Inputs {
public:
  Inputs(DataType type, std::uint64_t contributions, std::uint64_t seed);
  /// From now on, for a result that `op` makes; of sums at first.
  void use(ir::ReduceOp op);
  /// Writes the elements of [byte, byte + bytes) of `rank`'s input in `launch` to `data`.
  void fill(std::uint32_t rank, std::uint32_t launch, std::uint64_t byte, std::byte *data, std::uint64_t bytes) const;

private:
  float factor(std::uint32_t rank, std::uint64_t index, std::uint32_t drawn) const;

  DataType type_;
  std::uint64_t contributions_;
  bool products_ = false;
  std::uint32_t mask_ = ~std::uint32_t{0}; ///< numbers are below mask_ + 1
  /// Of so many ranks in a row, one puts in a float that changes the result: not 0, and in products neither 1 nor -1.
  std::uint64_t apart_ = 1;
  std::uint64_t seed_;
};

/// What outputs should be.
class Expected {
public:
  Expected(const ir::Program &program, const Inputs &inputs, DataType type, std::uint64_t chunkBytes);
  /// From now on, for a collective that reduces with `op`.
  void use(ir::ReduceOp op);
  /// The right contents of output chunk `chunk` of `rank` after `launch`; null if nothing is asked of it.
  const std::byte *chunk(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk);

private:
  const std::byte *reducedOverAll(std::uint32_t launch, std::uint32_t input);
  void reduce(std::uint32_t launch, const std::vector<ir::Contribution> &from, std::byte *into);

  const ir::Program &program_;
  ir::WantedOutputs wanted_;
  const Inputs &inputs_;
  DataType type_;
  std::uint64_t chunkBytes_;
  ir::ReduceOp op_ = ir::ReduceOp::Sum;
  std::vector<std::byte> one_, part_;
  std::vector<ir::Contribution> from_;
  std::vector<std::vector<std::vector<std::byte>>> reduced_; ///< [launch][input chunk]: over all ranks; or empty
};

} // namespace mscclc::passes::sim
