// Turns the recording of an algorithm's run into a program, and reports every mistake in it.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace mscclc::frontend {

/// A call in the algorithm's source that may lead to a DSL call. `line` and `column` count from 1.
struct CallSite {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The text of a source that is no file on disk (standard input).
struct SourceText {
  std::string file;
  std::string text;
};

/// Returns the program of the recording `trace`; nothing after an error. `trace` may hold any bytes.
/// CallChainRecord::site is an index into `sites`.
std::optional<ir::Program> buildProgram(std::span<const std::byte> trace, std::span<const CallSite> sites,
                                        ir::DiagnosticEngine &diagnostics, std::span<const SourceText> texts = {});

/// Reports the mistakes in `trace`, which may be incomplete because the run was stopped. Missing or damaged parts are
/// not reported.
void checkUnfinished(std::span<const std::byte> trace, std::span<const CallSite> sites,
                     ir::DiagnosticEngine &diagnostics, std::span<const SourceText> texts = {});

} // namespace mscclc::frontend
