// The program's own operations. Each is a sum of data that every rank has scaled (ncclRedOpCreatePreMulSum).
#pragma once

#include "call.h"

namespace mscclc::nccl {

/// Notes that NCCL has made an operation of a communicator. `factor` and `residence` are the arguments of the call.
void noteOperation(int op, const void *factor, int type, int residence, Comm comm);
/// Returns the factor of an operation; none for NCCL's own operations and for unknown ones.
std::optional<Factor> factorOf(int op, Comm comm);
/// Forgets an operation that the program has destroyed.
void forgetOperation(int op, Comm comm);
/// Forgets all operations of a communicator that ends.
void forgetOperations(Comm comm);

} // namespace mscclc::nccl
