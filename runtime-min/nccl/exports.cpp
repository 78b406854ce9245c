// The functions of NCCL that are more than a jump into the real library. Each function also has a second name, which
// begins with a `p`. A profiler that is loaded before this library calls the second names.
#include "config.h"
#include "group.h"
#include "invariant.h"
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

// The real library may call its own function by name, and reach the function of this library. Then the call goes back
// to the real library, unchanged and unrecorded.
#define MSCCLC_PASS_ON(call)                                                                                           \
  if (isReal(__builtin_extract_return_addr(__builtin_return_address(0))))                                              \
  return real().call

namespace {

/// True if no communicator can be made. In that case, prints the reason as a warning.
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

int submitWithFactor(Call call) {
  call.factor = factorOf(call.op, call.comm);
  return submit(call);
}

int submitWithRoot(Call call, int root) {
  call.root = root;
  return submit(call);
}

} // namespace

extern "C" {

// The second function of each collective exists since NCCL 2.31, and has a configuration. If the configuration asks for
// something that only NCCL has, NCCL runs the call.
#define MSCCLC_AS_PARAMETER(name) int name,
#define MSCCLC_AS_ARGUMENT(name) name,
#define MSCCLC_SET(name) call.name = name;
#define MSCCLC_PARAMETERS(own)                                                                                         \
  const void *send, void *recv, size_t count, int type, MSCCLC_OWN_##own(MSCCLC_AS_PARAMETER) Comm comm,               \
      cudaStream_t stream
#define MSCCLC_ARGUMENTS(own) send, recv, count, type, MSCCLC_OWN_##own(MSCCLC_AS_ARGUMENT) comm, stream
#define CALL(name, collective, member, own)                                                                            \
  int name(MSCCLC_PARAMETERS(own)) {                                                                                   \
    MSCCLC_PASS_ON(member(MSCCLC_ARGUMENTS(own)));                                                                     \
    Call call = callOf(Kind::collective, send, recv, count, type, comm, stream);                                       \
    MSCCLC_OWN_##own(MSCCLC_SET);                                                                                      \
    return submitWithFactor(call);                                                                                     \
  }                                                                                                                    \
  int name##Config(MSCCLC_PARAMETERS(own), const void *config) {                                                       \
    MSCCLC_PASS_ON(member##Config(MSCCLC_ARGUMENTS(own), config));                                                     \
    Call call = withConfig(callOf(Kind::collective, send, recv, count, type, comm, stream), config);                   \
    MSCCLC_OWN_##own(MSCCLC_SET);                                                                                      \
    return submitWithFactor(call);                                                                                     \
  }
#include "functions.def"

int ncclBcast(void *buffer, size_t count, int type, int root, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(broadcast(buffer, buffer, count, type, root, comm, stream));
  return submitWithRoot(callOf(Kind::Broadcast, buffer, buffer, count, type, comm, stream), root);
}
int ncclSend(const void *send, size_t count, int type, int peer, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(send(send, count, type, peer, comm, stream));
  return submitWithRoot(callOf(Kind::Send, send, nullptr, count, type, comm, stream), peer);
}
int ncclRecv(void *recv, size_t count, int type, int peer, Comm comm, cudaStream_t stream) {
  MSCCLC_PASS_ON(recv(recv, count, type, peer, comm, stream));
  return submitWithRoot(callOf(Kind::Recv, nullptr, recv, count, type, comm, stream), peer);
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
  static thread_local std::string why; // the text stays valid until the thread's next call, as in NCCL
  if (why = failureOf(comm).why; !why.empty())
    return why.c_str();
  if (why = refusedCall(); !why.empty())
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
