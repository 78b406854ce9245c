/* The functions that libmscclc_nccl.so, the library in NCCL's place, has besides those of NCCL. Plain C. */
#ifndef MSCCLC_NCCL_H
#define MSCCLC_NCCL_H

#include "mscclc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Registers a kernel for messages of `min` to `max` bytes, both included, and for elements of `types` ("f32,f16";
 * null or empty: all types). Registered kernels come before listed ones. Among the kernels that fit, the highest
 * priority wins, then the narrowest range, then the first one. After this call, kernels that are merely loaded are
 * not used. `tags` ("a,b") are for a selector. All ranks must register the same kernels, before the first collective
 * of a communicator with so many ranks; otherwise NCCL runs all its calls. MSCCLC_ERROR_RENDEZVOUS: the call is too
 * late. MSCCLC_ERROR_ARGUMENT: an argument is wrong. */
int32_t mscclc_nccl_register(const MscclcKernel *kernel, const char *tags, uint64_t min, uint64_t max, int32_t priority,
                             const char *types);

/* Lets `function` decide which kernel runs a call. It gets the kernels that fit: first those of
 * mscclc_nccl_register, then listed ones, then those that the program has loaded. It returns an index, or -1 for
 * NCCL. Without a function the first kernel is taken. The answer must be the same on all ranks, so it may depend
 * only on the query, and all ranks must set it before the first call. `in_place` of the query belongs to the first
 * kernel that fits. Null removes the function.
 *
 * Kernels that the program loads are used if they are loaded before the first collective of any communicator with so
 * many ranks. Later ones are not used, because other ranks might not have them. */
void mscclc_nccl_set_selector(MscclcSelectFunction function, void *user);

#ifdef __cplusplus
}
#endif

#endif
