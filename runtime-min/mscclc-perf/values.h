// Test data whose sums and products are exact in every type and in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mscclc::perf {

/// The number of types (MscclcDtype), and the number of operations (MscclcReduceOp). Both are numbered from 0.
constexpr uint32_t typeCount = 0
#define MSCCLC_DTYPE(...) +1
#include "mscclc/dtypes.def"
    ;
constexpr uint32_t operationCount = 0
#define MSCCLC_REDUCE_OP(...) +1
#include "mscclc/reduce_ops.def"
    ;
const char *typeName(uint32_t dtype);
size_t typeBytes(uint32_t dtype);
const char *reduceName(uint32_t reduceOp);

/// The period of the data, in elements. It is a prime number, so no chunk is a whole number of periods.
constexpr size_t period = 65521;

using Table = std::vector<unsigned char>;

/// Returns one period of the input of a rank, as elements of a type.
Table inputTable(uint32_t dtype, uint32_t reduceOp, uint32_t ranks, uint32_t rank);
/// Returns one period of the reduced input of all ranks.
Table reducedTable(uint32_t dtype, uint32_t reduceOp, uint32_t ranks);

/// Writes `count` elements of periodic data that begin with element `first`.
void fill(unsigned char *to, const Table &table, size_t elementBytes, uint64_t first, uint64_t count);
/// Counts the elements among `count` that differ from the periodic data that begin with element `first`.
uint64_t countWrong(const unsigned char *data, const Table &table, size_t elementBytes, uint64_t first, uint64_t count);

} // namespace mscclc::perf
