// Runs an algorithm in this process against the recorder, and builds its program.
#pragma once

#include "catch.h"
#include "frontend/dsl/include/mscclc/dsl.hpp"
#include "frontend/eval/arena.h"
#include "frontend/lower/build_ir.h"
#include "frontend/trace/recorder.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::frontend {

/// The recording of `algorithm`, a callable without arguments.
template <typename Algorithm> std::vector<std::byte> trace(Algorithm &&algorithm, std::size_t bytes = 1 << 20) {
  static const std::uint64_t heapBytes = createArena(1 << 20, std::abort, std::abort); // for the DSL's lists
  REQUIRE(heapBytes != 0);
  std::vector<std::byte> region(bytes);
  startRecording(region);
  algorithm();
  region.resize(finishRecording());
  return region;
}

/// The result of an algorithm.
struct Outcome {
  Outcome() { diagnostics.setErrorLimit(0); }
  std::optional<ir::Program> program;
  ir::DiagnosticEngine diagnostics;

  /// Returns the text of the diagnostic `id` at `line` (0: anywhere), or all diagnostics if there is not exactly one.
  std::string text(std::string_view id, int line) const {
    const ir::Diagnostic *only = find(diagnostics.all(), id, line);
    return only ? only->message : diagnostics.render(false);
  }
  /// Returns the text of note `noteId` at `noteLine` of the diagnostic `id`, or all diagnostics.
  std::string note(std::string_view id, std::string_view noteId, int noteLine) const {
    if (const ir::Diagnostic *only = find(diagnostics.all(), id, 0))
      if (const ir::Diagnostic *found = find(only->notes, noteId, noteLine))
        return found->message;
    return diagnostics.render(false);
  }

private:
  template <typename Diagnostics>
  static const ir::Diagnostic *find(const Diagnostics &all, std::string_view id, int line) {
    const ir::Diagnostic *found = nullptr;
    for (const ir::Diagnostic &d : all)
      if (d.id == id && (line == 0 || d.place.line == static_cast<std::uint32_t>(line))) {
        if (found)
          return nullptr;
        found = &d;
      }
    return found;
  }
};

inline Outcome build(std::span<const std::byte> trace, std::span<const CallSite> sites = {}) {
  Outcome outcome;
  outcome.program = buildProgram(trace, sites, outcome.diagnostics);
  return outcome;
}

template <typename Algorithm> Outcome run(Algorithm &&algorithm) {
  return build(trace(algorithm));
}

/// Runs `body` inside a program of `ranks` ranks with four chunks of input and output each.
template <typename Body> Outcome runIn(std::int64_t ranks, Body &&body) {
  return run([&] {
    CollectiveProgram program("test", TestCollective(ranks, 4, 4));
    body();
  });
}

} // namespace mscclc::frontend
