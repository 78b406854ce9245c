// Operations that the program has made: sums of what each rank has scaled (ncclRedOpCreatePreMulSum).
#pragma once

#include "call.h"

namespace mscclc::nccl {

/// NCCL has made an operation of a communicator. `factor` and `residence` are the arguments of its call.
void noteOperation(int op, const void *factor, int type, int residence, Comm comm);
/// What it scales by; none for NCCL's own operations and for those that it does not have.
std::optional<Factor> factorOf(int op, Comm comm);
/// The program has no further use for it.
void forgetOperation(int op, Comm comm);
/// The communicator ends.
void forgetOperations(Comm comm);

} // namespace mscclc::nccl
