#include "passes/simulate/numbers.h"

#include "ir/op_semantics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>

namespace mscclc::passes::sim {

namespace {

float halfToFloat(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h} >> 15 << 31, exponent = h >> 10 & 31, fraction = h & 1023;
  if (exponent == 0) { // zero and subnormals: fraction / 2^24
    const float value = static_cast<float>(fraction) / 16777216.0f;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

std::uint16_t floatToHalf(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00; // not a number
  if (magnitude >= 0x477ff000)
    return sign | 0x7c00;       // rounds past the largest
  if (magnitude < 0x38800000) { // subnormal: rounded by adding, which rounds to even
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign |
                                      (std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f)));
  }
  const std::uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return static_cast<std::uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

float bfloatToFloat(std::uint16_t b) {
  return std::bit_cast<float>(std::uint32_t{b} << 16);
}
std::uint16_t floatToBfloat(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T> T load(const std::byte *p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T> void store(std::byte *p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

template <typename T> T apply(ir::ReduceOp op, T a, T b) {
  switch (op) {
  case ir::ReduceOp::Min:
    return std::min(a, b);
  case ir::ReduceOp::Max:
    return std::max(a, b);
  case ir::ReduceOp::Sum:
    break;
  }
  return static_cast<T>(a + b);
}

template <typename T> void accumulateAs(ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T))
    store<T>(into + i, apply<T>(op, load<T>(into + i), load<T>(from + i)));
}

template <float (*Widen)(std::uint16_t), std::uint16_t (*Narrow)(float)>
void accumulateNarrow(ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  for (std::size_t i = 0; i + 2 <= bytes; i += 2)
    store<std::uint16_t>(
        into + i, Narrow(apply<float>(op, Widen(load<std::uint16_t>(into + i)), Widen(load<std::uint16_t>(from + i)))));
}

std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace

double elementAt(DataType type, const std::byte *data, std::uint64_t index) {
  switch (type) {
  case DataType::F32:
    return load<float>(data + index * 4);
  case DataType::F16:
    return halfToFloat(load<std::uint16_t>(data + index * 2));
  case DataType::BF16:
    return bfloatToFloat(load<std::uint16_t>(data + index * 2));
  case DataType::I32:
    return load<std::int32_t>(data + index * 4);
  case DataType::U32:
    return load<std::uint32_t>(data + index * 4);
  case DataType::U8:
    return load<std::uint8_t>(data + index);
  }
  return 0;
}

void accumulate(DataType type, ir::ReduceOp op, std::byte *into, const std::byte *from, std::size_t bytes) {
  switch (type) {
  case DataType::F32:
    return accumulateAs<float>(op, into, from, bytes);
  case DataType::F16:
    return accumulateNarrow<halfToFloat, floatToHalf>(op, into, from, bytes);
  case DataType::BF16:
    return accumulateNarrow<bfloatToFloat, floatToBfloat>(op, into, from, bytes);
  case DataType::I32:
    if (op == ir::ReduceOp::Sum) // wraps
      return accumulateAs<std::uint32_t>(op, into, from, bytes);
    return accumulateAs<std::int32_t>(op, into, from, bytes);
  case DataType::U32:
    return accumulateAs<std::uint32_t>(op, into, from, bytes);
  case DataType::U8:
    return accumulateAs<std::uint8_t>(op, into, from, bytes);
  }
}

std::uint64_t mostContributions(const ir::Program &program) {
  std::uint64_t most = program.ranks.size();
  for (const ir::Expectation &e : program.collective.expectations)
    most = std::max<std::uint64_t>(most, e.contributions.size());
  return std::max<std::uint64_t>(most, 1);
}

Inputs::Inputs(DataType type, std::uint64_t contributions, std::uint64_t seed) : type_(type), seed_(seed) {
  // Whole numbers up to these are held exactly.
  const std::uint64_t exact = type == DataType::F32    ? 1u << 24
                              : type == DataType::F16  ? 1u << 11
                              : type == DataType::BF16 ? 1u << 8
                                                       : 0;
  if (exact == 0)
    return;
  mask_ = static_cast<std::uint32_t>(std::bit_floor(std::max<std::uint64_t>(2, exact / contributions)) - 1);
  zeros_ = (contributions + exact - 1) / exact;
}

namespace {

/// Element `index` of what `base` stands for.
std::uint32_t mix(std::uint32_t base, std::uint32_t index) {
  std::uint32_t x = index * 0x9e3779b9u ^ base;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

template <typename Make>
void fillWith(std::byte *data, std::uint64_t bytes, std::uint64_t first, std::uint32_t base, std::uint32_t mask,
              Make make) {
  using T = decltype(make(0u));
  for (std::uint64_t i = 0; i < bytes / sizeof(T); ++i)
    store<T>(data + i * sizeof(T), make(mix(base, static_cast<std::uint32_t>(first + i)) & mask));
}

} // namespace

void Inputs::fill(std::uint32_t rank, std::uint32_t launch, std::uint64_t byte, std::byte *data,
                  std::uint64_t bytes) const {
  const std::uint32_t size = sizeOf(type_);
  const auto base = static_cast<std::uint32_t>(scramble(scramble(seed_ + rank) + launch));
  const std::uint64_t first = byte / size;
  const auto with = [&](auto make) { fillWith(data, bytes, first, base, mask_, make); };
  switch (type_) {
  case DataType::F32:
    with([](std::uint32_t x) { return static_cast<float>(static_cast<std::int32_t>(x)); });
    break;
  case DataType::F16:
    with([](std::uint32_t x) { return floatToHalf(static_cast<float>(x)); });
    break;
  case DataType::BF16:
    with([](std::uint32_t x) { return floatToBfloat(static_cast<float>(x)); });
    break;
  case DataType::I32:
  case DataType::U32:
    with([](std::uint32_t x) { return x; });
    break;
  case DataType::U8:
    with([](std::uint32_t x) { return static_cast<std::uint8_t>(x); });
    break;
  }
  if (zeros_ == 1)
    return;
  for (std::uint64_t i = 0; i < bytes / size; ++i)
    if ((rank + first + i) % zeros_ != 0)
      std::memset(data + i * size, 0, size);
}

std::vector<ir::ReduceOp> reduceOpsOf(const ir::Program &program) {
  std::array<std::uint64_t, 3> counts{};
  for (const ir::Rank &rank : program.ranks)
    for (const ir::ThreadBlock &block : rank.blocks)
      for (const ir::Op &op : block.ops)
        counts[static_cast<std::size_t>(op.reduceOp)] += ir::reduces(op.kind);
  std::vector<ir::ReduceOp> ops;
  for (const auto op : {ir::ReduceOp::Sum, ir::ReduceOp::Min, ir::ReduceOp::Max})
    if (counts[static_cast<std::size_t>(op)] != 0)
      ops.push_back(op);
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

const std::byte *Expected::chunk(std::uint32_t rank, std::uint32_t launch, std::uint32_t chunk) {
  if (const auto input = wanted_.reducedOverAll(rank, chunk))
    return reducedOverAll(launch, *input);
  wanted_.of(rank, chunk, from_);
  if (from_.empty())
    return nullptr;
  reduce(launch, from_, one_.data());
  return one_.data();
}

/// Of all ranks, which many outputs share.
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
  inputs_.fill(from[0].rank, launch, from[0].chunk * chunkBytes_, into, chunkBytes_);
  for (std::size_t i = 1; i < from.size(); ++i) {
    inputs_.fill(from[i].rank, launch, from[i].chunk * chunkBytes_, part_.data(), chunkBytes_);
    accumulate(type_, op_, into, part_.data(), chunkBytes_);
  }
}

} // namespace mscclc::passes::sim
