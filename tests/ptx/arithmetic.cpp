#include "arithmetic.h"

#define MSCCLC_BOTH inline
#include "mscclc/narrow_floats.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

namespace mscclc::ptx {
namespace {

[[noreturn]] void unknown(const Instruction &i) {
  throw Unknown("instruction " + i.text);
}

std::uint64_t maskOf(unsigned bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}
std::int64_t signedOf(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}
bool isFloat(const Type &type) {
  return type.kind == Type::Float || type.kind == Type::Brain;
}

// Floats are computed in double where that is exact enough, and rounded once.
double floatOf(const Type &type, std::uint64_t bits) {
  if (type.kind == Type::Brain)
    return narrow::decodeBfloat16(static_cast<std::uint16_t>(bits));
  if (type.bits == 16)
    return narrow::decode<narrow::Binary16>(static_cast<std::uint16_t>(bits));
  if (type.bits == 32)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}
/// Rounds to the nearest. Conversions to 16 bits come from floats.
std::uint64_t bitsOf(const Type &type, double value) {
  if (type.kind == Type::Brain)
    return narrow::encodeBfloat16(static_cast<float>(value));
  if (type.bits == 16)
    return narrow::encode<narrow::Binary16>(static_cast<float>(value));
  if (type.bits == 32)
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<std::uint64_t>(value);
}

/// min and max: of a number and a NaN the number, unless `.NaN` is given; -0 is less than +0.
double extremum(const Instruction &i, double a, double b, bool least) {
  if (std::isnan(a) || std::isnan(b)) {
    if (i.has(Modifier::NaN))
      return std::numeric_limits<double>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) == least ? a : b;
  return (a < b) == least ? a : b;
}

template <class Float> std::uint64_t floatResult(const Instruction &i, Float a, Float b, Float c) {
  const auto bits = [&](Float value) { return bitsOf(i.type, static_cast<double>(value)); };
  switch (i.opcode) {
  case Opcode::Add:
    return bits(a + b);
  case Opcode::Sub:
    return bits(a - b);
  case Opcode::Mul:
    return bits(a * b);
  case Opcode::Fma:
  case Opcode::Mad:
    return bits(std::fma(a, b, c));
  case Opcode::Min:
  case Opcode::Max:
    return bits(
        static_cast<Float>(extremum(i, static_cast<double>(a), static_cast<double>(b), i.opcode == Opcode::Min)));
  case Opcode::Div: // of f64, rounding is not written (ISA 9.7.3.8, 9.7.3.14)
    if (!i.has(Modifier::Rn))
      unknown(i);
    return bits(a / b);
  case Opcode::Sqrt:
    if (!i.has(Modifier::Rn))
      unknown(i);
    return bits(std::sqrt(a));
  case Opcode::Neg:
    return bits(-a);
  case Opcode::Abs:
    return bits(std::fabs(a));
  default:
    unknown(i);
  }
}

std::uint64_t floatOp(const Instruction &i, std::span<const std::uint64_t> in) {
  if (i.type.count != 1 || i.type.bits == 16 || i.has(Modifier::Ftz) || i.has(Modifier::Sat) || i.has(Modifier::Rz) ||
      i.has(Modifier::Rm) || i.has(Modifier::Rp))
    unknown(i);
  const auto value = [&](std::size_t at) { return at < in.size() ? floatOf(i.type, in[at]) : 0.0; };
  if (i.type.bits == 64)
    return floatResult<double>(i, value(0), value(1), value(2));
  return floatResult<float>(i, static_cast<float>(value(0)), static_cast<float>(value(1)),
                            static_cast<float>(value(2)));
}

__extension__ using Product = unsigned __int128;
__extension__ using SignedProduct = __int128;

/// mul and mad: the low or high half of the product, or all of it in a type of twice the width.
std::uint64_t product(const Instruction &i, std::uint64_t a, std::uint64_t b) {
  const unsigned bits = i.type.bits;
  Product whole = i.type.kind == Type::Signed
                      ? static_cast<Product>(static_cast<SignedProduct>(signedOf(a, bits)) * signedOf(b, bits))
                      : static_cast<Product>(a & maskOf(bits)) * (b & maskOf(bits));
  if (i.has(Modifier::Hi))
    whole >>= bits;
  else if (!i.has(Modifier::Lo) && !i.has(Modifier::Wide))
    unknown(i);
  return static_cast<std::uint64_t>(whole) & maskOf(i.has(Modifier::Wide) ? 2 * bits : bits);
}

/// div and rem. By zero the ISA leaves the result open: this one has all bits set.
std::uint64_t quotient(const Instruction &i, std::uint64_t a, std::uint64_t b, bool remainder) {
  const unsigned bits = i.type.bits;
  if ((b & maskOf(bits)) == 0)
    return maskOf(bits);
  if (i.type.kind == Type::Signed) {
    const std::int64_t x = signedOf(a, bits), y = signedOf(b, bits);
    if (y == -1)
      return remainder ? 0 : (0 - a) & maskOf(bits);
    return static_cast<std::uint64_t>(remainder ? x % y : x / y) & maskOf(bits);
  }
  const std::uint64_t x = a & maskOf(bits), y = b & maskOf(bits);
  return remainder ? x % y : x / y;
}

/// shl and shr: amounts above the width count as the width.
std::uint64_t shifted(const Instruction &i, std::uint64_t value, std::uint64_t amount) {
  const unsigned bits = i.type.bits;
  amount = std::min<std::uint64_t>(amount & maskOf(32), bits);
  value &= maskOf(bits);
  if (i.opcode == Opcode::Shl)
    return amount == 64 ? 0 : value << amount & maskOf(bits);
  if (i.type.kind == Type::Signed)
    return static_cast<std::uint64_t>(signedOf(value, bits) >> std::min<std::uint64_t>(amount, 63)) & maskOf(bits);
  return amount == 64 ? 0 : value >> amount;
}

/// shf: 32 bits of a pair, of which `b` is the upper half.
std::uint64_t funnel(const Instruction &i, std::uint64_t a, std::uint64_t b, std::uint64_t amount) {
  amount = i.has(Modifier::Wrap) ? amount & 31 : std::min<std::uint64_t>(amount & maskOf(32), 32);
  const std::uint64_t pair = (b & maskOf(32)) << 32 | (a & maskOf(32));
  return (i.has(Modifier::L) ? (amount == 0 ? pair : pair << amount) >> 32 : pair >> amount) & maskOf(32);
}

/// bfe: `length` bits from `first`; signed ones repeat the field's highest bit, or the value's where the field ends
/// beyond it.
std::uint64_t field(const Instruction &i, std::uint64_t value, std::uint64_t first, std::uint64_t length) {
  const unsigned bits = i.type.bits;
  first &= 0xff, length &= 0xff;
  if (length == 0)
    return 0;
  const std::uint64_t top = std::min<std::uint64_t>(first + length - 1, bits - 1);
  const bool sign = i.type.kind == Type::Signed && (value >> top & 1) != 0;
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const bool inside = bit < length && first + bit < bits;
    result |= static_cast<std::uint64_t>(inside ? value >> (first + bit) & 1 : sign) << bit;
  }
  return result;
}

/// bfi: `length` bits of `from` put into `into` at `first`.
std::uint64_t inserted(const Instruction &i, std::uint64_t from, std::uint64_t into, std::uint64_t first,
                       std::uint64_t length) {
  first &= 0xff, length &= 0xff;
  for (unsigned bit = 0; bit < length && first + bit < i.type.bits; ++bit) {
    const std::uint64_t at = std::uint64_t{1} << (first + bit);
    into = (from >> bit & 1) != 0 ? into | at : into & ~at;
  }
  return into & maskOf(i.type.bits);
}

/// prmt: four bytes of eight; the highest bit of a selector repeats the byte's sign.
std::uint64_t permuted(std::uint64_t a, std::uint64_t b, std::uint64_t selectors) {
  const std::uint64_t pair = (b & maskOf(32)) << 32 | (a & maskOf(32));
  std::uint64_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const std::uint64_t selector = selectors >> (4 * byte) & 15, chosen = pair >> (8 * (selector & 7)) & 0xff;
    result |= ((selector & 8) == 0 ? chosen : (chosen & 0x80) != 0 ? 0xff : 0) << (8 * byte);
  }
  return result;
}

std::uint64_t integerOp(const Instruction &i, std::span<const std::uint64_t> in) {
  const std::uint64_t mask = maskOf(i.type.bits);
  const bool isSigned = i.type.kind == Type::Signed;
  const auto less = [&](std::uint64_t a, std::uint64_t b) {
    return isSigned ? signedOf(a, i.type.bits) < signedOf(b, i.type.bits) : (a & mask) < (b & mask);
  };
  switch (i.opcode) {
  case Opcode::Add:
    return (in[0] + in[1]) & mask;
  case Opcode::Sub:
    return (in[0] - in[1]) & mask;
  case Opcode::Mul:
    return product(i, in[0], in[1]);
  case Opcode::Mad:
    return (product(i, in[0], in[1]) + in[2]) & maskOf(i.has(Modifier::Wide) ? 2 * i.type.bits : i.type.bits);
  case Opcode::Div:
  case Opcode::Rem:
    return quotient(i, in[0], in[1], i.opcode == Opcode::Rem);
  case Opcode::Min:
    return (less(in[0], in[1]) ? in[0] : in[1]) & mask;
  case Opcode::Max:
    return (less(in[0], in[1]) ? in[1] : in[0]) & mask;
  case Opcode::Neg:
    return (0 - in[0]) & mask;
  case Opcode::Abs:
    return (signedOf(in[0], i.type.bits) < 0 ? 0 - in[0] : in[0]) & mask;
  case Opcode::And:
    return in[0] & in[1] & mask;
  case Opcode::Or:
    return (in[0] | in[1]) & mask;
  case Opcode::Xor:
    return (in[0] ^ in[1]) & mask;
  case Opcode::Not:
    return ~in[0] & mask;
  case Opcode::Shl:
  case Opcode::Shr:
    return shifted(i, in[0], in[1]);
  case Opcode::Shf:
    return funnel(i, in[0], in[1], in[2]);
  case Opcode::Bfe:
    return field(i, in[0], in[1], in[2]);
  case Opcode::Bfi:
    return inserted(i, in[0], in[1], in[2], in[3]);
  case Opcode::Prmt:
    return permuted(in[0], in[1], in[2]);
  default:
    unknown(i);
  }
}

/// setp of floats: ordered comparisons are false of a NaN, those that end in `u` are true.
bool compareFloats(const Instruction &i, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  const auto is = [&](Modifier ordered, Modifier either, bool holds) {
    return (i.has(ordered) && !unordered && holds) || (i.has(either) && (unordered || holds));
  };
  return is(Modifier::Eq, Modifier::Equ, a == b) || is(Modifier::Lt, Modifier::Ltu, a < b) ||
         is(Modifier::Le, Modifier::Leu, a <= b) || is(Modifier::Gt, Modifier::Gtu, a > b) ||
         is(Modifier::Ge, Modifier::Geu, a >= b) || is(Modifier::Ne, Modifier::Neu, a != b) ||
         (i.has(Modifier::Num) && !unordered) || (i.has(Modifier::Nan) && unordered);
}

bool compareIntegers(const Instruction &i, std::uint64_t x, std::uint64_t y) {
  const unsigned bits = i.type.bits;
  const bool isSigned = i.type.kind == Type::Signed;
  const std::uint64_t a = isSigned ? static_cast<std::uint64_t>(signedOf(x, bits)) : x & maskOf(bits);
  const std::uint64_t b = isSigned ? static_cast<std::uint64_t>(signedOf(y, bits)) : y & maskOf(bits);
  const bool less = isSigned ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  return (i.has(Modifier::Eq) && a == b) || (i.has(Modifier::Ne) && a != b) || (i.has(Modifier::Lt) && less) ||
         (i.has(Modifier::Le) && (less || a == b)) || (i.has(Modifier::Gt) && !less && a != b) ||
         (i.has(Modifier::Ge) && !less);
}

std::uint64_t comparison(const Instruction &i, std::span<const std::uint64_t> in) {
  constexpr std::uint64_t one = 1;
  const auto bit = [](Modifier m) { return one << static_cast<unsigned>(m); };
  const std::uint64_t known = bit(Modifier::Nan) * 2 - 1; // comparisons come first among the words
  if (in.size() != 2 || (i.modifiers & ~known) != 0 || i.source.kind != Type::None)
    unknown(i);
  return isFloat(i.type) ? compareFloats(i, floatOf(i.type, in[0]), floatOf(i.type, in[1]))
                         : compareIntegers(i, in[0], in[1]);
}

/// To an integer: a NaN becomes 0, what is out of range the nearest number of the type.
std::uint64_t toInteger(const Instruction &i, double value) {
  if (!i.has(Modifier::Rzi) && !i.has(Modifier::Rni))
    unknown(i);
  if (std::isnan(value))
    return 0;
  value = i.has(Modifier::Rzi) ? std::trunc(value) : std::nearbyint(value);
  const unsigned bits = i.type.bits;
  if (i.type.kind == Type::Signed) {
    const double end = std::ldexp(1.0, static_cast<int>(bits) - 1);
    const std::int64_t most = static_cast<std::int64_t>(maskOf(bits - 1));
    const std::int64_t result = value >= end ? most : value < -end ? -most - 1 : static_cast<std::int64_t>(value);
    return static_cast<std::uint64_t>(result) & maskOf(bits);
  }
  const double end = std::ldexp(1.0, static_cast<int>(bits));
  return value >= end ? maskOf(bits) : value <= 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::uint64_t encodeFloat8(const Type &type, std::uint64_t bits) {
  const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return type.kind == Type::Float8E4m3 ? narrow::encode<narrow::E4m3>(value) : narrow::encode<narrow::E5m2>(value);
}
float decodeFloat8(const Type &type, std::uint64_t bits) {
  const auto byte = static_cast<std::uint8_t>(bits);
  return type.kind == Type::Float8E4m3 ? narrow::decode<narrow::E4m3>(byte) : narrow::decode<narrow::E5m2>(byte);
}
bool isFloat8(const Type &type) {
  return type.kind == Type::Float8E4m3 || type.kind == Type::Float8E5m2;
}

/// cvt to and from pairs. From two sources, the first becomes the upper half.
std::uint64_t convertPair(const Instruction &i, std::span<const std::uint64_t> in) {
  const Type half{Type::Float, 16};
  if (isFloat8(i.type) && i.source == Type{Type::Float, 32} && i.has(Modifier::Satfinite) && in.size() == 2)
    return encodeFloat8(i.type, in[0]) << 8 | encodeFloat8(i.type, in[1]);
  if (i.type == Type{Type::Float, 16, 2} && isFloat8(i.source) && i.source.count == 2)
    return bitsOf(half, decodeFloat8(i.source, in[0] >> 8)) << 16 | bitsOf(half, decodeFloat8(i.source, in[0]));
  if (isFloat(i.type) && i.type.count == 2 && i.source == Type{Type::Float, 32} && in.size() == 2) {
    const Type element{i.type.kind, 16};
    return bitsOf(element, floatOf(i.source, in[0])) << 16 | bitsOf(element, floatOf(i.source, in[1]));
  }
  unknown(i);
}

std::uint64_t convert(const Instruction &i, std::span<const std::uint64_t> in) {
  if (i.type.count != 1 || i.source.count != 1 || isFloat8(i.type))
    return convertPair(i, in);
  if (i.has(Modifier::Sat) || i.has(Modifier::Satfinite) || i.has(Modifier::Relu) || i.has(Modifier::Ftz))
    unknown(i);
  const unsigned from = i.source.bits;
  if (isFloat(i.source) && isFloat(i.type)) {
    if (i.type.bits < from && !i.has(Modifier::Rn))
      unknown(i);
    if (i.type.bits == 16 && from == 64)
      unknown(i);
    return bitsOf(i.type, floatOf(i.source, in[0]));
  }
  if (isFloat(i.source))
    return toInteger(i, floatOf(i.source, in[0]));
  const std::uint64_t value =
      i.source.kind == Type::Signed ? static_cast<std::uint64_t>(signedOf(in[0], from)) : in[0] & maskOf(from);
  if (!isFloat(i.type))
    return i.type.kind == Type::Signed ? static_cast<std::uint64_t>(signedOf(value, i.type.bits))
                                       : value & maskOf(i.type.bits);
  if (!i.has(Modifier::Rn) || i.type.bits == 16)
    unknown(i);
  const bool isSigned = i.source.kind == Type::Signed;
  if (i.type.bits == 32)
    return std::bit_cast<std::uint32_t>(isSigned ? static_cast<float>(static_cast<std::int64_t>(value))
                                                 : static_cast<float>(value));
  return std::bit_cast<std::uint64_t>(isSigned ? static_cast<double>(static_cast<std::int64_t>(value))
                                               : static_cast<double>(value));
}

/// rcp.approx.ftz.f32: subnormal inputs count as zero, subnormal results become zero.
std::uint64_t reciprocal(const Instruction &i, std::uint64_t in, int ulps) {
  if (i.type != Type{Type::Float, 32} || !i.has(Modifier::Approx) || !i.has(Modifier::Ftz))
    unknown(i);
  const auto flushed = [](float f) { return std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(0.0f, f) : f; };
  float result = flushed(1.0f / flushed(std::bit_cast<float>(static_cast<std::uint32_t>(in))));
  for (; ulps != 0 && std::isnormal(result); ulps += ulps < 0 ? 1 : -1)
    result = flushed(std::nextafter(result, ulps < 0 ? -HUGE_VALF : HUGE_VALF));
  return std::bit_cast<std::uint32_t>(result);
}

} // namespace

std::uint64_t compute(const Instruction &i, std::span<const std::uint64_t> in, int ulps) {
  switch (i.opcode) {
  case Opcode::Mov:
  case Opcode::Cvta:
    return i.type.kind == Type::Predicate ? in[0] & 1 : in[0] & maskOf(i.type.bits);
  case Opcode::Selp:
    return ((in[2] & 1) != 0 ? in[0] : in[1]) & maskOf(i.type.bits);
  case Opcode::Setp:
    return comparison(i, in);
  case Opcode::Cvt:
    return convert(i, in);
  case Opcode::Rcp:
    return reciprocal(i, in[0], ulps);
  default:
    break;
  }
  if (isFloat(i.type))
    return floatOp(i, in);
  return integerOp(i, in) & (i.type.kind == Type::Predicate ? 1 : ~std::uint64_t{0});
}

std::uint64_t atomicResult(const Instruction &i, std::uint64_t old, std::span<const std::uint64_t> in) {
  Instruction as = i;
  if (i.has(Modifier::OpCas))
    return ((old ^ in[0]) & maskOf(i.type.bits)) == 0 ? in[1] : old;
  if (i.has(Modifier::OpExch))
    return in[0];
  as.opcode = i.has(Modifier::OpAdd)   ? Opcode::Add
              : i.has(Modifier::OpMin) ? Opcode::Min
              : i.has(Modifier::OpMax) ? Opcode::Max
              : i.has(Modifier::OpAnd) ? Opcode::And
              : i.has(Modifier::OpOr)  ? Opcode::Or
              : i.has(Modifier::OpXor) ? Opcode::Xor
                                       : Opcode::Trap;
  if (isFloat(i.type))
    unknown(i);
  const std::uint64_t both[] = {old, in[0]};
  return integerOp(as, both);
}

std::uint64_t switchResult(const Instruction &i, std::span<const std::uint64_t> members) {
  const bool sum = i.has(Modifier::OpAdd), least = i.has(Modifier::OpMin);
  if (!sum && !least && !i.has(Modifier::OpMax))
    unknown(i);
  const Type element{i.type.kind, i.type.bits};
  if (!isFloat(element)) {
    std::uint64_t result = members[0];
    for (const std::uint64_t member : members.subspan(1)) {
      const std::uint64_t one[] = {member};
      result = atomicResult(i, result, one);
    }
    return result;
  }
  // A sum of narrow floats is formed in 32 bits, as .acc::f32 asks for. Without it the ISA promises less.
  if (sum && element.bits == 16 && !i.has(Modifier::AccF32))
    unknown(i);
  std::uint64_t result = 0;
  for (unsigned at = 0; at < i.type.count; ++at) {
    const unsigned shift = at * element.bits;
    double value = floatOf(element, members[0] >> shift & maskOf(element.bits));
    for (const std::uint64_t member : members.subspan(1)) {
      const double other = floatOf(element, member >> shift & maskOf(element.bits));
      if (!sum)
        value = extremum(i, value, other, least);
      else if (element.bits == 64)
        value += other;
      else
        value = static_cast<double>(static_cast<float>(value) + static_cast<float>(other));
    }
    result |= bitsOf(element, value) << shift;
  }
  return result;
}

} // namespace mscclc::ptx
