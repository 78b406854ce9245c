// Compiles where a header of NCCL's interface has NCCL's names: the one that the fake NCCL and nccl-tests are compiled
// with, and NCCL's own.
#include <nccl.h>

#define NAME(name, number) static_assert(static_cast<int>(name) == (number), #name);
#include "names.def"

static_assert(sizeof(ncclUniqueId) == 128, "an id is passed by value");
