// Tests each computing instruction against its definition in the PTX ISA (version 9.0, chapter 9.7).
#include "catch.h"

#include "arithmetic.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace mscclc::ptx;

namespace {

/// The result of an instruction with these sources.
std::uint64_t of(const std::string &opcode, const std::vector<std::uint64_t> &sources, int ulps = 0) {
  std::string text = ".version 9.0\n.target sm_90\n.entry e() {\n" + opcode + " %d";
  for (std::size_t i = 0; i < sources.size(); ++i)
    text += ", %s" + std::to_string(i);
  const Module module = readModule(text + ";\nret;\n}\n");
  return compute(module.functions.at(0).code.at(0), sources, ulps);
}

std::uint64_t bits(float f) {
  return std::bit_cast<std::uint32_t>(f);
}
std::uint64_t bits(double d) {
  return std::bit_cast<std::uint64_t>(d);
}
float asFloat(std::uint64_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b));
}
constexpr std::uint64_t minus(std::uint64_t v, unsigned width) {
  return (0 - v) & (width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1);
}
const float notANumber = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

} // namespace

TEST_CASE("integers wrap around") {
  CHECK(of("add.s32", {0x7fffffff, 1}) == 0x80000000);
  CHECK(of("add.s32", {0xffffffff, 1}) == 0);
  CHECK(of("add.s64", {~0ull, 2}) == 1);
  CHECK(of("add.s16", {0xffff, 3}) == 2);
  CHECK(of("sub.s32", {0, 1}) == 0xffffffff);
  CHECK(of("sub.u64", {0, 1}) == ~0ull);
  CHECK(of("neg.s32", {0x80000000}) == 0x80000000);
  CHECK(of("neg.s64", {5}) == minus(5, 64));
  CHECK(of("abs.s32", {minus(5, 32)}) == 5);
}

TEST_CASE("products have a low half, a high half, or all") {
  CHECK(of("mul.lo.s32", {0x10000, 0x10000}) == 0);
  CHECK(of("mul.hi.u32", {0x10000, 0x10000}) == 1);
  CHECK(of("mul.hi.s32", {minus(1, 32), 1}) == 0xffffffff);
  CHECK(of("mul.wide.s32", {minus(2, 32), 3}) == minus(6, 64));
  CHECK(of("mul.wide.u32", {0xffffffff, 0xffffffff}) == 0xfffffffe00000001);
  CHECK(of("mul.wide.u16", {0xffff, 0xffff}) == 0xfffe0001);
  CHECK(of("mul.lo.s64", {~0ull, 7}) == minus(7, 64));
  CHECK(of("mul.hi.u64", {~0ull, ~0ull}) == ~0ull - 1);
  CHECK(of("mad.lo.s32", {0x80000001, 2, 5}) == 7);
  CHECK(of("mad.lo.s64", {1ull << 63, 2, 9}) == 9);
  CHECK_THROWS_AS(of("mul.s32", {1, 1}), Unknown);
}

TEST_CASE("quotients are cut towards zero, and remainders have the dividend's sign") {
  CHECK(of("div.u32", {7, 2}) == 3);
  CHECK(of("div.s32", {minus(7, 32), 2}) == minus(3, 32));
  CHECK(of("rem.s32", {minus(7, 32), 2}) == minus(1, 32));
  CHECK(of("div.s32", {0x80000000, 0xffffffff}) == 0x80000000);
  CHECK(of("rem.s64", {1ull << 63, ~0ull}) == 0);
  CHECK(of("rem.u32", {7, 4}) == 3);
  CHECK(of("div.u64", {~0ull, 1ull << 32}) == 0xffffffff);
}

TEST_CASE("shifts by the width or more leave nothing but the sign") {
  CHECK(of("shl.b32", {1, 31}) == 0x80000000);
  CHECK(of("shl.b32", {1, 32}) == 0);
  CHECK(of("shl.b64", {1, 64}) == 0);
  CHECK(of("shl.b16", {0xffff, 8}) == 0xff00);
  CHECK(of("shr.u32", {0x80000000, 31}) == 1);
  CHECK(of("shr.u64", {~0ull, 200}) == 0);
  CHECK(of("shr.s32", {0x80000000, 40}) == 0xffffffff);
  CHECK(of("shr.s16", {0x8000, 15}) == 0xffff);
  CHECK(of("shr.s64", {1ull << 63, 63}) == ~0ull);
  CHECK(of("shf.l.wrap.b32", {0x80000000, 1, 33}) == 3);
  CHECK(of("shf.r.clamp.b32", {1, 2, 40}) == 2);
}

TEST_CASE("bits and bytes are picked, put and permuted") {
  CHECK(of("and.b32", {0xff00ff, 0xffff}) == 0xff);
  CHECK(of("or.b64", {1, 2}) == 3);
  CHECK(of("xor.b16", {0xffff, 1}) == 0xfffe);
  CHECK(of("not.b32", {1}) == 0xfffffffe);
  CHECK(of("not.pred", {1}) == 0);
  CHECK(of("xor.pred", {1, 1}) == 0);
  CHECK(of("bfe.u32", {0xabcd, 4, 8}) == 0xbc);
  CHECK(of("bfe.s32", {0x80, 4, 4}) == 0xfffffff8);
  CHECK(of("bfe.u32", {0xffffffff, 28, 16}) == 0xf);
  CHECK(of("bfe.s32", {0x80000000, 31, 8}) == 0xffffffff);
  CHECK(of("bfe.u32", {0xffffffff, 3, 0}) == 0);
  CHECK(of("bfi.b32", {0xf, 0, 8, 4}) == 0xf00);
  CHECK(of("bfi.b64", {0, ~0ull, 32, 64}) == 0xffffffff);
  CHECK(of("prmt.b32", {0x33221100, 0x77665544, 0x7531}) == 0x77553311);
  CHECK(of("prmt.b32", {0x80, 0, 0x8888}) == 0xffffffff);
  CHECK(of("selp.b32", {1, 2, 1}) == 1);
  CHECK(of("selp.f32", {1, 2, 0}) == 2);
}

TEST_CASE("comparisons go by the type") {
  CHECK(of("setp.lt.s32", {0xffffffff, 0}) == 1);
  CHECK(of("setp.lt.u32", {0xffffffff, 0}) == 0);
  CHECK(of("setp.ge.u64", {1ull << 63, 1}) == 1);
  CHECK(of("setp.gt.s64", {1ull << 63, 1}) == 0);
  CHECK(of("setp.eq.s16", {0x10001, 1}) == 1);
  CHECK(of("setp.ne.b32", {1, 1}) == 0);
  CHECK(of("setp.le.s32", {3, 3}) == 1);
  CHECK(of("setp.lt.f32", {bits(notANumber), bits(1.0f)}) == 0);
  CHECK(of("setp.ltu.f32", {bits(notANumber), bits(1.0f)}) == 1);
  CHECK(of("setp.nan.f32", {bits(notANumber), bits(1.0f)}) == 1);
  CHECK(of("setp.num.f32", {bits(notANumber), bits(1.0f)}) == 0);
  CHECK(of("setp.eq.f32", {bits(0.0f), bits(-0.0f)}) == 1);
  CHECK(of("setp.ne.f32", {bits(notANumber), bits(notANumber)}) == 0);
  CHECK(of("setp.gt.f64", {bits(2.0), bits(1.0)}) == 1);
  CHECK_THROWS_AS(of("setp.lo.u32", {0, 1}), Unknown);
}

TEST_CASE("the least and the greatest of floats ignore a NaN, and -0 is less than 0") {
  CHECK(of("min.s32", {0xffffffff, 1}) == 0xffffffff);
  CHECK(of("min.u32", {0xffffffff, 1}) == 1);
  CHECK(of("max.s16", {0x8000, 1}) == 1);
  CHECK(of("max.u64", {~0ull, 1}) == ~0ull);
  CHECK(of("min.f32", {bits(notANumber), bits(2.0f)}) == bits(2.0f));
  CHECK(of("max.f32", {bits(2.0f), bits(notANumber)}) == bits(2.0f));
  CHECK(std::isnan(asFloat(of("max.NaN.f32", {bits(2.0f), bits(notANumber)}))));
  CHECK(of("min.f32", {bits(0.0f), bits(-0.0f)}) == bits(-0.0f));
  CHECK(of("max.f64", {bits(-0.0), bits(0.0)}) == bits(0.0));
}

TEST_CASE("floats are rounded to the nearest, even, once") {
  CHECK(of("add.f32", {bits(16777216.0f), bits(1.0f)}) == bits(16777216.0f));
  CHECK(of("add.f32", {bits(16777216.0f), bits(3.0f)}) == bits(16777220.0f));
  CHECK(of("mul.f64", {bits(0.1), bits(3.0)}) == bits(0.1 * 3.0));
  CHECK(of("sub.f32", {bits(1.0f), bits(infinity)}) == bits(-infinity));
  const float a = 1.0f + std::ldexp(1.0f, -12);
  CHECK(of("fma.rn.f32", {bits(a), bits(a), bits(-1.0f)}) == bits(std::fma(a, a, -1.0f)));
  CHECK(of("fma.rn.f32", {bits(a), bits(a), bits(-1.0f)}) != bits(a * a - 1.0f));
  // 9.7.3.8 and 9.7.3.14: div.rn and sqrt.rn are IEEE 754's.
  CHECK(of("div.rn.f32", {bits(1.0f), bits(3.0f)}) == bits(1.0f / 3.0f));
  CHECK(of("div.rn.f32", {bits(-1.0f), bits(0.0f)}) == bits(-infinity));
  CHECK(of("sqrt.rn.f32", {bits(2.0f)}) == bits(std::sqrt(2.0f)));
  CHECK(std::isnan(asFloat(of("sqrt.rn.f32", {bits(-1.0f)}))));
  CHECK_THROWS_AS(of("div.full.f32", {0, 0}), Unknown);
  CHECK_THROWS_AS(of("sqrt.approx.f32", {0}), Unknown);
  CHECK(of("neg.f32", {bits(0.0f)}) == bits(-0.0f));
  CHECK(of("abs.f32", {bits(-3.0f)}) == bits(3.0f));
  CHECK_THROWS_AS(of("add.ftz.f32", {0, 0}), Unknown);
}

TEST_CASE("conversions of integers extend or cut") {
  CHECK(of("cvt.u64.u32", {0xffffffff}) == 0xffffffff);
  CHECK(of("cvt.s64.s32", {0xffffffff}) == ~0ull);
  CHECK((of("cvt.s16.s8", {0x80}) & 0xffff) == 0xff80);
  CHECK(of("cvt.u16.u32", {0x12345}) == 0x2345);
  CHECK((of("cvt.s8.s32", {0x1ff}) & 0xff) == 0xff);
  CHECK(of("cvt.u32.u64", {1ull << 32 | 7}) == 7);
}

TEST_CASE("conversions between integers and floats") {
  CHECK(of("cvt.rn.f32.u32", {16777217}) == bits(16777216.0f));
  CHECK(of("cvt.rn.f32.u16", {0xffff}) == bits(65535.0f));
  CHECK(of("cvt.rn.f64.s64", {minus(1, 64)}) == bits(-1.0));
  CHECK(of("cvt.rn.f32.u64", {~0ull}) == bits(18446744073709551616.0f));
  CHECK(of("cvt.rzi.u32.f32", {bits(3.9f)}) == 3);
  CHECK(of("cvt.rzi.u32.f32", {bits(-3.9f)}) == 0);
  CHECK(of("cvt.rzi.u32.f32", {bits(1e20f)}) == 0xffffffff);
  CHECK(of("cvt.rzi.u32.f32", {bits(notANumber)}) == 0);
  CHECK(of("cvt.rzi.s32.f32", {bits(-1e20f)}) == 0x80000000);
  CHECK(of("cvt.rni.s32.f32", {bits(2.5f)}) == 2);
  CHECK_THROWS_AS(of("cvt.f32.u32", {1}), Unknown);
}

TEST_CASE("conversions between floats") {
  CHECK(of("cvt.f32.f16", {0x3c00}) == bits(1.0f));
  CHECK(of("cvt.f32.f16", {0x0001}) == bits(std::ldexp(1.0f, -24)));
  CHECK(of("cvt.f32.f16", {0xfc00}) == bits(-infinity));
  CHECK(of("cvt.rn.f16.f32", {bits(65519.0f)}) == 0x7bff);
  CHECK(of("cvt.rn.f16.f32", {bits(65520.0f)}) == 0x7c00);
  CHECK(of("cvt.rn.f16.f32", {bits(1.0f + std::ldexp(1.0f, -11))}) == 0x3c00);     // a tie, to even
  CHECK(of("cvt.rn.f16.f32", {bits(1.0f + 3 * std::ldexp(1.0f, -11))}) == 0x3c02); // a tie, to even
  CHECK(of("cvt.rn.bf16.f32", {bits(1.0f + std::ldexp(1.0f, -8))}) == 0x3f80);
  CHECK(of("cvt.rn.bf16.f32", {bits(1.0f + 3 * std::ldexp(1.0f, -8))}) == 0x3f82);
  CHECK(of("cvt.rn.f32.f64", {bits(1e300)}) == bits(infinity));
  CHECK(of("cvt.f64.f32", {bits(1.5f)}) == bits(1.5));
  // Of two sources the first is the upper half.
  CHECK(of("cvt.rn.satfinite.e4m3x2.f32", {bits(1.0f), bits(1000.0f)}) == 0x387e);
  CHECK(of("cvt.rn.satfinite.e5m2x2.f32", {bits(-2.0f), bits(1e30f)}) == 0xc07b);
  CHECK(of("cvt.rn.f16x2.e4m3x2", {0x38c0}) == 0x3c00c000);
  CHECK(of("cvt.rn.f16x2.e5m2x2", {0x3cc0}) == 0x3c00c000);
  CHECK_THROWS_AS(of("cvt.f16.f32", {0}), Unknown);
}

TEST_CASE("an approximate reciprocal is as far off as it is asked to be") {
  CHECK(of("rcp.approx.ftz.f32", {bits(3.0f)}) == bits(1.0f / 3.0f));
  CHECK(of("rcp.approx.ftz.f32", {bits(3.0f)}, 1) == bits(1.0f / 3.0f) + 1);
  CHECK(of("rcp.approx.ftz.f32", {bits(3.0f)}, -1) == bits(1.0f / 3.0f) - 1);
  CHECK(of("rcp.approx.ftz.f32", {bits(-0.0f)}, 1) == bits(-infinity));
  CHECK(of("rcp.approx.ftz.f32", {bits(std::ldexp(1.0f, -130))}) == bits(infinity)); // a subnormal counts as 0
  CHECK_THROWS_AS(of("rcp.rn.f32", {bits(3.0f)}), Unknown);
}

TEST_CASE("atomic operations and a switch reduce as the type says") {
  const auto instruction = [](const std::string &text) {
    return readModule(".version 9.0\n.target sm_90\n.entry e() {\n" + text + " %d, [%a], %b;\nret;\n}\n")
        .functions.at(0)
        .code.at(0);
  };
  const auto atomic = [&](const std::string &text, std::uint64_t old, const std::vector<std::uint64_t> &sources) {
    return atomicResult(instruction(text), old, sources);
  };
  CHECK(atomic("atom.global.add.u32", 0xffffffff, {1}) == 0);
  CHECK(atomic("atom.global.cas.b32", 5, {5, 9}) == 9);
  CHECK(atomic("atom.global.cas.b32", 6, {5, 9}) == 6);
  CHECK(atomic("atom.global.or.b64", 1, {1ull << 63}) == ((1ull << 63) | 1));
  CHECK(atomic("atom.global.exch.b32", 1, {2}) == 2);
  CHECK(atomic("atom.global.max.s32", 0xffffffff, {1}) == 1);
  const auto reduced = [&](const std::string &text, const std::vector<std::uint64_t> &members) {
    return switchResult(instruction(text), members);
  };
  CHECK(reduced("multimem.ld_reduce.relaxed.sys.global.add.v4.f32", {bits(1.0f), bits(2.0f), bits(0.5f)}) ==
        bits(3.5f));
  CHECK(reduced("multimem.ld_reduce.relaxed.sys.global.add.f64", {bits(1.0), bits(0x1p-40)}) == bits(1.0 + 0x1p-40));
  CHECK(reduced("multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.f16x2", {0x3c003c00, 0x40003c00}) == 0x42004000);
  CHECK(reduced("multimem.ld_reduce.relaxed.sys.global.max.v4.bf16x2", {0x3f80bf80, 0x40000000}) == 0x40000000);
  CHECK(reduced("multimem.ld_reduce.relaxed.sys.global.min.s32", {0xffffffff, 1}) == 0xffffffff);
  CHECK_THROWS_AS(reduced("multimem.ld_reduce.relaxed.sys.global.add.v4.f16x2", {0, 0}), Unknown);
}
