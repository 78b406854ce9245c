// Elements of the data types that programs move: inputs, reductions, and expected outputs.
#pragma once

#include "ir/collectives.h"
#include "passes/simulate/simulate.h"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace mscclc::passes::sim {

/// Returns element `index` of `data` as a number.
double elementAt(DataType type, const std::byte *data, std::uint64_t index);

/// True if the bits of a sum of this type depend on the order of its operands.
bool isFloat(DataType type);

/// Replaces the elements in `data`, floats of the narrower type `type`, by f32.
void widenElements(DataType type, std::vector<std::byte> &data);
/// Sets `into` to `bytes` bytes of elements of `type`. They are rounded from as many f32 elements at `from`.
void narrowElements(DataType type, const std::byte *from, std::uint64_t bytes, std::vector<std::byte> &into);

/// Encodes f32 elements at `from` in blocks of a wire format. A block holds its elements as f8e4m3, and then their
/// scale as f32; or it holds its elements as bf16. So it is shorter than `blockBytes`, the bytes of these elements in
/// the message. Sets `into` to the blocks of `bytes` bytes of a message of `type`. Each block begins at its place in
/// the message.
void encodeBlocks(ir::Wire wire, DataType type, std::uint64_t blockBytes, const std::byte *from, std::uint64_t bytes,
                  std::vector<std::byte> &into);
/// Replaces the blocks in `data` by their elements as f32. The parameters are those of encodeBlocks().
void decodeBlocks(ir::Wire wire, DataType type, std::uint64_t blockBytes, std::vector<std::byte> &data);

/// The reduction of one operation. Elements that are narrower than f32 are computed in f32, and rounded only at the
/// end.
class Accumulator {
public:
  explicit Accumulator(DataType type) : type_(type) {}
  /// Begins with the first operand, `bytes` bytes at `from`.
  void start(const std::byte *from, std::size_t bytes);
  void add(ir::ReduceOp op, const std::byte *from);
  /// Makes each zero of the result +0.0. Integers stay as they are.
  void dropSignsOfZeros();
  /// Returns the result, which is valid until the next start().
  const std::byte *result();

private:
  DataType type_;
  std::vector<std::byte> bytes_;
  std::vector<float> wide_; ///< f32 values of elements of a narrower type; empty while there is only one operand
};

/// Returns the reduce operations that a program uses, the most frequent first. Returns the sum if it uses none.
std::vector<ir::ReduceOp> reduceOpsOf(const ir::Program &program);

/// Returns the largest number of inputs that one output of the program may combine.
std::uint64_t mostContributions(const ir::Program &program);

/// The inputs of ranks. A sum of `contributions` inputs is exact in any order, because floats are small whole numbers.
/// For products, floats are powers of two around 1, so products are exact. Integers are odd then, because an even
/// factor would shift digits out.
class Inputs {
public:
  Inputs(DataType type, std::uint64_t contributions, std::uint64_t seed);
  /// Makes inputs for reductions with `op` from now on. Before the first call they are for sums.
  void use(ir::ReduceOp op);
  /// From now on, makes floats with mantissas of full length, both signs and several exponents. Sums of three or more
  /// of them are not exact.
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
  std::uint32_t mask_ = ~std::uint32_t{0}; ///< floats for sums are whole numbers from 0 to this one
  /// Only one of this many consecutive ranks has a float that changes the result. The others have 0, or in products 1
  /// or -1.
  std::uint64_t apart_ = 1;
  std::uint64_t seed_;
};

/// The expected outputs.
class Expected {
public:
  Expected(const ir::Program &program, const Inputs &inputs, DataType type, std::uint64_t chunkBytes);
  /// From now on, expects the bits that the trees of `sums` give. Null: exact sums.
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
  std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes>
      reduced_; ///< reductions over all ranks, by launch and input chunk
};

} // namespace mscclc::passes::sim
