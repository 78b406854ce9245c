// Groups: calls are recorded until the outermost one ends, and then either run by kernels or passed on.
#pragma once

#include "call.h"
#include "registered.h"

namespace mscclc::nccl {

/// A call of the program, alone or within a group. All of these return a Result.
int submit(const Call &call);
int groupStart();
int groupEnd();
/// An operation of the program's own ends. Within a group NCCL hears of it when the group's calls are made, as some of
/// them may be NCCL's only then.
int endOperation(int op, Comm comm);
/// A call that registers memory has returned `result`.
int registers(const Registration &registration, int result);
/// `info` is NCCL's.
int groupSimulateEnd(void *info);

} // namespace mscclc::nccl
