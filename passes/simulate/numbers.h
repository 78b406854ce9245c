// Elements of the data types that programs move: inputs, reductions, and expected outputs.
#pragma once

#include "ir/collectives.h"
#include "passes/simulate/simulate.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::passes::sim {

/// Reads element `index` of `data` as a number.
double elementAt(DataType type, const std::byte *data, std::uint64_t index);

/// True if the order of a sum changes its bits.
bool isFloat(DataType type);

/// Makes f32 of `data`, which are floats of a narrower type.
void widenElements(DataType type, std::vector<std::byte> &data);
/// Sets `into` to `bytes` bytes of `type`, rounded from as many elements of f32.
void narrowElements(DataType type, const std::byte *from, std::uint64_t bytes, std::vector<std::byte> &into);

/// The form of a block of elements in a program's wire format: its elements as f8e4m3, and then the scale, an f32; or
/// its elements as bf16. So it takes less room than the elements. `blockBytes`: of a block in the message. Sets `into`
/// to `bytes` bytes of blocks, from as many elements of f32 as a message of `type` has there.
void encodeBlocks(ir::Wire wire, DataType type, std::uint64_t blockBytes, const std::byte *from, std::uint64_t bytes,
                  std::vector<std::byte> &into);
/// Makes f32 of such blocks.
void decodeBlocks(ir::Wire wire, DataType type, std::uint64_t blockBytes, std::vector<std::byte> &data);

/// The reduction of one operation: elements that are narrower than f32 stay f32 until its end.
class Accumulator {
public:
  explicit Accumulator(DataType type) : type_(type) {}
  /// Takes `bytes` bytes of the first operand.
  void start(const std::byte *from, std::size_t bytes);
  void add(ir::ReduceOp op, const std::byte *from);
  /// Makes each zero of the result +0.0. Integers stay as they are.
  void dropSignsOfZeros();
  /// Returns the result, until the next start().
  const std::byte *result();

private:
  DataType type_;
  std::vector<std::byte> bytes_;
  std::vector<float> wide_; ///< values of a narrow type; empty if there was only one operand
};

/// Returns the reduce operations of a program, the most frequent first; a sum if it has none.
std::vector<ir::ReduceOp> reduceOpsOf(const ir::Program &program);

/// Returns the largest number of inputs in one output of the program.
std::uint64_t mostContributions(const ir::Program &program);

/// The inputs of ranks. A sum of `contributions` of them is exact, in any order, because floats are small whole
/// numbers. For a product, products are exact instead. Then floats are powers of two around 1, and integers are odd,
/// because an even one shifts digits out.
class Inputs {
public:
  Inputs(DataType type, std::uint64_t contributions, std::uint64_t seed);
  /// Makes inputs for reductions with `op` from now on. Before the first call they are for sums.
  void use(ir::ReduceOp op);
  /// Makes floats of whole mantissas, of both signs and of several exponents from now on. Sums of three or more are not
  /// exact.
  void useWhole() { whole_ = true; }
  std::uint32_t elementBytes() const { return sizeOf(type_); }
  /// Writes the elements in bytes [byte, byte + bytes) of `rank`'s input in `launch` to `data`.
  void fill(std::uint32_t rank, std::uint32_t launch, std::uint64_t byte, std::byte *data, std::uint64_t bytes) const;

private:
  float factor(std::uint32_t rank, std::uint64_t index, std::uint32_t drawn) const;

  DataType type_;
  std::uint64_t contributions_;
  void fillWhole(std::uint32_t rank, std::uint32_t launch, std::uint64_t first, std::byte *data,
                 std::uint64_t bytes) const;

  bool products_ = false, whole_ = false;
  std::uint32_t mask_ = ~std::uint32_t{0}; ///< numbers are below mask_ + 1
  /// One of this many consecutive ranks has a float that changes the result: not 0, and in products neither 1 nor -1.
  std::uint64_t apart_ = 1;
  std::uint64_t seed_;
};

/// The expected outputs.
class Expected {
public:
  Expected(const ir::Program &program, const Inputs &inputs, DataType type, std::uint64_t chunkBytes);
  /// Expects the bits of these trees from now on. Null: exact sums.
  void use(const OutputSums *sums) { sums_ = sums; }
  bool isOfBits() const { return sums_ != nullptr; }
  /// Expects reductions with `op` from now on.
  void use(ir::ReduceOp op);
  /// Returns the right contents of output chunk `chunk` of `rank` after `launch`; null if it may hold anything.
  const std::byte *chunk(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk);

private:
  const std::byte *unapplied(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk);
  std::vector<double> encoded(const std::vector<double> &chunk) const;
  const std::byte *ofTree(std::uint32_t launch, std::uint32_t tree);
  const std::byte *reducedOverAll(std::uint32_t launch, std::uint32_t input);
  void reduce(std::uint32_t launch, const std::vector<ir::Contribution> &from, std::byte *into);

  const ir::Program &program_;
  ir::WantedOutputs wanted_;
  const Inputs &inputs_;
  DataType type_;
  std::uint64_t chunkBytes_;
  ir::ReduceOp op_ = ir::ReduceOp::Sum;
  const OutputSums *sums_ = nullptr;
  using Bytes = std::vector<std::byte>;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes> trees_; ///< results, by launch and tree
  std::vector<std::byte> one_, part_, applied_;
  std::vector<ir::Contribution> from_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes> reduced_; ///< over all ranks, by launch and input chunk
};

} // namespace mscclc::passes::sim
