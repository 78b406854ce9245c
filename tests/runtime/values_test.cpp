#include "catch.h"
#include "mscclc-perf/collective.h"
#include "mscclc-perf/values.h"
#include "mscclc/runtime.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mscclc;
using namespace mscclc::perf;

namespace {

/// Elements of 8 and 16 bits by the definition of their formats.
double decoded(uint32_t bits, int exponentBits, int mantissaBits) {
  const int bias = (1 << (exponentBits - 1)) - 1,
            exponent = static_cast<int>(bits >> mantissaBits) & ((1 << exponentBits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << mantissaBits) - 1);
  const double magnitude = std::ldexp(exponent == 0 ? mantissa : mantissa + (1 << mantissaBits),
                                      std::max(exponent, 1) - bias - mantissaBits);
  return (bits >> (exponentBits + mantissaBits) & 1) != 0 ? -magnitude : magnitude;
}

template <class T> T loaded(const Table &table, size_t i) {
  T value;
  std::memcpy(&value, &table[i * sizeof value], sizeof value);
  return value;
}

/// Element i of a table as a number: of 64-bit integers what doubles have of it.
double numberAt(const Table &table, uint32_t dtype, size_t i) {
  switch (static_cast<MscclcDtype>(dtype)) {
  case MSCCLC_F32:
    return loaded<float>(table, i);
  case MSCCLC_F16:
    return decoded(loaded<uint16_t>(table, i), 5, 10);
  case MSCCLC_BF16:
    return decoded(loaded<uint16_t>(table, i), 8, 7);
  case MSCCLC_I32:
    return loaded<int32_t>(table, i);
  case MSCCLC_U32:
    return loaded<uint32_t>(table, i);
  case MSCCLC_U8:
    return loaded<uint8_t>(table, i);
  case MSCCLC_F64:
    return loaded<double>(table, i);
  case MSCCLC_I64:
    return static_cast<double>(loaded<int64_t>(table, i));
  case MSCCLC_U64:
    return static_cast<double>(loaded<uint64_t>(table, i));
  case MSCCLC_I8:
    return loaded<int8_t>(table, i);
  case MSCCLC_F8E4M3:
    return decoded(loaded<uint8_t>(table, i), 4, 3);
  case MSCCLC_F8E5M2:
    return decoded(loaded<uint8_t>(table, i), 5, 2);
  case MSCCLC_ANY_DTYPE:
    break;
  }
  FAIL("no such type");
  return 0;
}

bool isInteger(uint32_t dtype) {
  const char first = typeName(dtype)[0];
  return first == 'i' || first == 'u';
}

/// Element i of a table of integers, without its sign.
uint64_t bitsAt(const Table &table, uint32_t dtype, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, &table[i * typeBytes(dtype)], typeBytes(dtype));
  return bits;
}

} // namespace

TEST_CASE("What is expected is what the inputs come to, exactly") {
  for (uint32_t dtype = 0; dtype < typeCount; ++dtype)
    for (const uint32_t op : {uint32_t{MSCCLC_SUM}, uint32_t{MSCCLC_PROD}})
      for (const uint32_t ranks : {2u, 16u, 72u}) {
        INFO(typeName(dtype) << " " << reduceName(op) << ", " << ranks << " ranks");
        std::vector<Table> inputs;
        for (uint32_t rank = 0; rank < ranks; ++rank)
          inputs.push_back(inputTable(dtype, op, ranks, rank));
        const Table reduced = reducedTable(dtype, op, ranks);
        const uint64_t mask = ~uint64_t{0} >> (64 - 8 * typeBytes(dtype));
        size_t wrong = 0, different = 0;
        for (size_t i = 0; i < 2000; ++i) {
          double real = op == MSCCLC_SUM ? 0 : 1;
          uint64_t whole = op == MSCCLC_SUM ? 0 : 1;
          for (const Table &input : inputs) {
            const double x = isInteger(dtype) ? 0 : numberAt(input, dtype, i);
            const uint64_t n = isInteger(dtype) ? bitsAt(input, dtype, i) : 0;
            real = op == MSCCLC_SUM ? real + x : real * x;
            whole = op == MSCCLC_SUM ? whole + n : whole * n;
          }
          wrong += isInteger(dtype) ? (whole & mask) != bitsAt(reduced, dtype, i) : real != numberAt(reduced, dtype, i);
          different += numberAt(inputs[0], dtype, i) != numberAt(inputs[1], dtype, i);
        }
        CHECK(wrong == 0);
        CHECK(different > 100); // swapped ranks would show
      }
}

TEST_CASE("Least and greatest") {
  for (uint32_t dtype = 0; dtype < typeCount; ++dtype)
    for (const uint32_t op : {uint32_t{MSCCLC_MIN}, uint32_t{MSCCLC_MAX}}) {
      const Table a = inputTable(dtype, op, 2, 0), b = inputTable(dtype, op, 2, 1),
                  reduced = reducedTable(dtype, op, 2);
      size_t wrong = 0;
      for (size_t i = 0; i < 2000; ++i) {
        const double x = numberAt(a, dtype, i), y = numberAt(b, dtype, i);
        wrong += numberAt(reduced, dtype, i) != (op == MSCCLC_MIN ? std::min(x, y) : std::max(x, y));
      }
      CHECK(wrong == 0);
    }
}

TEST_CASE("A changed, moved or missing element is counted") {
  const Table table = inputTable(MSCCLC_F32, MSCCLC_SUM, 4, 1);
  const uint64_t count = period + 100, first = period - 50;
  std::vector<unsigned char> data(count * 4);
  fill(data.data(), table, 4, first, count);
  CHECK(countWrong(data.data(), table, 4, first, count) == 0);
  data[4 * 120] ^= 1;
  data[4 * period + 3] ^= 0x80;
  CHECK(countWrong(data.data(), table, 4, first, count) == 2);
  CHECK(countWrong(data.data(), table, 4, first + 1, count) > count / 2);
}

namespace {
/// Of a message of 400 elements over 4 ranks, of which rank 1 is the root.
std::vector<Segment> definition(const char *name, uint32_t rank, bool rooted = false) {
  const collectives::Row *collective = collectives::find(name, rooted);
  REQUIRE(collective != nullptr);
  return segmentsOf(*collective, {4, 1, rank, 400});
}
} // namespace

TEST_CASE("The definitions of the collectives") {
  const auto gather = definition("allgather", 2);
  REQUIRE(gather.size() == 4);
  CHECK((gather[3].begin == 300 && gather[3].count == 100 && gather[3].first == 0 && gather[3].from == 3));
  const auto scatter = definition("reducescatter", 2);
  REQUIRE(scatter.size() == 1);
  CHECK((scatter[0].begin == 0 && scatter[0].count == 100 && scatter[0].first == 200 &&
         scatter[0].from == collectives::everyRank));
  const auto toAll = definition("alltoall", 2);
  CHECK((toAll[1].begin == 100 && toAll[1].first == 200 && toAll[1].from == 1));
  CHECK(definition("sendrecv", 0)[0].from == 3);
  CHECK(collectives::find("allreduce", false)->busFactor(8) == 1.75);
  CHECK(collectives::find("allgather", false)->busFactor(8) == 0.875);
  CHECK(definition("broadcast", 3, true)[0].from == 1);
  CHECK(definition("reduce", 1, true)[0].from == collectives::everyRank);
  CHECK(definition("reduce", 3, true).empty());
  const auto gathered = definition("gather", 1, true);
  CHECK((gathered.size() == 4 && gathered[3].begin == 1200 && gathered[3].count == 400 && gathered[3].from == 3));
  CHECK(definition("gather", 0, true).empty());
  const auto part = definition("scatter", 3, true);
  CHECK((part.size() == 1 && part[0].count == 100 && part[0].first == 300 && part[0].from == 1));
  CHECK(collectives::find("gather", true)->busFactor(8) == 7); // of a message that is the input of one rank
  CHECK(collectives::find("a custom one", false) == nullptr);
  CHECK(collectives::find("broadcast", false) == nullptr);
}

TEST_CASE("A message that ranks do not divide has a result all the same") {
  const auto sum = segmentsOf(collectives::of(collectives::Kind::AllReduce), {4, 0, 2, 3});
  REQUIRE(sum.size() == 1);
  CHECK((sum[0].begin == 0 && sum[0].count == 3 && sum[0].first == 0 && sum[0].from == collectives::everyRank));
  CHECK(segmentsOf(collectives::of(collectives::Kind::AllReduce), {4, 0, 2, 4003}).size() == 1);
}

TEST_CASE("What ranks give and get follows from what outputs end as") {
  using collectives::Kind;
  const auto &broadcast = collectives::of(Kind::Broadcast), &reduce = collectives::of(Kind::Reduce),
             &gather = collectives::of(Kind::Gather), &scatter = collectives::of(Kind::Scatter);
  CHECK((broadcast.gives(true) && !broadcast.gives(false) && broadcast.gets(false)));
  CHECK((reduce.gives(false) && reduce.gets(true) && !reduce.gets(false)));
  CHECK((gather.gives(false) && gather.gets(true) && !gather.gets(false)));
  CHECK((scatter.gives(true) && !scatter.gives(false) && scatter.gets(false)));
  std::string reducing, elementwise;
  for (const collectives::Row &row : collectives::rows) {
    reducing += row.reduces() ? std::string(" ") + row.name : "";
    elementwise += row.isElementwise() ? std::string(" ") + row.name : "";
  }
  CHECK(reducing == " allreduce reducescatter reduce");
  CHECK(elementwise == " allreduce sendrecv broadcast reduce");
}
