// Opens the real library and fills the table that the jumps go through. The jumps do not touch arguments, so they need
// not know them.
#include "real.h"

#include "find_real.h"
#include "log.h"

#include <dlfcn.h>

// A slot for each function, and the jump through it.
#if defined(__x86_64__)
#define MSCCLC_JUMP(name, slot)                                                                                        \
  asm(".text\n.globl " name "\n.type " name ", @function\n" name ":\n  endbr64\n  jmp *" slot "(%rip)\n.size " name    \
      ", . - " name "\n");
#elif defined(__aarch64__)
#define MSCCLC_JUMP(name, slot)                                                                                        \
  asm(".text\n.globl " name "\n.type " name ", %function\n" name ":\n  bti c\n  adrp x16, " slot "\n  ldr x16, [x16, " \
      ":lo12:" slot "]\n  br x16\n.size " name ", . - " name "\n");
#else
#error "jumps are written for x86-64 and AArch64"
#endif

extern "C" {
#define JUMP(name)                                                                                                     \
  __attribute__((visibility("hidden"), used)) void *mscclc_slot_##name = nullptr;                                      \
  __attribute__((visibility("hidden"), used)) void *mscclc_slot_p##name = nullptr;
#include "functions.def"
}
#define JUMP(name)                                                                                                     \
  MSCCLC_JUMP(#name, "mscclc_slot_" #name)                                                                             \
  MSCCLC_JUMP("p" #name, "mscclc_slot_p" #name)
#include "functions.def"

namespace mscclc::nccl {
namespace {

struct Opened {
  Real functions{};
  std::string path;
  std::string why; ///< there is none
};

int missing(const char *name, const std::string &why) {
  warn(std::string(name) + ": " + (why.empty() ? "the real NCCL does not have it" : why));
  return InvalidUsage;
}

const Opened &opened();

// Stand where the real library has no such function. Those that return no error code are told apart in no way: a
// program that calls them without an NCCL is lost either way.
#define MSCCLC_MISSING(name)                                                                                           \
  [[maybe_unused]] int missing_##name() {                                                                              \
    return missing(#name, opened().why);                                                                               \
  }
#define OWN(name) MSCCLC_MISSING(name)
#define JUMP(name) MSCCLC_MISSING(name) MSCCLC_MISSING(p##name)
#include "functions.def"

void *address(int (*function)()) {
  return reinterpret_cast<void *>(function);
}

template <class Function> void find(void *handle, const char *name, void *instead, Function &function) {
  void *const found = handle == nullptr ? nullptr : ::dlsym(handle, name);
  function = reinterpret_cast<Function>(found == nullptr ? instead : found);
}

void fillJumps(void *handle) {
#define JUMP(name)                                                                                                     \
  find(handle, #name, address(missing_##name), mscclc_slot_##name);                                                    \
  find(handle, "p" #name, address(missing_p##name), mscclc_slot_p##name);
#include "functions.def"
}

void fillOwn(void *handle, Real &f) {
  find(handle, "ncclAllReduce", address(missing_ncclAllReduce), f.allReduce);
  find(handle, "ncclAllGather", address(missing_ncclAllGather), f.allGather);
  find(handle, "ncclReduceScatter", address(missing_ncclReduceScatter), f.reduceScatter);
  find(handle, "ncclBroadcast", address(missing_ncclBroadcast), f.broadcast);
  find(handle, "ncclReduce", address(missing_ncclReduce), f.reduce);
  find(handle, "ncclAlltoAll", address(missing_ncclAlltoAll), f.allToAll);
  find(handle, "ncclGather", address(missing_ncclGather), f.gather);
  find(handle, "ncclScatter", address(missing_ncclScatter), f.scatter);
  find(handle, "ncclSend", address(missing_ncclSend), f.send);
  find(handle, "ncclRecv", address(missing_ncclRecv), f.recv);
  find(handle, "ncclGroupStart", address(missing_ncclGroupStart), f.groupStart);
  find(handle, "ncclGroupEnd", address(missing_ncclGroupEnd), f.groupEnd);
  find(handle, "ncclGroupSimulateEnd", address(missing_ncclGroupSimulateEnd), f.groupSimulateEnd);
  find(handle, "ncclCommInitRank", address(missing_ncclCommInitRank), f.commInitRank);
  find(handle, "ncclCommInitRankConfig", address(missing_ncclCommInitRankConfig), f.commInitRankConfig);
  find(handle, "ncclCommInitAll", address(missing_ncclCommInitAll), f.commInitAll);
  find(handle, "ncclCommInitRankScalable", address(missing_ncclCommInitRankScalable), f.commInitRankScalable);
  find(handle, "ncclCommDestroy", address(missing_ncclCommDestroy), f.commDestroy);
  find(handle, "ncclCommAbort", address(missing_ncclCommAbort), f.commAbort);
  find(handle, "ncclCommGetAsyncError", address(missing_ncclCommGetAsyncError), f.commGetAsyncError);
  find(handle, "ncclCommCount", address(missing_ncclCommCount), f.commCount);
  find(handle, "ncclCommUserRank", address(missing_ncclCommUserRank), f.commUserRank);
  find(handle, "ncclCommCuDevice", address(missing_ncclCommCuDevice), f.commCuDevice);
  // Null where they are missing: they return texts.
  find(handle, "ncclGetErrorString", nullptr, f.getErrorString);
  find(handle, "ncclGetLastError", nullptr, f.getLastError);
}

Opened open() {
  Opened result;
  void *handle = nullptr;
  result.path = findRealLibrary(result.why);
  if (result.why.empty()) {
    if (const std::string other = findOtherNccl(result.path); !other.empty())
      result.why = "two NCCLs in one process: " + other + " and " + result.path +
                   "; name one of them by MSCCLC_NCCL_LIB_PATH and keep the other out";
  }
  // Its calls of its own functions stay within it.
  if (result.why.empty()) {
    handle = ::dlopen(result.path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    const char *const error = handle == nullptr ? ::dlerror() : nullptr;
    if (handle == nullptr)
      result.why = error == nullptr ? "cannot open " + result.path : error;
  }
  fillJumps(handle);
  fillOwn(handle, result.functions);
  if (!result.why.empty())
    warn(result.why);
  else
    info("the real NCCL is " + result.path);
  return result;
}

const Opened &opened() {
  static const Opened *const instance = new Opened(open());
  return *instance;
}

/// The jumps are filled before anything that needs this library runs.
__attribute__((constructor)) void openAtLoad() {
  opened();
}

} // namespace

const Real &real() {
  return opened().functions;
}

std::string refusal() {
  if (!opened().why.empty())
    return opened().why;
  // One may have come since.
  const std::string other = findOtherNccl(opened().path);
  return other.empty() ? "" : "two NCCLs in one process: " + other + " and " + opened().path;
}

int passOn(const Call &c) {
  const Real &nccl = real();
  switch (c.kind) {
  case Kind::AllReduce:
    return nccl.allReduce(c.send, c.recv, c.count, c.type, c.op, c.comm, c.stream);
  case Kind::AllGather:
    return nccl.allGather(c.send, c.recv, c.count, c.type, c.comm, c.stream);
  case Kind::ReduceScatter:
    return nccl.reduceScatter(c.send, c.recv, c.count, c.type, c.op, c.comm, c.stream);
  case Kind::AllToAll:
    return nccl.allToAll(c.send, c.recv, c.count, c.type, c.comm, c.stream);
  case Kind::Broadcast:
    return nccl.broadcast(c.send, c.recv, c.count, c.type, c.root, c.comm, c.stream);
  case Kind::Reduce:
    return nccl.reduce(c.send, c.recv, c.count, c.type, c.op, c.root, c.comm, c.stream);
  case Kind::Gather:
    return nccl.gather(c.send, c.recv, c.count, c.type, c.root, c.comm, c.stream);
  case Kind::Scatter:
    return nccl.scatter(c.send, c.recv, c.count, c.type, c.root, c.comm, c.stream);
  case Kind::Send:
    return nccl.send(c.send, c.count, c.type, c.root, c.comm, c.stream);
  case Kind::Recv:
    return nccl.recv(c.recv, c.count, c.type, c.root, c.comm, c.stream);
  }
  return InternalError;
}

} // namespace mscclc::nccl
