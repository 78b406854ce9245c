// Emits a program in a test. The program must be right.
#pragma once

#include "backend-cuda/emit_kernel.h"

#include "catch.h"

namespace mscclc::test {

inline std::string emit(const ir::Program &program, const cuda::EmitOptions &options = {}) {
  ir::DiagnosticEngine diagnostics;
  std::string out;
  const bool good = cuda::emitKernel(program, options, out, diagnostics);
  INFO(diagnostics.render(false));
  REQUIRE(good);
  return out;
}

/// Text from a function's head to its closing brace.
inline std::string blockProgram(const std::string &text, int number) {
  const std::size_t begin = text.find("void program" + std::to_string(number));
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n}\n", begin) - begin);
}

inline std::size_t count(const std::string &text, const std::string &what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
    ++n;
  return n;
}

} // namespace mscclc::test
