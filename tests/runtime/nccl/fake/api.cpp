// The functions of the fake NCCL. They work in host memory, on the fake CUDA. Ranks are threads, calls of a group, or
// processes. It checks few arguments, because it is not for testing callers. Calls are counted by name.
#include "communicator.h"
#include "memory.h"
#include "numbers.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>

using namespace fake;

namespace {

std::mutex countsMutex;
std::map<std::string, int> counts;

void count(const char *name) {
  const std::lock_guard<std::mutex> lock(countsMutex);
  ++counts[name];
}

struct Split {
  ncclComm *comm;
  uint64_t number;
  int color;
  ncclComm_t *made;
};
thread_local int depth = 0;
thread_local std::vector<std::pair<cudaStream_t, Work *>> transfers; ///< of the group, one for a communicator
thread_local std::vector<Split> splits;
thread_local std::vector<std::pair<ncclWindow_t *, void *>> windows; ///< of the group
thread_local bool inBackground = false;

void makeWindows(std::vector<std::pair<ncclWindow_t *, void *>> &asked) {
  for (const auto &[window, memory] : asked)
    *window = reinterpret_cast<ncclWindow_t>(new void *(memory));
  asked.clear();
}

ncclResult_t resultOf(ncclComm &comm) {
  if (comm.blocking)
    return ncclSuccess;
  comm.polls = 3;
  inBackground = true;
  return ncclInProgress;
}

/// Counts calls by the profiler's tag of their configuration.
void configured(const ncclCollConfig_t &config) {
  count(("Tag" + std::to_string(config.userProfilerTag)).c_str());
}

Work *newWork(ncclComm &comm) {
  const std::lock_guard<std::mutex> lock(comm.adding);
  comm.works.push_back(std::make_unique<Work>());
  comm.works.back()->comm = &comm;
  return comm.works.back().get();
}

ncclResult_t start(Work *work, cudaStream_t stream) {
  cudaSetDevice(work->comm->device);
  const auto runIt = [](void *of) { run(*static_cast<Work *>(of)); };
  return cudaLaunchHostFunc(stream, runIt, work) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/// Returns null for an operation of NCCL, for one that does not exist, and for one that has ended.
fake::Scalar *scalarOf(ncclComm &comm, int op) {
  const int index = op - ncclNumOps;
  if (index < 0 || index >= static_cast<int>(comm.scalars.size()))
    return nullptr;
  fake::Scalar &scalar = comm.scalars[static_cast<size_t>(index)];
  return scalar.ended ? nullptr : &scalar;
}

ncclResult_t call(const char *name, ncclComm *comm, cudaStream_t stream, Operation o) {
  count(name);
  const bool reduces = o.kind == Kind::AllReduce || o.kind == Kind::Reduce || o.kind == Kind::ReduceScatter;
  if (comm == nullptr || bytesOf(o.type) == 0 || (reduces && !canReduce(o.type)) || o.root < 0 ||
      o.root >= comm->ranks || o.op < 0 || (o.op >= ncclNumOps && scalarOf(*comm, o.op) == nullptr))
    return ncclInvalidArgument;
  if (o.op >= ncclNumOps)
    o.scalar = *scalarOf(*comm, o.op);
  if (comm->polls > 0)
    return ncclInvalidArgument;
  if (o.count == 0)
    return ncclSuccess;
  int before = -1;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  if (o.kind == Kind::Send || o.kind == Kind::Recv) {
    Work *work = nullptr;
    for (const auto &[of, waiting] : transfers)
      work = waiting->comm == comm ? waiting : work;
    if (work == nullptr) {
      work = newWork(*comm);
      transfers.emplace_back(stream, work);
    }
    work->operations.push_back(o);
    if (depth == 0) {
      transfers.clear();
      result = start(work, stream);
    }
  } else {
    Work *const work = newWork(*comm);
    work->operations.push_back(o);
    result = start(work, stream);
  }
  cudaSetDevice(before);
  return result == ncclSuccess ? resultOf(*comm) : result;
}

/// Splits a communicator: the ranks of a color, ordered by key. The first of them names the new communicator.
ncclResult_t finish(const Split &split) {
  ncclComm &comm = *split.comm;
  while (comm.shared->splitters < (split.number + 1) * static_cast<uint64_t>(comm.ranks))
    fake::pause();
  const SplitCard *const cards = comm.shared->cards[split.number % 2];
  *split.made = nullptr;
  if (split.color == NCCL_SPLIT_NOCOLOR)
    return ncclSuccess;
  auto made = std::make_unique<ncclComm>();
  for (int rank = 0; rank < comm.ranks; ++rank) {
    if (cards[rank].color != split.color)
      continue;
    ++made->ranks;
    const SplitCard &mine = cards[comm.rank];
    made->rank += cards[rank].key < mine.key || (cards[rank].key == mine.key && rank < comm.rank) ? 1 : 0;
  }
  made->name = comm.name + "-" + std::to_string(split.number) + "-" + std::to_string(split.color);
  made->device = comm.device;
  made->blocking = comm.blocking;
  made->shared = attach(made->name, static_cast<uint32_t>(made->ranks));
  if (made->shared == nullptr)
    return ncclSystemError;
  *split.made = made.release();
  return ncclSuccess;
}

} // namespace

extern "C" {

/// Calls of a function so far, by its name without "nccl".
int fakeNcclCount(const char *name) {
  const std::lock_guard<std::mutex> lock(countsMutex);
  return counts[name];
}

ncclResult_t ncclGetVersion(int *version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
ncclResult_t pncclGetVersion(int *version) {
  return ncclGetVersion(version);
}
/// Frees memory that libc allocates, as NCCL does. If the process has another malloc, both calls must use that one.
ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::random_device random;
  char *name = nullptr;
  if (::asprintf(&name, "/nccl-fake-%08x%08x%08x", random(), random(), random()) < 0)
    return ncclSystemError;
  std::snprintf(id->internal, sizeof(id->internal), "%s", name);
  std::free(name);
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "an error of the fake NCCL";
}
const char *ncclGetLastError(ncclComm_t) {
  return "";
}
ncclResult_t ncclMemAlloc(void **memory, size_t bytes) {
  return allocateMapped(memory, bytes) ? ncclSuccess : ncclUnhandledCudaError;
}
ncclResult_t ncclMemFree(void *memory) {
  return freeMapped(memory) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config) {
  count("CommInitRank");
  if (ranks < 1 || ranks > mostRanks || rank < 0 || rank >= ranks)
    return ncclInvalidArgument;
  auto made = std::make_unique<ncclComm>();
  made->name = id.internal;
  made->ranks = ranks;
  made->rank = rank;
  made->blocking = config == nullptr || config->blocking != 0;
  cudaGetDevice(&made->device);
  made->shared = attach(made->name, static_cast<uint32_t>(ranks));
  if (made->shared == nullptr)
    return ncclSystemError;
  *comm = made.release();
  return resultOf(**comm);
}
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int ranks, const int *devices) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  int before = 0;
  cudaGetDevice(&before);
  for (int rank = 0; rank < ranks; ++rank) {
    cudaSetDevice(devices == nullptr ? rank : devices[rank]);
    if (const ncclResult_t result = ncclCommInitRank(&comms[rank], ranks, id, rank); result != ncclSuccess)
      return result;
  }
  cudaSetDevice(before);
  return ncclSuccess;
}
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, ncclConfig_t *) {
  const uint64_t number = comm->splits++;
  comm->shared->cards[number % 2][comm->rank] = {color, key};
  ++comm->shared->splitters;
  splits.push_back({comm, number, color, made});
  if (depth != 0)
    return ncclSuccess;
  const Split split = splits.back();
  splits.pop_back();
  return finish(split);
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  count("CommDestroy");
  {
    const std::lock_guard<std::mutex> lock(comm->running);
    detach(comm->shared);
  }
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  count("CommAbort");
  comm->shared->aborted = 1;
  return ncclCommDestroy(comm);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state) {
  const bool isAlone = comm->shared->registered < comm->registered * static_cast<uint32_t>(comm->ranks);
  *state = comm->polls > 0 || isAlone ? ncclInProgress : ncclSuccess;
  comm->polls -= comm->polls > 0 ? 1 : 0;
  if (*state == ncclSuccess)
    makeWindows(comm->begun);
  return ncclSuccess;
}
/// Calls a function of its own by its exported name, as NCCL does.
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  ncclResult_t state = ncclInternalError;
  const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
  return asked == ncclSuccess ? state : asked;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int *ranks) {
  *ranks = comm->ranks;
  return comm->polls > 0 ? ncclInvalidArgument : ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  *rank = comm->rank;
  return comm->polls > 0 ? ncclInvalidArgument : ncclSuccess;
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
  *device = comm->device;
  return comm->polls > 0 ? ncclInvalidArgument : ncclSuccess;
}
ncclResult_t ncclCommRegister(ncclComm_t, void *memory, size_t, void **handle) {
  *handle = new void *(memory);
  return ncclSuccess;
}
ncclResult_t ncclCommDeregister(ncclComm_t, void *handle) {
  delete static_cast<void **>(handle);
  return ncclSuccess;
}
/// Returns no window for memory that is not from ncclMemAlloc. The window is set at the end of the group. If the
/// communicator does not block, it is set when all ranks have asked for theirs; this is the only case in which it asks
/// about other ranks.
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *memory, size_t, ncclWindow_t *window, int) {
  *window = nullptr;
  if (isMapped(memory))
    (comm->blocking ? windows : comm->begun).emplace_back(window, memory);
  if (!comm->blocking) {
    ++comm->registered;
    ++comm->shared->registered;
  } else if (depth == 0) {
    makeWindows(windows);
  }
  return resultOf(*comm);
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t window) {
  delete reinterpret_cast<void **>(window);
  return ncclSuccess;
}
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  fake::Scalar made;
  if (residence == ncclScalarDevice)
    made.at = scalar;
  else
    made.bytes.assign(static_cast<const char *>(scalar), static_cast<const char *>(scalar) + bytesOf(type));
  comm->scalars.push_back(made);
  *op = static_cast<ncclRedOp_t>(ncclNumOps + static_cast<int>(comm->scalars.size()) - 1);
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  fake::Scalar *const scalar = scalarOf(*comm, op);
  if (scalar == nullptr)
    return ncclInvalidArgument;
  scalar->ended = true;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t n, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return call("AllReduce", comm, stream, {Kind::AllReduce, send, recv, n, type, op, 0, {}});
}
ncclResult_t ncclAllGather(const void *send, void *recv, size_t n, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call("AllGather", comm, stream, {Kind::AllGather, send, recv, n, type, 0, 0, {}});
}
ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t n, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call("ReduceScatter", comm, stream, {Kind::ReduceScatter, send, recv, n, type, op, 0, {}});
}
ncclResult_t ncclBroadcast(const void *send, void *recv, size_t n, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return call("Broadcast", comm, stream, {Kind::Broadcast, send, recv, n, type, 0, root, {}});
}
ncclResult_t ncclBcast(void *buffer, size_t n, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, n, type, root, comm, stream);
}
ncclResult_t ncclReduce(const void *send, void *recv, size_t n, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call("Reduce", comm, stream, {Kind::Reduce, send, recv, n, type, op, root, {}});
}
ncclResult_t ncclAlltoAll(const void *send, void *recv, size_t n, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream) {
  return call("AlltoAll", comm, stream, {Kind::AllToAll, send, recv, n, type, 0, 0, {}});
}
ncclResult_t ncclGather(const void *send, void *recv, size_t n, ncclDataType_t type, int root, ncclComm_t comm,
                        cudaStream_t stream) {
  return call("Gather", comm, stream, {Kind::Gather, send, recv, n, type, 0, root, {}});
}
ncclResult_t ncclScatter(const void *send, void *recv, size_t n, ncclDataType_t type, int root, ncclComm_t comm,
                         cudaStream_t stream) {
  return call("Scatter", comm, stream, {Kind::Scatter, send, recv, n, type, 0, root, {}});
}
ncclResult_t ncclSend(const void *send, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return call("Send", comm, stream, {Kind::Send, send, nullptr, n, type, 0, peer, {}});
}
ncclResult_t ncclRecv(void *recv, size_t n, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  return call("Recv", comm, stream, {Kind::Recv, nullptr, recv, n, type, 0, peer, {}});
}
ncclResult_t ncclAllReduceConfig(const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclAllReduce(send, recv, count, type, op, comm, stream);
}
ncclResult_t ncclAllGatherConfig(const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                                 cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclAllGather(send, recv, count, type, comm, stream);
}
ncclResult_t ncclReduceScatterConfig(const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
                                     ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclReduceScatter(send, recv, count, type, op, comm, stream);
}
ncclResult_t ncclBroadcastConfig(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                                 ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclBroadcast(send, recv, count, type, root, comm, stream);
}
ncclResult_t ncclReduceConfig(const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                              ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclReduce(send, recv, count, type, op, root, comm, stream);
}
ncclResult_t ncclAlltoAllConfig(const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm,
                                cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclAlltoAll(send, recv, count, type, comm, stream);
}
ncclResult_t ncclGatherConfig(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                              ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclGather(send, recv, count, type, root, comm, stream);
}
ncclResult_t ncclScatterConfig(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                               ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t *config) {
  configured(*config);
  return ncclScatter(send, recv, count, type, root, comm, stream);
}
ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (depth == 0)
    return ncclInvalidUsage;
  if (--depth != 0)
    return ncclSuccess;
  makeWindows(windows);
  ncclResult_t result = ncclSuccess;
  const auto started = std::move(transfers);
  transfers.clear();
  const auto asked = std::move(splits);
  splits.clear();
  int before = -1;
  cudaGetDevice(&before);
  for (const auto &[stream, work] : started)
    if (const ncclResult_t one = start(work, stream); one != ncclSuccess)
      result = one;
  cudaSetDevice(before);
  for (const Split &split : asked)
    if (const ncclResult_t one = finish(split); one != ncclSuccess)
      result = one;
  const bool waits = inBackground;
  inBackground = false;
  return result == ncclSuccess && waits ? ncclInProgress : result;
}
}
