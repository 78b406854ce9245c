// Opens the real library at the first call, and fills the table that the jumps use. The jumps do not touch arguments,
// so they do not depend on their types. The real library is not opened when this library is loaded. At that time, the
// loader may not have loaded the objects through which the real library is found.
#include "real.h"

#include "find_real.h"
#include "log.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <link.h>
#include <string_view>
#include <type_traits>

extern "C" __attribute__((visibility("hidden"), used)) void mscclc_nccl_fill();

// Each function has a slot and a jump through it. At first, the slot points to code that calls mscclc_nccl_fill, keeps
// the registers with the arguments, and then jumps again.
#if defined(__x86_64__)
asm(R"(
.text
.type mscclc_nccl_first, @function
mscclc_nccl_first:
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %rax
  subq $136, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  call mscclc_nccl_fill
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  addq $136, %rsp
  popq %rax
  popq %r9
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  ret
)");
#define MSCCLC_JUMP(name)                                                                                              \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n  endbr64\n  jmp *mscclc_slot_" #name          \
      "(%rip)\n.hidden mscclc_first_" #name "\n.globl mscclc_first_" #name "\nmscclc_first_" #name                     \
      ":\n  endbr64\n  call mscclc_nccl_first\n  jmp *mscclc_slot_" #name "(%rip)\n");
#elif defined(__aarch64__)
asm(R"(
.text
.type mscclc_nccl_first, %function
mscclc_nccl_first:
  sub sp, sp, #224
  stp x0, x1, [sp]
  stp x2, x3, [sp, #16]
  stp x4, x5, [sp, #32]
  stp x6, x7, [sp, #48]
  stp x8, x30, [sp, #64]
  stp q0, q1, [sp, #80]
  stp q2, q3, [sp, #112]
  stp q4, q5, [sp, #144]
  stp q6, q7, [sp, #176]
  bl mscclc_nccl_fill
  ldp x0, x1, [sp]
  ldp x2, x3, [sp, #16]
  ldp x4, x5, [sp, #32]
  ldp x6, x7, [sp, #48]
  ldp x8, x30, [sp, #64]
  ldp q0, q1, [sp, #80]
  ldp q2, q3, [sp, #112]
  ldp q4, q5, [sp, #144]
  ldp q6, q7, [sp, #176]
  add sp, sp, #224
  ret
)");
#define MSCCLC_JUMP(name)                                                                                              \
  asm(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n  bti c\n  adrp x16, mscclc_slot_" #name       \
      "\n  ldr x16, [x16, :lo12:mscclc_slot_" #name "]\n  br x16\n.hidden mscclc_first_" #name                         \
      "\n.globl mscclc_first_" #name "\nmscclc_first_" #name                                                           \
      ":\n  bti c\n  stp x29, x30, [sp, #-16]!\n  bl mscclc_nccl_first\n  ldp x29, x30, [sp], #16\n"                   \
      "  adrp x16, mscclc_slot_" #name "\n  ldr x16, [x16, :lo12:mscclc_slot_" #name "]\n  br x16\n");
#else
#error "jumps are written for x86-64 and AArch64"
#endif

#define MSCCLC_SLOT(name)                                                                                              \
  extern "C" __attribute__((visibility("hidden"))) void mscclc_first_##name();                                         \
  extern "C" {                                                                                                         \
  __attribute__((visibility("hidden"), used)) void *mscclc_slot_##name =                                               \
      reinterpret_cast<void *>(&mscclc_first_##name);                                                                  \
  }                                                                                                                    \
  MSCCLC_JUMP(name)
#define JUMP(name) MSCCLC_SLOT(name) MSCCLC_SLOT(p##name)
#include "functions.def"

namespace mscclc::nccl {
namespace {

struct Opened {
  Real functions{};
  void *handle = nullptr;
  std::string path;
  std::string why; ///< the reason why there is no library; else empty
};

int missing(const char *name, const std::string &why) {
  warn(std::string(name) + ": " + (why.empty() ? "the real NCCL does not have it" : why));
  return InvalidUsage;
}

const Opened &opened();

// Replacements for functions that the real library does not have. Each reports the missing function and returns an
// error code. They also replace functions that return no error code, because a program that calls these without an NCCL
// cannot work anyway.
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

/// If a function that returns a text is missing, its pointer is null, because it has no error code.
void fillOwn(void *handle, Real &f) {
#define REAL(name, member, result, ...)                                                                                \
  find(handle, #name, std::is_same_v<result, int> ? address(missing_##name) : nullptr, f.member);
#define ASKED REAL
#include "functions.def"
}

/// The addresses of all code of a library.
struct Code {
  std::atomic<uintptr_t> begin{0}, end{0};

  bool has(uintptr_t at) const {
    return at >= begin.load(std::memory_order_relaxed) && at < end.load(std::memory_order_relaxed);
  }
};
Code realCode, ownCode; ///< empty while the real library is not open

void findCode(const link_map &library, Code &code) {
  struct Wanted {
    const link_map &library;
    Code &code;
  } wanted{library, code};
  ::dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *of) {
        const auto &[library, code] = *static_cast<const Wanted *>(of);
        if (object->dlpi_addr != library.l_addr || std::string_view(object->dlpi_name) != library.l_name)
          return 0;
        uintptr_t begin = UINTPTR_MAX, end = 0;
        for (size_t i = 0; i < object->dlpi_phnum; ++i)
          if (const ElfW(Phdr) &part = object->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
            begin = std::min<uintptr_t>(begin, object->dlpi_addr + part.p_vaddr);
            end = std::max<uintptr_t>(end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
          }
        code.begin = begin;
        code.end = end;
        return 1;
      },
      &wanted);
}

void findCode(void *handle) {
  link_map *real = nullptr, *own = nullptr;
  Dl_info info{};
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &real) == 0)
    findCode(*real, realCode);
  if (::dladdr1(&ownCode, &info, reinterpret_cast<void **>(&own), RTLD_DL_LINKMAP) != 0)
    findCode(*own, ownCode);
}

std::string twoNccls(const std::string &other, const std::string &path) {
  return "two NCCLs in one process: " + other + " and " + path;
}

Opened open() {
  Opened result;
  void *&handle = result.handle;
  result.path = findRealLibrary(result.why);
  if (result.why.empty()) {
    if (const std::string other = findOtherNccl(result.path); !other.empty())
      result.why = twoNccls(other, result.path) + "; name one of them by MSCCLC_NCCL_LIB_PATH and keep the other out";
  }
  // RTLD_DEEPBIND would keep the real library's calls of its own functions within it. It is not used, because it would
  // also take malloc from libc even if the program has another malloc. Then one allocator would free memory of the
  // other. isReal() finds such calls instead.
  if (result.why.empty()) {
    handle = ::dlopen(result.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char *const error = handle == nullptr ? ::dlerror() : nullptr;
    if (handle == nullptr)
      result.why = error == nullptr ? "cannot open " + result.path : error;
  }
  if (handle != nullptr)
    findCode(handle);
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

/// Calls the function with `Config` in its name, if the call has a configuration.
int pass(const Call &call, auto plain, auto withConfig, auto... arguments) {
  if (call.foreignConfig != nullptr)
    return withConfig(arguments..., call.foreignConfig);
  return call.config ? withConfig(arguments..., &*call.config) : plain(arguments...);
}

} // namespace

const Real &real() {
  return opened().functions;
}

/// This library calls none of its own exported functions. If the return address of such a function is in this library
/// all the same, the real library has ended a function by a jump to it.
bool isReal(const void *caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return realCode.has(at) || ownCode.has(at);
}

void *realLibrary() {
  return opened().handle;
}

std::string refusal() {
  if (!opened().why.empty())
    return opened().why;
  // The program may have loaded another NCCL since.
  const std::string other = findOtherNccl(opened().path);
  return other.empty() ? "" : twoNccls(other, opened().path);
}

int passOn(const Call &c) {
  const Real &nccl = real();
  switch (c.kind) {
#define MSCCLC_OF_CALL(name) c.name,
#define CALL(name, kind, member, own)                                                                                  \
  case Kind::kind:                                                                                                     \
    return pass(c, nccl.member, nccl.member##Config, c.send, c.recv, c.count, c.type,                                  \
                MSCCLC_OWN_##own(MSCCLC_OF_CALL) c.comm, c.stream);
#include "functions.def"
  case Kind::Send:
    return nccl.send(c.send, c.count, c.type, c.root, c.comm, c.stream);
  case Kind::Recv:
    return nccl.recv(c.recv, c.count, c.type, c.root, c.comm, c.stream);
  }
  return InternalError;
}

} // namespace mscclc::nccl

void mscclc_nccl_fill() {
  mscclc::nccl::real();
}
