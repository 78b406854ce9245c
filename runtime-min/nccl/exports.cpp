// NCCL's functions that are more than a jump. Their second names, with a `p`, are the same functions: a profiler that
// stands before this library calls them so.
#include "group.h"
#include "library.h"
#include "log.h"
#include "mscclc/nccl.h"
#include "operations.h"
#include "real.h"
#include "registered.h"
#include "side_table.h"

using namespace mscclc::nccl;

#if defined(__aarch64__)
#define MSCCLC_FUNCTION "%function"
#else
#define MSCCLC_FUNCTION "@function"
#endif
#define OWN(name) asm(".globl p" #name "\n.type p" #name ", " MSCCLC_FUNCTION "\n.set p" #name ", " #name "\n");
#include "functions.def"

namespace {

/// Whether communicators can be made at all.
bool refuses() {
  const std::string why = refusal();
  if (!why.empty())
    warn(why);
  return !why.empty();
}

Call callOf(Kind kind, const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream) {
  Call call;
  call.kind = kind;
  call.send = send;
  call.recv = recv;
  call.count = count;
  call.type = type;
  call.comm = comm;
  call.stream = stream;
  return call;
}

int withOp(Call call, int op) {
  call.op = op;
  call.factor = factorOf(op, call.comm);
  return submit(call);
}

int withRoot(Call call, int root) {
  call.root = root;
  return submit(call);
}

} // namespace

extern "C" {

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op, Comm comm, cudaStream_t stream) {
  return withOp(callOf(Kind::AllReduce, send, recv, count, type, comm, stream), op);
}
int ncclAllGather(const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream) {
  return submit(callOf(Kind::AllGather, send, recv, count, type, comm, stream));
}
int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, Comm comm, cudaStream_t stream) {
  return withOp(callOf(Kind::ReduceScatter, send, recv, count, type, comm, stream), op);
}
int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  return withRoot(callOf(Kind::Broadcast, send, recv, count, type, comm, stream), root);
}
int ncclBcast(void *buffer, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root, Comm comm, cudaStream_t stream) {
  Call call = callOf(Kind::Reduce, send, recv, count, type, comm, stream);
  call.root = root;
  return withOp(call, op);
}
int ncclAlltoAll(const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream) {
  return submit(callOf(Kind::AllToAll, send, recv, count, type, comm, stream));
}
int ncclGather(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  return withRoot(callOf(Kind::Gather, send, recv, count, type, comm, stream), root);
}
int ncclScatter(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  return withRoot(callOf(Kind::Scatter, send, recv, count, type, comm, stream), root);
}
int ncclSend(const void *send, size_t count, int type, int peer, Comm comm, cudaStream_t stream) {
  return withRoot(callOf(Kind::Send, send, nullptr, count, type, comm, stream), peer);
}
int ncclRecv(void *recv, size_t count, int type, int peer, Comm comm, cudaStream_t stream) {
  return withRoot(callOf(Kind::Recv, nullptr, recv, count, type, comm, stream), peer);
}

int ncclGroupStart() {
  return groupStart();
}
int ncclGroupEnd() {
  return groupEnd();
}
int ncclGroupSimulateEnd(void *info) {
  return groupSimulateEnd(info);
}

int ncclCommInitRank(Comm *comm, int ranks, UniqueId id, int rank) {
  return refuses() ? InvalidUsage : real().commInitRank(comm, ranks, id, rank);
}
int ncclCommInitRankConfig(Comm *comm, int ranks, UniqueId id, int rank, void *config) {
  return refuses() ? InvalidUsage : real().commInitRankConfig(comm, ranks, id, rank, config);
}
int ncclCommInitRankScalable(Comm *comm, int ranks, int rank, int ids, UniqueId *id, void *config) {
  return refuses() ? InvalidUsage : real().commInitRankScalable(comm, ranks, rank, ids, id, config);
}
int ncclCommInitAll(Comm *comms, int count, const int *devices) {
  return refuses() ? InvalidUsage : real().commInitAll(comms, count, devices);
}
int ncclRedOpCreatePreMulSum(int *op, void *factor, int type, int residence, Comm comm) {
  const int result = real().redOpCreatePreMulSum(op, factor, type, residence, comm);
  if (result == Success)
    noteOperation(*op, factor, type, residence, comm);
  return result;
}
int ncclRedOpDestroy(int op, Comm comm) {
  forgetOperation(op, comm);
  return endOperation(op, comm);
}

int ncclCommRegister(Comm comm, void *memory, size_t bytes, void **handle) {
  return registers({comm, memory, bytes, handle, false}, real().commRegister(comm, memory, bytes, handle));
}
int ncclCommDeregister(Comm comm, void *handle) {
  forgetRegistration(comm, handle);
  return real().commDeregister(comm, handle);
}
int ncclCommWindowRegister(Comm comm, void *memory, size_t bytes, void **window, int flags) {
  constexpr int symmetric = 1; // NCCL_WIN_COLL_SYMMETRIC
  return registers({comm, memory, bytes, window, (flags & symmetric) != 0},
                   real().commWindowRegister(comm, memory, bytes, window, flags));
}
int ncclCommWindowDeregister(Comm comm, void *window) {
  forgetRegistration(comm, window);
  return real().commWindowDeregister(comm, window);
}
int ncclMemAlloc(void **memory, size_t bytes) {
  const int result = real().memAlloc(memory, bytes);
  if (result == Success)
    noteAllocation(*memory, bytes);
  return result;
}
int ncclMemFree(void *memory) {
  forgetAllocation(memory);
  return real().memFree(memory);
}

int ncclCommDestroy(Comm comm) {
  forgetOperations(comm);
  forgetRegistrations(comm);
  if (const std::shared_ptr<Member> member = take(comm))
    leaveTeam(*member);
  return real().commDestroy(comm);
}
int ncclCommAbort(Comm comm) {
  forgetOperations(comm);
  forgetRegistrations(comm);
  const std::shared_ptr<Member> member = take(comm);
  if (member)
    abortTeam(*member);
  const int result = real().commAbort(comm);
  if (member)
    leaveTeam(*member);
  return result;
}
int ncclCommGetAsyncError(Comm comm, int *state) {
  const int result = real().commGetAsyncError(comm, state);
  if (result == Success && state != nullptr && *state != InProgress)
    endAwaited(comm, *state == Success);
  if (result == Success && state != nullptr && *state == Success && hasFailed(comm))
    *state = InternalError;
  return result;
}

const char *ncclGetErrorString(int result) {
  if (real().getErrorString != nullptr)
    return real().getErrorString(result);
  return result == Success ? "no error" : "there is no NCCL behind libmscclc_nccl.so";
}
const char *ncclGetLastError(Comm comm) {
  return real().getLastError != nullptr ? real().getLastError(comm) : "";
}

void mscclc_nccl_set_selector(MscclcSelectFunction function, void *user) {
  setSelector(function, user);
}
}
