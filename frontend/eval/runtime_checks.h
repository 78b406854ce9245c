// What watches over a running algorithm: the checks that end it, and the symbols that it may refer to.
//
// Everything here runs in the child process. A check that fails writes one Failure into the report and ends the
// process; there is no way back into the algorithm.
#pragma once

#include "frontend/eval/child_report.h"
#include "frontend/trace/recorder.h"

#include "ir/diagnostics.h"

#include <initializer_list>
#include <span>
#include <string_view>

namespace mscclc::frontend {

/// An explicit place; `file` may be null.
struct FailurePlace {
  const char *file = nullptr;
  std::uint32_t line = 0, column = 0;
};

/// What the checks need to know. Set once, before anything is read.
struct RuntimeContext {
  ChildReport *report = nullptr;
  std::uint64_t memoryBytes = 0;
  /// Whether a file name, as debug information spells it, is the user's; null: all are.
  bool (*isUserFile)(const char *file) = nullptr;
  /// Where in the source Clang is; called from a signal handler when Clang crashes.
  FailurePlace (*whereReading)() = nullptr;
};

/// That of this process.
RuntimeContext &runtimeContext();

/// Turns faults, time-outs and exhausted stacks from now on into failures. `seconds` of processor time from now.
void watchProcess(double seconds);
/// Sets the clock anew.
void setDeadline(double seconds);

/// Ends the process with this failure. A place outside the user's files counts as none: then the failure lies at the
/// innermost call in the user's code.
[[noreturn]] void failRun(const ir::DiagInfo &info, std::initializer_list<std::string_view> args = {},
                          const FailurePlace &place = {});

/// Calls of the user's functions nested deeper than this are taken for endless recursion.
inline constexpr std::uint32_t maxCallDepth = 20000;

/// Functions and variables that an algorithm's code may refer to, the recorder's and the arena's included.
/// Null where there is none of that name.
void *findRuntimeSymbol(std::string_view name);
/// The same without an address: may code refer to `name`?
bool isAllowedSymbol(std::string_view name);

/// Handlers of undefined behaviour (ubsan_handlers.cpp).
std::span<const HostSymbol> sanitizerSymbols();

} // namespace mscclc::frontend
