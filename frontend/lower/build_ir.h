// Turns the recording of an algorithm's run into a program, and reports every mistake that the run shows.
#pragma once

#include "ir/diagnostics.h"
#include "ir/program.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace mscclc::frontend {

/// A call in the algorithm's source through which a DSL call may be reached. `line` and `column` count from 1.
struct CallSite {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A source file whose text is not on disk under its name (standard input).
struct SourceText {
  std::string file;
  std::string text;
};

/// The program that `trace` tells of, or nothing if anything in it is an error. `trace` may hold any bytes.
/// `sites` are the call sites that CallChainRecord::site refers to.
std::optional<ir::Program> buildProgram(std::span<const std::byte> trace, std::span<const CallSite> sites,
                                        ir::DiagnosticEngine &diagnostics, std::span<const SourceText> texts = {});

/// Reports the mistakes that `trace` shows as far as it goes: the recording of a run that was broken off, for whatever
/// reason. That something is missing or damaged is no mistake here.
void checkUnfinished(std::span<const std::byte> trace, std::span<const CallSite> sites,
                     ir::DiagnosticEngine &diagnostics, std::span<const SourceText> texts = {});

} // namespace mscclc::frontend
