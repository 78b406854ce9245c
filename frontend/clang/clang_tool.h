// Clang, as the front end uses it: one source in, its algorithms and LLVM IR out.
#pragma once

#include "frontend/clang/parameters.h"
#include "frontend/eval/child_report.h"
#include "frontend/eval/compiled_algorithm.h"
#include "frontend/frontend.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mscclc::frontend {

class SourceReporter;

/// A source as Clang reads it. What is wrong with it goes to the report.
class ClangTool {
public:
  ClangTool(const FrontendOptions &options, ChildReport &report, const std::string &dslDirectory);
  ~ClangTool();

  /// Reads and parses the source. False if there is nothing to go on with.
  bool parse();
  /// Checks the dialect and finds the algorithms.
  std::vector<Algorithm> check();
  /// LLVM IR of an algorithm and what it calls; nothing after an error.
  std::optional<CompiledAlgorithm> generate(const Algorithm &algorithm);

  /// Instead of all that: writes the DSL's headers, precompiled, to a file in `directory`. False after an error.
  bool precompileDsl(const std::string &directory);

  SourceReporter &reporter();
  llvm::StringMap<FileKind> fileKinds() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace mscclc::frontend
