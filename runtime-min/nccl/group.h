// Groups. Calls are recorded until the outermost group ends. Then kernels run them, or they are passed on.
#pragma once

#include "call.h"
#include "registered.h"

namespace mscclc::nccl {

/// Handles a call of the program, alone or within a group. All functions here return a Result.
int submit(const Call &call);
int groupStart();
int groupEnd();
/// Destroys an operation of the program. Within a group, NCCL destroys it after the calls of the group are made,
/// because NCCL may have to run some of them.
int endOperation(int op, Comm comm);
/// Notes the `result` of a call that registers memory.
int registers(const Registration &registration, int result);
/// Passes the recorded calls on, and lets NCCL simulate the end of the group. `info` is passed on to NCCL.
int groupSimulateEnd(void *info);

} // namespace mscclc::nccl
