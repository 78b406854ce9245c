#include "passes/simulate/numbers.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"
#include "ir/program_index.h"
#include "runtime-min/include/mscclc/narrow_floats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
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

/// Integers wrap around. C++ computes those of 8 bits as int.
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

template <typename T> void accumulateAs(ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T))
    store<T>(into + i, apply<T>(op, load<T>(into + i), load<T>(from + i)));
}

template <typename Bits, float (*Widen)(Bits), Bits (*Narrow)(float)>
void accumulateNarrow(ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(Bits) <= bytes; i += sizeof(Bits))
    store<Bits>(into + i, Narrow(apply<float>(op, Widen(load<Bits>(into + i)), Widen(load<Bits>(from + i)))));
}
template <typename Format>
void accumulateIn(ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  accumulateNarrow<typename Format::Bits, narrow::decode<Format>, narrow::encode<Format>>(op, into, from, bytes);
}

std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

double elementAt(DataType type, const std::byte *data, std::uint64_t index) {
  const std::byte *const at = data + index * sizeOf(type);
  switch (type) {
  case DataType::F32:
    return load<float>(at);
  case DataType::F16:
    return narrow::decode<narrow::Binary16>(load<std::uint16_t>(at));
  case DataType::BF16:
    return narrow::decodeBfloat16(load<std::uint16_t>(at));
  case DataType::I32:
    return load<std::int32_t>(at);
  case DataType::U32:
    return load<std::uint32_t>(at);
  case DataType::U8:
    return load<std::uint8_t>(at);
  case DataType::F64:
    return load<double>(at);
  case DataType::I64:
    return static_cast<double>(load<std::int64_t>(at));
  case DataType::U64:
    return static_cast<double>(load<std::uint64_t>(at));
  case DataType::I8:
    return load<std::int8_t>(at);
  case DataType::F8E4M3:
    return narrow::decode<narrow::E4m3>(load<std::uint8_t>(at));
  case DataType::F8E5M2:
    return narrow::decode<narrow::E5m2>(load<std::uint8_t>(at));
  }
  return 0;
}

void accumulate(DataType type, ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  switch (type) {
  case DataType::F32:
    return accumulateAs<float>(op, into, from, bytes);
  case DataType::F16:
    return accumulateIn<narrow::Binary16>(op, into, from, bytes);
  case DataType::BF16:
    return accumulateNarrow<std::uint16_t, narrow::decodeBfloat16, narrow::encodeBfloat16>(op, into, from, bytes);
  case DataType::I32:
    return accumulateAs<std::int32_t>(op, into, from, bytes);
  case DataType::U32:
    return accumulateAs<std::uint32_t>(op, into, from, bytes);
  case DataType::U8:
    return accumulateAs<std::uint8_t>(op, into, from, bytes);
  case DataType::F64:
    return accumulateAs<double>(op, into, from, bytes);
  case DataType::I64:
    return accumulateAs<std::int64_t>(op, into, from, bytes);
  case DataType::U64:
    return accumulateAs<std::uint64_t>(op, into, from, bytes);
  case DataType::I8:
    return accumulateAs<std::int8_t>(op, into, from, bytes);
  case DataType::F8E4M3:
    return accumulateIn<narrow::E4m3>(op, into, from, bytes);
  case DataType::F8E5M2:
    return accumulateIn<narrow::E5m2>(op, into, from, bytes);
  }
}

std::uint64_t mostContributions(const ir::Program &program) {
  std::uint64_t most = program.ranks.size();
  for (const ir::Expectation &e : program.collective.expectations)
    most = std::max<std::uint64_t>(most, e.contributions.size());
  return std::max<std::uint64_t>(most, 1);
}

namespace {

/// Returns the largest whole number up to which a type is exact, if that limits the inputs. Returns 0 for integers,
/// which wrap around.
std::uint64_t exactIn(DataType type) {
  switch (type) {
  case DataType::F32:
    return 1u << 24;
  case DataType::F16:
    return 1u << 11;
  case DataType::BF16:
    return 1u << 8;
  case DataType::F64:
    return std::uint64_t{1} << 32;
  case DataType::F8E4M3:
    return 1u << 4;
  case DataType::F8E5M2:
    return 1u << 3;
  case DataType::I32:
  case DataType::U32:
  case DataType::U8:
  case DataType::I64:
  case DataType::U64:
  case DataType::I8:
    break;
  }
  return 0;
}

} // namespace

Inputs::Inputs(DataType type, std::uint64_t contributions, std::uint64_t seed)
    : type_(type), contributions_(contributions), seed_(seed) {
  use(ir::ReduceOp::Sum);
}

void Inputs::use(ir::ReduceOp op) {
  products_ = op == ir::ReduceOp::Prod;
  const std::uint64_t exact = exactIn(type_);
  if (exact == 0)
    return;
  // Products of this many powers of two are in the range of every type.
  constexpr std::uint64_t factors = 8;
  if (products_) {
    apart_ = (contributions_ + factors - 1) / factors;
    return;
  }
  mask_ = static_cast<std::uint32_t>(std::bit_floor(std::max<std::uint64_t>(2, exact / contributions_)) - 1);
  apart_ = (contributions_ + exact - 1) / exact;
}

bool isFloat(DataType type) {
  return exactIn(type) != 0;
}

double rounded(DataType type, double value, bool narrows) {
  if (type == DataType::F64)
    return value;
  const auto single =
      static_cast<float>(value); // of one step that is right, as a double has more than twice the digits
  if (!narrows || type == DataType::F32)
    return single;
  std::byte bits[sizeof(double)];
  storeElement(type, bits, 0, single);
  return elementAt(type, bits, 0);
}

void storeElement(DataType type, std::byte *data, std::uint64_t index, double value) {
  std::byte *const at = data + index * sizeOf(type);
  const auto single = static_cast<float>(value);
  switch (type) {
  case DataType::F32:
    return store<float>(at, single);
  case DataType::F16:
    return store<std::uint16_t>(at, narrow::encode<narrow::Binary16>(single));
  case DataType::BF16:
    return store<std::uint16_t>(at, narrow::encodeBfloat16(single));
  case DataType::F8E4M3:
    return store<std::uint8_t>(at, narrow::encode<narrow::E4m3>(single));
  case DataType::F8E5M2:
    return store<std::uint8_t>(at, narrow::encode<narrow::E5m2>(single));
  case DataType::F64:
    return store<double>(at, value);
  case DataType::I32:
  case DataType::U32:
  case DataType::U8:
  case DataType::I64:
  case DataType::U64:
  case DataType::I8:
    break;
  }
  throw ir::InternalError("an integer is stored as a number");
}

void Accumulator::start(const std::byte *from, std::size_t bytes) {
  bytes_.assign(from, from + bytes);
  wide_.clear();
}

void Accumulator::add(ir::ReduceOp op, const std::byte *from) {
  if (!isFloat(type_) || sizeOf(type_) >= sizeof(float))
    return accumulate(type_, op, bytes_.data(), from, bytes_.size());
  const std::size_t count = bytes_.size() / sizeOf(type_);
  if (wide_.empty())
    for (std::size_t i = 0; i < count; ++i)
      wide_.push_back(static_cast<float>(elementAt(type_, bytes_.data(), i)));
  for (std::size_t i = 0; i < count; ++i)
    wide_[i] = apply<float>(op, wide_[i], static_cast<float>(elementAt(type_, from, i)));
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

/// Writes elements from `first` on. Element i is make(i, element i of the pseudo-random sequence).
template <typename Make>
void fillWith(std::byte *data, std::uint64_t bytes, std::uint64_t first, std::uint32_t base, Make make) {
  using T = decltype(make(std::uint64_t{}, 0u));
  for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i)
    store<T>(data + i * sizeof(T), make(first + i, mix(base, static_cast<std::uint32_t>(first + i))));
}

} // namespace

float Inputs::factor(std::uint32_t rank, std::uint64_t index, std::uint32_t drawn) const {
  constexpr float powers[] = {1, 2, 0.5f, 2};
  const float value = (rank + index) % apart_ == 0 ? powers[drawn >> 1 & 3] : 1;
  return drawn % 2 == 0 ? value : -value;
}

namespace {

/// Powers of two of large and of small inputs. What a sum of f32 drops of a small one beside a large one shows in the
/// type, but for f8e4m3: its numbers lie so close together that f32 drops nothing.
struct Scales {
  double large, small;
};
Scales scalesOf(DataType type) {
  switch (type) {
  case DataType::F64:
    return {0x1p30, 0x1p-16};
  case DataType::F8E4M3:
    return {0x1p7, 0x1p-5};
  case DataType::F8E5M2:
    return {0x1p14, 0x1p-12};
  case DataType::F32:
  case DataType::F16:
  case DataType::BF16:
  case DataType::I32:
  case DataType::U32:
  case DataType::U8:
  case DataType::I64:
  case DataType::U64:
  case DataType::I8:
    break;
  }
  return {0x1p14, 0x1p-6};
}

} // namespace

/// For each element, one rank has a large number, another rank its opposite, and all others have small numbers. So the
/// sum is small. Its rounding depends on the numbers that were added while it was large. A product has factors
/// around 1.
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
  const auto with = [&](auto make) { fillWith(data, bytes, first, base, make); };
  const auto numbers = [&](auto make) {
    with([&](std::uint64_t i, std::uint32_t x) {
      return make(products_ ? factor(rank, i, x) : static_cast<float>(x & mask_));
    });
  };
  // Multiplication by an odd factor loses no information.
  const auto integers = [&](auto zero) {
    with([&](std::uint64_t, std::uint32_t x) {
      return static_cast<decltype(zero)>(x * (sizeof zero == 8 ? 0x100000001u : std::uint64_t{1}) |
                                         (products_ ? 1 : 0));
    });
  };
  switch (type_) {
  case DataType::F32:
    numbers([](float x) { return x; });
    break;
  case DataType::F16:
    numbers(narrow::encode<narrow::Binary16>);
    break;
  case DataType::BF16:
    numbers(narrow::encodeBfloat16);
    break;
  case DataType::F64:
    numbers([](float x) { return double{x}; });
    break;
  case DataType::F8E4M3:
    numbers(narrow::encode<narrow::E4m3>);
    break;
  case DataType::F8E5M2:
    numbers(narrow::encode<narrow::E5m2>);
    break;
  case DataType::I32:
  case DataType::U32:
    integers(std::uint32_t{});
    break;
  case DataType::I64:
  case DataType::U64:
    integers(std::uint64_t{});
    break;
  case DataType::I8:
  case DataType::U8:
    integers(std::uint8_t{});
    break;
  }
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

/// Returns the bits of tree `tree`.
const std::byte *Expected::ofTree(std::uint32_t launch, std::uint32_t tree) {
  if (trees_.size() <= launch)
    trees_.resize(launch + 1);
  trees_[launch].resize(sums_->trees.size());
  std::vector<std::byte> &result = trees_[launch][tree];
  if (!result.empty())
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
    for (std::size_t i = 0; i < count; ++i)
      value.push_back(rounded(type_, apply<double>(sum.op, values[step.a][i], values[step.b][i]), step.narrows));
    values.push_back(std::move(value));
  }
  result.resize(chunkBytes_);
  for (std::size_t i = 0; i < count; ++i)
    storeElement(type_, result.data(), i, values.back()[i]);
  return result.data();
}

const std::byte *Expected::chunk(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk) {
  if (sums_) {
    const std::uint32_t tree = sums_->of[rank][chunk];
    return tree == ir::none ? nullptr : ofTree(launch, tree);
  }
  if (const auto input = wanted_.reducedOverAll(rank, chunk))
    return reducedOverAll(launch, *input);
  wanted_.of(rank, chunk, from_);
  if (from_.empty())
    return nullptr;
  reduce(launch, from_, one_.data());
  return one_.data();
}

/// Returns the reduction over all ranks, which many outputs share.
const std::byte *Expected::reducedOverAll(std::uint32_t launch, std::uint32_t input) {
  if (reduced_.size() <= launch)
    reduced_.resize(launch + 1);
  auto &all = reduced_[launch];
  if (all.size() <= input)
    all.resize(input + 1);
  if (all[input].empty()) {
    from_.clear();
    for (std::uint32_t rank = 0; rank < program_.ranks.size(); ++rank)
      from_.push_back({rank, input});
    all[input].resize(chunkBytes_);
    reduce(launch, from_, all[input].data());
  }
  return all[input].data();
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
