// Reductions of NCCL's types.
#pragma once

#include "nccl.h"

namespace fake {

size_t bytesOf(ncclDataType_t type); ///< 0 for no type
bool canReduce(ncclDataType_t type);
/// into[i] = from[0][i] op from[1][i] …; ncclAvg divides at the end; operations from ncclNumOps on are sums.
void reduce(void *into, const char *const *from, int ranks, size_t count, ncclDataType_t type, int op);
/// data[i] *= scalar, which is of the type.
void scale(void *data, size_t count, ncclDataType_t type, const void *scalar);

} // namespace fake
