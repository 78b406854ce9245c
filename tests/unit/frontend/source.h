// Compiles small sources from strings.
#pragma once

#include "frontend/frontend.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mscclc::frontend {

using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Compiled {
  Compiled() { diagnostics.setErrorLimit(0); }
  std::optional<ir::Program> program;
  ir::DiagnosticEngine diagnostics;
};

inline FrontendOptions sourceOptions(std::string source, Parameters parameters = {}) {
  FrontendOptions options;
  options.inputPath = "<stdin>";
  options.stdinText = std::move(source);
  options.parameters = std::move(parameters);
  options.memoryBytes = std::uint64_t{64} << 20;
  return options;
}

inline Compiled compile(const FrontendOptions &options) {
  Compiled result;
  result.program = compileAlgorithm(options, result.diagnostics);
  return result;
}

inline std::string shownAt(const ir::Diagnostic &d) {
  std::string text =
      d.place.line == 0 ? "" : std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": ";
  return text + d.message;
}

/// Every error as "line:column: text" on a line of its own, with its notes indented.
inline std::string errorsOf(const ir::DiagnosticEngine &diagnostics) {
  std::string text;
  for (const ir::Diagnostic &d : diagnostics.all()) {
    if (d.severity != ir::Severity::Error)
      continue;
    text += shownAt(d) + "\n";
    for (const ir::Diagnostic &note : d.notes)
      text += "  " + shownAt(note) + "\n";
  }
  return text;
}
inline std::string errorsOf(const FrontendOptions &options) {
  return errorsOf(compile(options).diagnostics);
}

/// `body` as an algorithm with the DSL header on line 1, `before` from line 2 on, and the body behind it.
inline std::string algorithm(const std::string &body, const std::string &before = "") {
  return "#include <mscclc/dsl.hpp>\n" + before + "MSCCLC_ALGORITHM void f() {\n" + body + "\n}\n";
}

/// A whole program around `body`, which is line 4; ranks = 2.
inline std::string program(const std::string &body, const std::string &before = "") {
  return "#include <mscclc/dsl.hpp>\n" + before + "MSCCLC_ALGORITHM void f() {\n" +
         "mscclc::CollectiveProgram program(\"p\", mscclc::AllGather(2, 1, true));\n" + body + "\n}\n";
}

} // namespace mscclc::frontend
