#include "frontend/eval/runtime_checks.h"

#include "frontend/diagnostics.h"
#include "frontend/dsl/dsl_library.h"
#include "frontend/eval/arena.h"
#include "frontend/eval/library_symbols.h"
#include "frontend/eval/sandbox.h"
#include "frontend/trace/record_abi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

namespace mscclc::frontend {
namespace {

RuntimeContext context;
double deadlineSeconds = 0;
alignas(16) std::array<std::byte, std::size_t{1} << 16> signalStack;

void copyText(char *to, std::size_t room, std::string_view text) {
  const std::size_t n = std::min(room - 1, text.size());
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

/// Writes a number in decimal without using the heap.
struct Digits {
  explicit Digits(std::uint64_t value) {
    std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
  }
  char text[24];
};
struct Seconds {
  explicit Seconds(double value) { std::snprintf(text, sizeof text, "%g", value); }
  char text[32];
};

enum class StackState {
  InCheck, ///< the algorithm's own check failed: its innermost call site counts
  Anywhere ///< the algorithm was interrupted: its last place counts
};

/// Fills in the call chain of `f`. If `f` has no place, the last stored site becomes its place.
void fillChain(Failure &f, StackState state) {
  const CallStack &stack = __mscclc_call_stack;
  const std::uint64_t last = context.report->header().lastPlace.load(std::memory_order_relaxed);
  const auto lastDepth = static_cast<std::uint32_t>(last >> 32), lastSite = static_cast<std::uint32_t>(last);
  std::uint32_t depth = stack.depth;
  bool useLast = f.file[0] == '\0' && (state == StackState::Anywhere || depth == 0) && lastSite != 0;
  if (useLast && lastDepth > depth) {
    ++depth; // The last call has returned, but its site is still stored. No other site is nearer.
    useLast = false;
  } else if (useLast && lastDepth < depth) {
    useLast = false; // a library function failed, so the place is the call of it
  }
  const std::uint32_t kept = std::min(depth, CallStack::capacity - 1);
  std::copy_n(stack.sites, kept, f.sites);
  f.depth = kept;
  if (useLast)
    f.sites[f.depth++] = lastSite;
}

[[noreturn]] void stop(const ir::DiagInfo &info, std::initializer_list<std::string_view> args,
                       const FailurePlace &place, StackState state) {
  if (!context.report)
    leave(1);
  Failure &f = context.report->header().failure;
  std::uint32_t none = Failure::None;
  if (f.state.compare_exchange_strong(none, Failure::Begun)) {
    copyText(f.diagnostic, sizeof f.diagnostic, info.id);
    std::size_t i = 0;
    for (const std::string_view arg : args)
      if (i < Failure::maxArgs)
        copyText(f.args[i++], sizeof f.args[0], arg);
    const bool explicitPlace = place.file && place.line != 0 && (!context.isUserFile || context.isUserFile(place.file));
    if (explicitPlace) {
      copyText(f.file, sizeof f.file, place.file);
      f.line = place.line;
      f.column = place.column;
    }
    fillChain(f, state);
    f.state.store(Failure::Complete);
  }
  leave(1);
}

Phase phase() {
  return static_cast<Phase>(context.report->header().phase.load());
}

/// Returns true if the faulting address is close to the stack pointer, so that the stack has overflowed.
bool isStackFault(const siginfo_t &info, const void *interrupted) {
#if defined(__x86_64__)
  const auto stack =
      static_cast<std::uintptr_t>(static_cast<const ucontext_t *>(interrupted)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  const auto stack = static_cast<std::uintptr_t>(static_cast<const ucontext_t *>(interrupted)->uc_mcontext.sp);
#else
  const std::uintptr_t stack = 0;
#endif
  constexpr std::uintptr_t room = std::uintptr_t{1} << 16; // no stack frame of Clang is larger
  return reinterpret_cast<std::uintptr_t>(info.si_addr) - (stack - room) < 2 * room;
}

void onSignal(int signal, siginfo_t *info, void *interrupted) {
  if (!context.report)
    leave(1);
  if (phase() < Phase::Running) {
    const bool late = signal == SIGPROF || signal == SIGXCPU;
    // A second fault, during the search for the place, ends the process. The report keeps its contents.
    struct sigaction plain{};
    plain.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &plain, nullptr);
    const FailurePlace at = context.whereReading ? context.whereReading() : FailurePlace{};
    if (late)
      stop(diag::source_timeout, {Seconds(deadlineSeconds).text}, at, StackState::Anywhere);
    if (signal == SIGSEGV && isStackFault(*info, interrupted))
      stop(diag::nested_too_deeply, {}, at, StackState::Anywhere);
    stop(diag::clang_crash, {sigabbrev_np(signal) ? sigabbrev_np(signal) : "?"}, at, StackState::Anywhere);
  }
  switch (signal) {
  case SIGPROF:
  case SIGXCPU:
    stop(diag::run_timeout, {Seconds(deadlineSeconds).text}, {}, StackState::Anywhere);
  case SIGSYS:
    if (info->si_syscall == SYS_exit_group || info->si_syscall == SYS_exit)
      stop(diag::run_ended, {}, {}, StackState::Anywhere);
    stop(diag::system_call, {Digits(static_cast<std::uint64_t>(info->si_syscall)).text}, {}, StackState::Anywhere);
  case SIGSEGV:
  case SIGBUS:
    if (inStackGuard(info->si_addr))
      stop(diag::stack_full, {Digits(arenaStack().size() >> 20).text}, {}, StackState::Anywhere);
    stop(diag::bad_access, {}, {}, StackState::Anywhere);
  default:
    stop(diag::stopped_by_processor, {sigabbrev_np(signal) ? sigabbrev_np(signal) : "?"}, {}, StackState::Anywhere);
  }
}

// ---- Functions that the standard library and the language call after an error ----

/// Explains `condition`, a failed check of the standard library.
std::string_view meaning(std::string_view condition) {
  if (condition.find("size()") != std::string_view::npos || condition.find("_Nm") != std::string_view::npos ||
      condition.find("_M_len") != std::string_view::npos)
    return "index past the end";
  if (condition.find("empty()") != std::string_view::npos)
    return "access to an element of an empty container";
  if (condition.find("_M_is_engaged()") != std::string_view::npos)
    return "access to the value of an empty optional";
  if (condition.find("get() != pointer()") != std::string_view::npos ||
      condition.find("nullptr") != std::string_view::npos)
    return "access through a null pointer";
  return "wrong use of the standard library";
}

[[noreturn]] void libraryAssertion(const char *, int, const char *, const char *condition) {
  const std::string_view text = condition ? condition : "?";
  failRun(diag::library_check, {meaning(text), text});
}
[[noreturn]] void languageAssertion(const char *condition, const char *file, unsigned line, const char *) {
  (void)file;
  (void)line;
  failRun(diag::assertion_failed, {condition ? condition : "?"});
}
[[noreturn]] void throwFormatted(const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  failRun(diag::library_exception, {"std::out_of_range", text});
}
template <std::size_t n> struct Name {
  constexpr Name(const char (&s)[n]) { std::copy_n(s, n, text); }
  char text[n];
};
template <Name name> [[noreturn]] void throwWithText(const char *what) {
  failRun(diag::library_exception, {name.text, what ? what : "?"});
}
template <Name name> [[noreturn]] void throwPlain() {
  failRun(diag::library_exception_plain, {name.text});
}
[[noreturn]] void badAlloc() {
  failRun(diag::heap_full, {Digits(context.memoryBytes >> 20).text});
}
template <const ir::DiagInfo &info> [[noreturn]] void fail() {
  failRun(info);
}
[[noreturn]] void tooDeep() {
  stop(diag::endless_recursion, {Digits(maxCallDepth).text}, {}, StackState::Anywhere);
}
int ignoreExitHandler(void (*)(void *), void *, void *) {
  return 0;
}
int beginGuard(char *guard) {
  return *guard == 0;
}
void endGuard(char *guard) {
  *guard = 1;
}
char dsoHandle;

template <typename F> void *addressOf(F *f) {
  return reinterpret_cast<void *>(f);
}

std::span<const HostSymbol> ownSymbols() {
  static const HostSymbol symbols[] = {
      {"_ZSt21__glibcxx_assert_failPKciS0_S0_", addressOf(&libraryAssertion)},
      {"__assert_fail", addressOf(&languageAssertion)},
      {"_ZSt24__throw_out_of_range_fmtPKcz", addressOf(&throwFormatted)},
      {"_ZSt20__throw_out_of_rangePKc", addressOf(&throwWithText<"std::out_of_range">)},
      {"_ZSt20__throw_length_errorPKc", addressOf(&throwWithText<"std::length_error">)},
      {"_ZSt19__throw_logic_errorPKc", addressOf(&throwWithText<"std::logic_error">)},
      {"_ZSt24__throw_invalid_argumentPKc", addressOf(&throwWithText<"std::invalid_argument">)},
      {"_ZSt20__throw_domain_errorPKc", addressOf(&throwWithText<"std::domain_error">)},
      {"_ZSt21__throw_runtime_errorPKc", addressOf(&throwWithText<"std::runtime_error">)},
      {"_ZSt19__throw_range_errorPKc", addressOf(&throwWithText<"std::range_error">)},
      {"_ZSt22__throw_overflow_errorPKc", addressOf(&throwWithText<"std::overflow_error">)},
      {"_ZSt23__throw_underflow_errorPKc", addressOf(&throwWithText<"std::underflow_error">)},
      {"_ZSt20__throw_format_errorPKc", addressOf(&throwWithText<"std::format_error">)},
      {"_ZSt26__throw_bad_variant_accessPKc", addressOf(&throwWithText<"std::bad_variant_access">)},
      {"_ZSt27__throw_bad_optional_accessv", addressOf(&throwPlain<"std::bad_optional_access">)},
      {"_ZSt16__throw_bad_castv", addressOf(&throwPlain<"std::bad_cast">)},
      {"__cxa_bad_cast", addressOf(&throwPlain<"std::bad_cast">)},
      {"__cxa_bad_typeid", addressOf(&throwPlain<"std::bad_typeid">)},
      {"_ZSt17__throw_bad_allocv", addressOf(&badAlloc)},
      {"_ZSt28__throw_bad_array_new_lengthv", addressOf(&badAlloc)},
      {"__cxa_throw_bad_array_new_length", addressOf(&badAlloc)},
      {"_ZSt25__throw_bad_function_callv", addressOf(&fail<diag::empty_function>)},
      {"abort", addressOf(&fail<diag::called_abort>)},
      {"_ZSt9terminatev", addressOf(&fail<diag::called_abort>)},
      {"__cxa_pure_virtual", addressOf(&fail<diag::pure_virtual_call>)},
      {"__cxa_deleted_virtual", addressOf(&fail<diag::pure_virtual_call>)},
      {"__cxa_atexit", addressOf(&ignoreExitHandler)},
      {"__cxa_guard_acquire", addressOf(&beginGuard)},
      {"__cxa_guard_release", addressOf(&endGuard)},
      {"__dso_handle", &dsoHandle},
      {"__mscclc_null_call", addressOf(&fail<diag::null_call>)},
      {"__mscclc_too_deep", addressOf(&tooDeep)},
      {"__mscclc_index_out_of_range", addressOf(&__mscclc_index_out_of_range)},
  };
  return symbols;
}

const HostSymbol *findIn(std::span<const HostSymbol> symbols, std::string_view name) {
  const auto it = std::find_if(symbols.begin(), symbols.end(), [&](const HostSymbol &s) { return name == s.name; });
  return it == symbols.end() ? nullptr : &*it;
}

const HostSymbol *findOwn(std::string_view name) {
  for (const auto symbols : {recorderSymbols(), ownSymbols(), arenaSymbols(), sanitizerSymbols()})
    if (const HostSymbol *found = findIn(symbols, name))
      return found;
  return nullptr;
}

constexpr std::string_view lastPlaceSymbol = "__mscclc_last_place";

} // namespace

extern "C" void __mscclc_index_out_of_range(unsigned long long index, unsigned long long size) {
  char text[24];
  std::snprintf(text, sizeof text, "%lld", static_cast<long long>(index));
  failRun(diag::list_index_out_of_range, {text, ir::plural(size, "element")});
}

RuntimeContext &runtimeContext() {
  return context;
}

void failRun(const ir::DiagInfo &info, std::initializer_list<std::string_view> args, const FailurePlace &place) {
  stop(info, args, place, StackState::InCheck);
}

void setDeadline(double seconds) {
  deadlineSeconds = seconds;
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>(std::fmod(seconds, 1.0) * 1e6);
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
    timer.it_value.tv_usec = 1;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void watchProcess(double seconds) {
  stack_t stack{};
  stack.ss_sp = signalStack.data();
  stack.ss_size = signalStack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGSEGV);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF, SIGXCPU})
    sigaction(signal, &action, nullptr);
  setDeadline(seconds);
}

bool isAllowedSymbol(std::string_view name) {
  return name == lastPlaceSymbol || findOwn(name) || isAllowedLibrarySymbol(name);
}

void *findRuntimeSymbol(std::string_view name) {
  if (name == lastPlaceSymbol)
    return &context.report->header().lastPlace;
  if (const HostSymbol *own = findOwn(name))
    return own->address;
  if (void *function = findDslFunction(name))
    return function;
  return findLibrarySymbol(name);
}

} // namespace mscclc::frontend
