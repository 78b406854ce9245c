// The functions of NCCL that do more than a jump. Their second names, with a `p`, are the same functions. A profiler
// that is loaded before this library calls them by these names.
#include "config.h"
#include "group.h"
#include "library.h"
#include "log.h"
#include "mscclc/nccl.h"
#include "operations.h"
#include "real.h"
#include "registered.h"
#include "side_table.h"

#include <sstream>

using namespace mscclc::nccl;

#if defined(__aarch64__)
#define MSCCLC_FUNCTION "%function"
#else
#define MSCCLC_FUNCTION "@function"
#endif
#define OWN(name) asm(".globl p" #name "\n.type p" #name ", " MSCCLC_FUNCTION "\n.set p" #name ", " #name "\n");
#include "functions.def"

// The real library may call its own function by name and reach this one. Then the call goes back to the real library,
// unchanged and unrecorded.
#define MSCCLC_PASS_ON(call)                                                                                           \
  if (isReal(__builtin_extract_return_addr(__builtin_return_address(0))))                                              \
  return real().call

namespace {

/// True if no communicator can be made. Then warns with the reason.
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
  MSCCLC_PASS_ON(allReduce(send, recv, count, type, op, comm, stream));
  return withOp(callOf(Kind::AllReduce, send, recv, count, type, comm, stream), op);
}
int ncclAllGather(const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(allGather(send, recv, count, type, comm, stream));
  return submit(callOf(Kind::AllGather, send, recv, count, type, comm, stream));
}
int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(reduceScatter(send, recv, count, type, op, comm, stream));
  return withOp(callOf(Kind::ReduceScatter, send, recv, count, type, comm, stream), op);
}
int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(broadcast(send, recv, count, type, root, comm, stream));
  return withRoot(callOf(Kind::Broadcast, send, recv, count, type, comm, stream), root);
}
int ncclBcast(void *buffer, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(broadcast(buffer, buffer, count, type, root, comm, stream));
  return withRoot(callOf(Kind::Broadcast, buffer, buffer, count, type, comm, stream), root);
}
int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(reduce(send, recv, count, type, op, root, comm, stream));
  Call call = callOf(Kind::Reduce, send, recv, count, type, comm, stream);
  call.root = root;
  return withOp(call, op);
}
int ncclAlltoAll(const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(allToAll(send, recv, count, type, comm, stream));
  return submit(callOf(Kind::AllToAll, send, recv, count, type, comm, stream));
}
int ncclGather(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(gather(send, recv, count, type, root, comm, stream));
  return withRoot(callOf(Kind::Gather, send, recv, count, type, comm, stream), root);
}
int ncclScatter(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(scatter(send, recv, count, type, root, comm, stream));
  return withRoot(callOf(Kind::Scatter, send, recv, count, type, comm, stream), root);
}
int ncclSend(const void *send, size_t count, int type, int peer, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(send(send, count, type, peer, comm, stream));
  return withRoot(callOf(Kind::Send, send, nullptr, count, type, comm, stream), peer);
}
int ncclRecv(void *recv, size_t count, int type, int peer, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(recv(recv, count, type, peer, comm, stream));
  return withRoot(callOf(Kind::Recv, nullptr, recv, count, type, comm, stream), peer);
}

// The functions of NCCL 2.31. NCCL runs a call if its configuration asks for something that only NCCL has.
int ncclAllReduceConfig(const void *send, void *recv, size_t count, int type, int op, Comm comm, cudaStream_t stream,
                        const void *config) {
  MSCCLC_PASS_ON(allReduceConfig(send, recv, count, type, op, comm, stream, config));
  return withOp(withConfig(callOf(Kind::AllReduce, send, recv, count, type, comm, stream), config), op);
}
int ncclAllGatherConfig(const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream,
                        const void *config) {
  MSCCLC_PASS_ON(allGatherConfig(send, recv, count, type, comm, stream, config));
  return submit(withConfig(callOf(Kind::AllGather, send, recv, count, type, comm, stream), config));
}
int ncclReduceScatterConfig(const void *send, void *recv, size_t count, int type, int op, Comm comm,
                            cudaStream_t stream, const void *config) {
  MSCCLC_PASS_ON(reduceScatterConfig(send, recv, count, type, op, comm, stream, config));
  return withOp(withConfig(callOf(Kind::ReduceScatter, send, recv, count, type, comm, stream), config), op);
}
int ncclBroadcastConfig(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream,
                        const void *config) {
  MSCCLC_PASS_ON(broadcastConfig(send, recv, count, type, root, comm, stream, config));
  return withRoot(withConfig(callOf(Kind::Broadcast, send, recv, count, type, comm, stream), config), root);
}
int ncclReduceConfig(const void *send, void *recv, size_t count, int type, int op, int root, Comm comm,
                     cudaStream_t stream, const void *config) {
  MSCCLC_PASS_ON(reduceConfig(send, recv, count, type, op, root, comm, stream, config));
  Call call = withConfig(callOf(Kind::Reduce, send, recv, count, type, comm, stream), config);
  call.root = root;
  return withOp(call, op);
}
int ncclAlltoAllConfig(const void *send, void *recv, size_t count, int type, Comm comm, cudaStream_t stream,
                       const void *config) {
  MSCCLC_PASS_ON(allToAllConfig(send, recv, count, type, comm, stream, config));
  return submit(withConfig(callOf(Kind::AllToAll, send, recv, count, type, comm, stream), config));
}
int ncclGatherConfig(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream,
                     const void *config) {
  MSCCLC_PASS_ON(gatherConfig(send, recv, count, type, root, comm, stream, config));
  return withRoot(withConfig(callOf(Kind::Gather, send, recv, count, type, comm, stream), config), root);
}
int ncclScatterConfig(const void *send, void *recv, size_t count, int type, int root, Comm comm, cudaStream_t stream,
                      const void *config) {
  MSCCLC_PASS_ON(scatterConfig(send, recv, count, type, root, comm, stream, config));
  return withRoot(withConfig(callOf(Kind::Scatter, send, recv, count, type, comm, stream), config), root);
}

int ncclGroupStart() {
  MSCCLC_PASS_ON(groupStart());
  return groupStart();
}
int ncclGroupEnd() {
  MSCCLC_PASS_ON(groupEnd());
  return groupEnd();
}
int ncclGroupSimulateEnd(void *info) {
  MSCCLC_PASS_ON(groupSimulateEnd(info));
  return groupSimulateEnd(info);
}

int ncclCommInitRank(Comm *comm, int ranks, UniqueId id, int rank) {
  MSCCLC_PASS_ON(commInitRank(comm, ranks, id, rank));
  return refuses() ? InvalidUsage : real().commInitRank(comm, ranks, id, rank);
}
int ncclCommInitRankConfig(Comm *comm, int ranks, UniqueId id, int rank, void *config) {
  MSCCLC_PASS_ON(commInitRankConfig(comm, ranks, id, rank, config));
  return refuses() ? InvalidUsage : real().commInitRankConfig(comm, ranks, id, rank, config);
}
int ncclCommInitRankScalable(Comm *comm, int ranks, int rank, int ids, UniqueId *id, void *config) {
  MSCCLC_PASS_ON(commInitRankScalable(comm, ranks, rank, ids, id, config));
  return refuses() ? InvalidUsage : real().commInitRankScalable(comm, ranks, rank, ids, id, config);
}
int ncclCommInitAll(Comm *comms, int count, const int *devices) {
  MSCCLC_PASS_ON(commInitAll(comms, count, devices));
  return refuses() ? InvalidUsage : real().commInitAll(comms, count, devices);
}
int ncclRedOpCreatePreMulSum(int *op, void *factor, int type, int residence, Comm comm) {
  MSCCLC_PASS_ON(redOpCreatePreMulSum(op, factor, type, residence, comm));
  const int result = real().redOpCreatePreMulSum(op, factor, type, residence, comm);
  if (result == Success)
    noteOperation(*op, factor, type, residence, comm);
  return result;
}
int ncclRedOpDestroy(int op, Comm comm) {
  MSCCLC_PASS_ON(redOpDestroy(op, comm));
  forgetOperation(op, comm);
  return endOperation(op, comm);
}

int ncclCommRegister(Comm comm, void *memory, size_t bytes, void **handle) {
  MSCCLC_PASS_ON(commRegister(comm, memory, bytes, handle));
  return registers({comm, memory, bytes, handle, false}, real().commRegister(comm, memory, bytes, handle));
}
int ncclCommDeregister(Comm comm, void *handle) {
  MSCCLC_PASS_ON(commDeregister(comm, handle));
  forgetRegistration(comm, handle);
  return real().commDeregister(comm, handle);
}
int ncclCommWindowRegister(Comm comm, void *memory, size_t bytes, void **window, int flags) {
  MSCCLC_PASS_ON(commWindowRegister(comm, memory, bytes, window, flags));
  constexpr int symmetric = 1; // NCCL_WIN_COLL_SYMMETRIC
  return registers({comm, memory, bytes, window, (flags & symmetric) != 0},
                   real().commWindowRegister(comm, memory, bytes, window, flags));
}
int ncclCommWindowDeregister(Comm comm, void *window) {
  MSCCLC_PASS_ON(commWindowDeregister(comm, window));
  forgetRegistration(comm, window);
  return real().commWindowDeregister(comm, window);
}
int ncclMemAlloc(void **memory, size_t bytes) {
  MSCCLC_PASS_ON(memAlloc(memory, bytes));
  const int result = real().memAlloc(memory, bytes);
  if (result == Success)
    noteAllocation(*memory, bytes);
  return result;
}
int ncclMemFree(void *memory) {
  MSCCLC_PASS_ON(memFree(memory));
  forgetAllocation(memory);
  return real().memFree(memory);
}

int ncclCommDestroy(Comm comm) {
  MSCCLC_PASS_ON(commDestroy(comm));
  forgetOperations(comm);
  forgetRegistrations(comm);
  if (const std::shared_ptr<Member> member = take(comm))
    leaveTeam(*member);
  return real().commDestroy(comm);
}
int ncclCommAbort(Comm comm) {
  MSCCLC_PASS_ON(commAbort(comm));
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
  MSCCLC_PASS_ON(commGetAsyncError(comm, state));
  const int result = real().commGetAsyncError(comm, state);
  if (result == Success && state != nullptr && *state != InProgress)
    endAwaited(comm, *state == Success);
  if (result != Success || state == nullptr || *state != Success)
    return result;
  const Failure failure = failureOf(comm);
  if (failure.result != Success)
    warn("a communicator has failed: " + failure.why);
  *state = failure.result;
  return result;
}

const char *ncclGetErrorString(int result) {
  if (real().getErrorString != nullptr)
    return real().getErrorString(result);
  return result == Success ? "no error" : "there is no NCCL behind libmscclc_nccl.so";
}
const char *ncclGetLastError(Comm comm) {
  static thread_local std::string why; // stays valid until the thread's next call, as in NCCL
  if (why = failureOf(comm).why; !why.empty())
    return why.c_str();
  return real().getLastError != nullptr ? real().getLastError(comm) : "";
}

int32_t mscclc_nccl_register(const MscclcKernel *kernel, const char *tags, uint64_t min, uint64_t max, int32_t priority,
                             const char *types) {
  if (kernel == nullptr || kernel->abi_magic != MSCCLC_ABI_MAGIC || min > max)
    return MSCCLC_ERROR_ARGUMENT;
  ProgramKernel registration{kernel, tags == nullptr ? "" : tags, min, max, priority, {}};
  std::istringstream names(types == nullptr ? "" : types);
  for (std::string name; std::getline(names, name, ',');) {
    if (!isTypeName(name))
      return MSCCLC_ERROR_ARGUMENT;
    registration.types.push_back(name);
  }
  if (!registerKernel(std::move(registration)))
    return MSCCLC_ERROR_RENDEZVOUS;
  return MSCCLC_OK;
}
void mscclc_nccl_set_selector(MscclcSelectFunction function, void *user) {
  setSelector(function, user);
}
}
