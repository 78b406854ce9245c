/* What libmscclc_nccl.so, the library in NCCL's place, has besides NCCL's functions. Plain C. */
#ifndef MSCCLC_NCCL_H
#define MSCCLC_NCCL_H

#include "mscclc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers a kernel for messages of `min` to `max` bytes, both included, and for elements of `types` ("f32,f16"; null
 * or empty: all). It comes before those that are listed; among those that fit, the highest priority wins, then the
 * narrowest range, then the first. Once a kernel is registered so, those that are merely loaded are not taken. `tags`
 * ("a,b") are for a selector. All ranks register the same, before the first collective of a communicator of so many
 * ranks; else NCCL runs every call of it. MSCCLC_ERROR_RENDEZVOUS: it is too late. MSCCLC_ERROR_ARGUMENT: an argument
 * is wrong. */
int32_t mscclc_nccl_register(const MscclcKernel *kernel, const char *tags, uint64_t min, uint64_t max, int32_t priority,
                             const char *types);

/* Lets `function` decide which kernel a call runs: it gets those that fit, those of mscclc_nccl_register first, then
 * listed ones, then those that the program has loaded, and answers with an index, or -1 for NCCL. Without one the first
 * is taken. It must answer the same on all ranks, so it may look at the query alone, and is set on all of them before
 * the first call. `in_place` of the query is that of the first kernel that fits. Null takes it back.
 *
 * Kernels that the program loads are taken if they are there at the first collective of any communicator of so many
 * ranks. Later ones are not: other ranks might not have them. */
void mscclc_nccl_set_selector(MscclcSelectFunction function, void *user);

#ifdef __cplusplus
}
#endif

#endif
