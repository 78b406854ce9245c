// The checks that end a running algorithm, and the symbols that it may use.
//
// Everything here runs in the child process. A failed check writes one Failure into the report and ends the process.
// The algorithm never continues.
#pragma once

#include "frontend/eval/child_report.h"
#include "frontend/trace/recorder.h"

#include "ir/diagnostics.h"

#include <initializer_list>
#include <span>
#include <string_view>

namespace mscclc::frontend {

/// The place of a failure. If there is none, `file` is null.
struct FailurePlace {
  const char *file = nullptr;
  std::uint32_t line = 0, column = 0;
};

/// Data for the checks. It is set once, before the source is read.
struct RuntimeContext {
  ChildReport *report = nullptr;
  std::uint64_t memoryBytes = 0;
  /// Returns true if a file name from debug information is a file of the user. If null, all files are the user's.
  bool (*isUserFile)(const char *file) = nullptr;
  /// Returns the place that Clang has reached in the source. A signal handler calls it when Clang crashes.
  FailurePlace (*whereReading)() = nullptr;
};

/// Returns the context of this process.
RuntimeContext &runtimeContext();

/// Turns faults, time-outs and exhausted stacks into failures from now on. `seconds`: the processor time until a
/// time-out.
void watchProcess(double seconds);
/// Sets the time-out again, in seconds from now.
void setDeadline(double seconds);

/// Ends the process with this failure. If `place` is outside the user's files, the innermost call in the user's code is
/// the place instead.
[[noreturn]] void failRun(const ir::DiagInfo &info, std::initializer_list<std::string_view> args = {},
                          const FailurePlace &place = {});

/// A recursion counts as endless if calls of the user's functions are nested deeper than this.
inline constexpr std::uint32_t maxCallDepth = 20000;

/// Returns the address of a function or variable that an algorithm's code may use, including those of the recorder and
/// the arena. Null if the name is not allowed.
void *findRuntimeSymbol(std::string_view name);
/// Returns true if code may use `name`, without looking for its address.
bool isAllowedSymbol(std::string_view name);

/// Returns the handlers of undefined behaviour (ubsan_handlers.cpp).
std::span<const HostSymbol> sanitizerSymbols();

} // namespace mscclc::frontend
