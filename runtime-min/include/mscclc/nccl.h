/* What libmscclc_nccl.so, the library in NCCL's place, has besides NCCL's functions. Plain C. */
#ifndef MSCCLC_NCCL_H
#define MSCCLC_NCCL_H

#include "mscclc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lets `function` decide which kernel a call runs: it gets those that fit, the listed ones first, then those that the
 * program has registered, and answers with an index, or -1 for NCCL. Without one the first is taken. It must answer the
 * same on all ranks, so it may look at the query alone, and is set on all of them before the first call. `in_place` of
 * the query is that of the first kernel that fits. Null takes it back.
 *
 * Kernels that the program registers are taken if they are there at the first collective of any communicator of so many
 * ranks. Later ones are not: other ranks might not have them. */
void mscclc_nccl_set_selector(MscclcSelectFunction function, void *user);

#ifdef __cplusplus
}
#endif

#endif
