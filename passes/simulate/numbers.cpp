#include "passes/simulate/numbers.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"
#include "ir/program_index.h"
#include "passes/simulate/test_hook.h"
#include "runtime-min/include/mscclc/narrow_floats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

namespace mscclc::passes::sim {

namespace {

template <typename T> T load(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T> void store(std::byte *p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

/// Returns the result of `op`. Integers wrap around, so they are added and multiplied unsigned. C++ computes 8-bit
/// integers as int.
template <typename T> T apply(ir::ReduceOp op, T a, T b) {
  switch (op) {
  case ir::ReduceOp::Min:
    return std::min(a, b);
  case ir::ReduceOp::Max:
    return std::max(a, b);
  case ir::ReduceOp::Sum:
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    else
      return a + b;
  case ir::ReduceOp::Prod:
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(std::make_unsigned_t<T>(a) * std::make_unsigned_t<T>(b));
    else
      return a * b;
  }
  throw ir::InternalError("no such reduce operation");
}

/// The form of a type's elements in memory, and the type in which they are computed. `T` is the type's name in
/// dtypes.def.
template <typename T> struct Element {
  using Bits = T;
  using Number = T;
  static T decode(T bits) { return bits; }
  static T encode(T number) { return number; }
  /// The type holds whole numbers up to this one exactly. It is at most 2^32, because inputs need no larger numbers. It
  /// is 0 for integers, which wrap around.
  static constexpr std::uint64_t exact =
      std::is_integral_v<T> ? 0 : std::uint64_t{1} << std::min(std::numeric_limits<T>::digits, 32);
};
template <typename Format> struct NarrowElement {
  using Bits = typename Format::Bits;
  using Number = float;
  static float decode(Bits bits) { return narrow::decode<Format>(bits); }
  static Bits encode(float number) { return narrow::encode<Format>(number); }
  static constexpr std::uint64_t exact = std::uint64_t{2} << Format::mantissa;
};
struct Half;
struct Bfloat16;
struct Float8E4m3;
struct Float8E5m2;
template <> struct Element<Half> : NarrowElement<narrow::Binary16> {};
template <> struct Element<Float8E4m3> : NarrowElement<narrow::E4m3> {};
template <> struct Element<Float8E5m2> : NarrowElement<narrow::E5m2> {};
template <> struct Element<Bfloat16> {
  using Bits = std::uint16_t;
  using Number = float;
  static float decode(Bits bits) { return narrow::decodeBfloat16(bits); }
  static Bits encode(float number) { return narrow::encodeBfloat16(number); }
  static constexpr std::uint64_t exact = 1u << 8;
};

/// Calls `use` with the Element of `type`.
template <typename Use> auto withElement(DataType type, Use &&use) {
  switch (type) {
#define MSCCLC_DTYPE(id, number, bytes, name, element)                                                                 \
  case DataType::id:                                                                                                   \
    return use(Element<element>());
#include "runtime-min/include/mscclc/dtypes.def"
  }
  throw ir::InternalError("no such type of elements");
}

std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

double elementAt(DataType type, const std::byte *data, std::uint64_t index) {
  return withElement(type, [&]<typename E>(E) {
    return static_cast<double>(E::decode(load<typename E::Bits>(data + index * sizeof(typename E::Bits))));
  });
}

std::uint64_t mostContributions(const ir::Program &program) {
  std::uint64_t most = program.ranks.size();
  for (const ir::Expectation &e : program.collective.expectations)
    most = std::max<std::uint64_t>(most, e.contributions.size());
  return std::max<std::uint64_t>(most, 1);
}

Inputs::Inputs(DataType type, std::uint64_t contributions, std::uint64_t seed)
    : type_(type), contributions_(contributions), seed_(seed) {
  use(ir::ReduceOp::Sum);
}

void Inputs::use(ir::ReduceOp op) {
  products_ = op == ir::ReduceOp::Prod;
  const std::uint64_t exact = withElement(type_, []<typename E>(E) { return E::exact; });
  if (exact == 0)
    return;
  // The product of this many powers of two is in the range of every type, because each is 1/2, 1 or 2.
  constexpr std::uint64_t factors = 8;
  if (products_) {
    apart_ = (contributions_ + factors - 1) / factors;
    return;
  }
  mask_ = static_cast<std::uint32_t>(std::bit_floor(std::max<std::uint64_t>(2, exact / contributions_)) - 1);
  apart_ = (contributions_ + exact - 1) / exact;
}

bool isFloat(DataType type) {
  return withElement(type, []<typename E>(E) { return E::exact != 0; });
}

namespace {

/// Writes `value`, rounded to `type`, as element `index` of `data`.
void storeElement(DataType type, std::byte *data, std::uint64_t index, double value) {
  withElement(type, [&]<typename E>(E) {
    store(data + index * sizeof(typename E::Bits), E::encode(static_cast<typename E::Number>(value)));
  });
}

/// Returns `value` rounded to `type` if `narrows` is set, else rounded to the type in which kernels add up such
/// elements.
double rounded(DataType type, double value, bool narrows) {
  if (type == DataType::F64)
    return value;
  // A double has more than twice the digits of a float. So rounding to a double and then to a float gives the same
  // result as rounding once.
  const auto single = static_cast<float>(value);
  if (!narrows || type == DataType::F32)
    return single;
  std::byte bits[sizeof(double)];
  storeElement(type, bits, 0, single);
  return elementAt(type, bits, 0);
}

} // namespace

void widenElements(DataType type, std::vector<std::byte> &data) {
  std::vector<std::byte> wide(data.size() / sizeOf(type) * sizeof(float));
  for (std::size_t i = 0; i < wide.size() / sizeof(float); ++i)
    store<float>(wide.data() + i * sizeof(float), static_cast<float>(elementAt(type, data.data(), i)));
  data = std::move(wide);
}

void narrowElements(DataType type, const std::byte *from, std::uint64_t bytes, std::vector<std::byte> &into) {
  into.resize(bytes);
  for (std::uint64_t i = 0; i < bytes / sizeOf(type); ++i)
    storeElement(type, into.data(), i, load<float>(from + i * sizeof(float)));
}

namespace {

/// Returns max|x| / 448, or 1 if this quotient is 0. Returns NaN if some x is NaN.
float wireScale(const std::byte *block, std::uint64_t count) {
  float largest = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const float x = std::abs(load<float>(block + i * sizeof(float)));
    largest = x > largest || std::isnan(x) ? x : largest; // every comparison with NaN is false, so a NaN stays
  }
  constexpr float largestF8E4m3 = 448;
  const float scale = largest / largestF8E4m3;
  return scale == 0 ? 1 : scale;
}

} // namespace

void encodeBlocks(ir::Wire wire, DataType type, std::uint64_t blockBytes, const std::byte *from, std::uint64_t bytes,
                  std::vector<std::byte> &into) {
  into.assign(bytes, std::byte{});
  const std::uint64_t count = blockBytes / sizeOf(type);
  for (std::uint64_t at = 0; at < bytes; at += blockBytes, from += count * sizeof(float)) {
    if (wire == ir::Wire::Bf16) {
      for (std::uint64_t i = 0; i < count; ++i)
        storeElement(DataType::BF16, into.data() + at, i, load<float>(from + i * sizeof(float)));
      continue;
    }
    const float scale = wireScale(from, count);
    for (std::uint64_t i = 0; i < count; ++i)
      into[at + i] =
          static_cast<std::byte>(narrow::encode<narrow::E4m3>(load<float>(from + i * sizeof(float)) / scale));
    store(into.data() + at + count, scale);
  }
}

void decodeBlocks(ir::Wire wire, DataType type, std::uint64_t blockBytes, std::vector<std::byte> &data) {
  const std::uint64_t count = blockBytes / sizeOf(type);
  std::vector<std::byte> wide(data.size() / sizeOf(type) * sizeof(float));
  std::byte *to = wide.data();
  for (std::uint64_t at = 0; at < data.size(); at += blockBytes)
    for (std::uint64_t i = 0; i < count; ++i, to += sizeof(float))
      store(to, wire == ir::Wire::Bf16 ? static_cast<float>(elementAt(DataType::BF16, data.data() + at, i))
                                       : narrow::decode<narrow::E4m3>(static_cast<std::uint8_t>(data[at + i])) *
                                             load<float>(data.data() + at + count));
  data = std::move(wide);
}

void Accumulator::start(const std::byte *from, std::size_t bytes) {
  bytes_.assign(from, from + bytes);
  wide_.clear();
}

void Accumulator::add(ir::ReduceOp op, const std::byte *from) {
  if (!isFloat(type_) || sizeOf(type_) >= sizeof(float))
    return withElement(type_, [&]<typename E>(E) {
      using Bits = typename E::Bits;
      for (std::size_t i = 0; i + sizeof(Bits) <= bytes_.size(); i += sizeof(Bits))
        store(&bytes_[i], E::encode(apply<typename E::Number>(op, E::decode(load<Bits>(&bytes_[i])),
                                                              E::decode(load<Bits>(from + i)))));
    });
  const std::size_t count = bytes_.size() / sizeOf(type_);
  if (wide_.empty())
    for (std::size_t i = 0; i < count; ++i)
      wide_.push_back(static_cast<float>(elementAt(type_, bytes_.data(), i)));
  for (std::size_t i = 0; i < count; ++i)
    wide_[i] = apply<float>(op, wide_[i], static_cast<float>(elementAt(type_, from, i)));
}

void Accumulator::dropSignsOfZeros() {
  if (!isFloat(type_))
    return;
  const std::byte *const sum = result();
  wide_.clear();
  for (std::size_t i = 0; i < bytes_.size() / sizeOf(type_); ++i)
    if (elementAt(type_, sum, i) == 0)
      storeElement(type_, bytes_.data(), i, 0.0);
}

const std::byte *Accumulator::result() {
  for (std::size_t i = 0; i < wide_.size(); ++i)
    storeElement(type_, bytes_.data(), i, wide_[i]);
  return bytes_.data();
}

namespace {

/// Returns element `index` of a pseudo-random sequence.
std::uint32_t mix(std::uint32_t base, std::uint32_t index) {
  std::uint32_t x = index * 0x9e3779b9u ^ base;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

} // namespace

float Inputs::factor(std::uint32_t rank, std::uint64_t index, std::uint32_t drawn) const {
  constexpr float powers[] = {1, 2, 0.5f, 2};
  const float value = (rank + index) % apart_ == 0 ? powers[drawn >> 1 & 3] : 1;
  return drawn % 2 == 0 ? value : -value;
}

namespace {

/// The magnitudes of large and of small inputs, as powers of two. An f32 sum of a large and a small input drops bits of
/// the small one, which changes the result. f8e4m3 is the exception: its numbers are so close in magnitude that f32
/// drops nothing.
struct Scales {
  double large, small;
};
Scales scalesOf(DataType type) {
  if (type == DataType::F64)
    return {0x1p30, 0x1p-16};
  if (type == DataType::F8E4M3)
    return {0x1p7, 0x1p-5};
  if (type == DataType::F8E5M2)
    return {0x1p14, 0x1p-12};
  return {0x1p14, 0x1p-6};
}

} // namespace

/// Makes inputs whose sums are not exact. For each element, one rank has a large number, another rank has the negative
/// of it, and all others have small numbers. So the sum is small, and its rounding depends on the numbers that were
/// added while it was large. For a product, all numbers are around 1.
void Inputs::fillWhole(std::uint32_t rank, std::uint32_t launch, std::uint64_t first, std::byte *data,
                       std::uint64_t bytes) const {
  const auto own = static_cast<std::uint32_t>(scramble(scramble(seed_ + rank) + launch));
  const auto common = static_cast<std::uint32_t>(scramble(scramble(seed_) + launch + 1));
  const Scales scales = scalesOf(type_);
  const auto mantissa = [](std::uint32_t drawn) { return 1 + (drawn & 0xffffff) * 0x1p-24; };
  for (std::uint64_t i = 0; i < bytes / sizeOf(type_); ++i) {
    const auto index = static_cast<std::uint32_t>(first + i);
    const std::uint32_t drawn = mix(own, index), shared = mix(common, index);
    const std::uint64_t positive = shared % contributions_;
    const std::uint64_t negative =
        (positive + 1 + (shared >> 8) % std::max<std::uint64_t>(contributions_ - 1, 1)) % contributions_;
    double value = mantissa(drawn) * (drawn >> 31 != 0 ? -1 : 1);
    if (!products_ && contributions_ > 2 && rank == positive)
      value = mantissa(shared) * scales.large;
    else if (!products_ && contributions_ > 2 && rank == negative)
      value = -mantissa(shared) * scales.large;
    else if (!products_)
      value *= scales.small * (1u << (drawn >> 24 & 3));
    storeElement(type_, data, i, rounded(type_, value, true));
  }
}

void Inputs::fill(std::uint32_t rank, std::uint32_t launch, std::uint64_t byte, std::byte *data,
                  std::uint64_t bytes) const {
  const std::uint32_t size = sizeOf(type_);
  const auto base = static_cast<std::uint32_t>(scramble(scramble(seed_ + rank) + launch));
  const std::uint64_t first = byte / size;
  if (whole_ && isFloat(type_))
    return fillWhole(rank, launch, first, data, bytes);
  withElement(type_, [&]<typename E>(E) {
    using Number = typename E::Number;
    for (std::uint64_t i = 0; i < bytes / size; ++i) {
      const std::uint32_t drawn = mix(base, static_cast<std::uint32_t>(first + i));
      Number value;
      if constexpr (std::is_integral_v<Number>) // multiplication by an odd factor loses no information
        value =
            static_cast<Number>(drawn * (sizeof(Number) == 8 ? 0x100000001u : std::uint64_t{1}) | (products_ ? 1 : 0));
      else
        value = products_ ? factor(rank, first + i, drawn) : static_cast<float>(drawn & mask_);
      store(data + i * size, E::encode(value));
    }
  });
  if (apart_ == 1 || products_)
    return;
  for (std::uint64_t i = 0; i < bytes / size; ++i)
    if ((rank + first + i) % apart_ != 0)
      std::memset(data + i * size, 0, size);
}

std::vector<ir::ReduceOp> reduceOpsOf(const ir::Program &program) {
  std::array<std::uint64_t, ir::reduceOpCount> counts{};
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        counts[static_cast<std::size_t>(op.reduceOp)] += ir::reduces(op.kind);
  std::vector<ir::ReduceOp> ops;
  for (std::size_t op = 0; op < counts.size(); ++op)
    if (counts[op] != 0)
      ops.push_back(static_cast<ir::ReduceOp>(op));
  std::ranges::stable_sort(ops, std::greater{}, [&](ir::ReduceOp op) { return counts[static_cast<std::size_t>(op)]; });
  if (ops.empty())
    ops.push_back(ir::ReduceOp::Sum);
  return ops;
}

Expected::Expected(const ir::Program &program, const Inputs &inputs, DataType type, std::uint64_t chunkBytes)
    : program_(program), wanted_(program), inputs_(inputs), type_(type), chunkBytes_(chunkBytes), one_(chunkBytes),
      part_(chunkBytes) {}

void Expected::use(ir::ReduceOp op) {
  if (op == op_)
    return;
  op_ = op;
  reduced_.clear();
}

/// Returns the result of reduction tree `tree` in launch `launch`, with exact bits.
const std::byte *Expected::ofTree(std::uint32_t launch, std::uint32_t tree) {
  const auto [known, isNew] = trees_.try_emplace({launch, tree}, chunkBytes_);
  std::vector<std::byte> &result = known->second;
  if (!isNew)
    return result.data();
  const SumSteps &sum = sums_->trees[tree];
  const std::size_t count = chunkBytes_ / sizeOf(type_);
  std::vector<std::vector<double>> values;
  for (const ir::Contribution &input : sum.inputs) {
    inputs_.fill(input.rank, launch, input.chunk * chunkBytes_, part_.data(), chunkBytes_);
    std::vector<double> &value = values.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      value.push_back(elementAt(type_, part_.data(), i));
  }
  for (const SumSteps::Step &step : sum.steps) {
    std::vector<double> value;
    if (step.encodes) {
      values.push_back(encoded(values[step.a]));
      continue;
    }
    for (std::size_t i = 0; i < count; ++i)
      value.push_back(rounded(type_, apply<double>(sum.op, values[step.a][i], values[step.b][i]), step.narrows));
    values.push_back(std::move(value));
  }
  for (std::size_t i = 0; i < count; ++i)
    storeElement(type_, result.data(), i, values.back()[i] == 0 && sum.isZeroed ? 0.0 : values.back()[i]);
  return result.data();
}

/// Returns the elements of `chunk` after they were encoded in the program's wire format and decoded again.
std::vector<double> Expected::encoded(const std::vector<double> &chunk) const {
  const ir::Hook *const wire = ir::wireOf(program_);
  const std::uint64_t block = testRowBytes(program_, static_cast<std::uint32_t>(wire - program_.hooks.data()), type_);
  std::vector<std::byte> bytes(chunk.size() * sizeof(float)), blocks;
  for (std::size_t i = 0; i < chunk.size(); ++i)
    store(bytes.data() + i * sizeof(float), static_cast<float>(chunk[i]));
  encodeBlocks(wire->wire, type_, block, bytes.data(), chunkBytes_, blocks);
  decodeBlocks(wire->wire, type_, block, blocks);
  std::vector<double> kept;
  for (std::size_t i = 0; i < chunk.size(); ++i)
    kept.push_back(load<float>(blocks.data() + i * sizeof(float)));
  return kept;
}

const std::byte *Expected::chunk(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk) {
  const std::byte *const value = unapplied(rank, launch, chunk);
  const auto hook = std::ranges::find(program_.hooks, program_.collective.then, &ir::Hook::name);
  if (!value || hook == program_.hooks.end())
    return value;
  const auto number = static_cast<std::uint32_t>(hook - program_.hooks.begin());
  const std::uint64_t row = testRowBytes(program_, number, type_);
  applied_.assign(value, value + chunkBytes_);
  for (std::uint64_t at = 0; at < chunkBytes_; at += row) {
    const std::uint64_t arrays = testArrays(program_, number, rank, launch, chunk * chunkBytes_ + at);
    applyTestHook(arrays, applied_.data() + at, std::min(row, chunkBytes_ - at));
  }
  return applied_.data();
}

/// Returns the contents of an output chunk before its promised hook is applied; null if it may hold anything.
const std::byte *Expected::unapplied(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk) {
  if (sums_) {
    const std::uint32_t tree = sums_->of[rank][chunk];
    // Buffers without a user keep their contents. So later launches of such a program begin with other data than the
    // first.
    const bool isKnown = tree != ir::none && (launch == 0 || ir::hasUser(program_.collective.kind));
    return isKnown ? ofTree(launch, tree) : nullptr;
  }
  if (const auto input = wanted_.reducedOverAll(rank, chunk))
    return reducedOverAll(launch, *input);
  wanted_.of(rank, chunk, from_);
  if (from_.empty())
    return nullptr;
  reduce(launch, from_, one_.data());
  return one_.data();
}

/// Returns the reduction of input chunk `input` over all ranks. Keeps it, because many outputs share it.
const std::byte *Expected::reducedOverAll(std::uint32_t launch, std::uint32_t input) {
  const auto [known, isNew] = reduced_.try_emplace({launch, input}, chunkBytes_);
  if (isNew) {
    from_.clear();
    for (std::uint32_t rank = 0; rank < program_.ranks.size(); ++rank)
      from_.push_back({rank, input});
    reduce(launch, from_, known->second.data());
  }
  return known->second.data();
}

void Expected::reduce(std::uint32_t launch, const std::vector<ir::Contribution> &from, std::byte *into) {
  Accumulator sum(type_);
  for (std::size_t i = 0; i < from.size(); ++i) {
    inputs_.fill(from[i].rank, launch, from[i].chunk * chunkBytes_, part_.data(), chunkBytes_);
    if (i == 0)
      sum.start(part_.data(), chunkBytes_);
    else
      sum.add(op_, part_.data());
  }
  std::memcpy(into, sum.result(), chunkBytes_);
}

} // namespace mscclc::passes::sim
