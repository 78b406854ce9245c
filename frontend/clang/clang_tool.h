// The front end's use of Clang: reads one source, and returns its algorithms and their LLVM IR.
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

/// One source, read by Clang. Errors go to the report.
class ClangTool {
public:
  ClangTool(const FrontendOptions &options, ChildReport &report, const std::string &dslDirectory);
  ~ClangTool();

  /// Reads and parses the source. False if no further step is possible.
  bool parse();
  /// Checks the dialect and finds the algorithms.
  std::vector<Algorithm> check();
  /// Returns LLVM IR of an algorithm and of everything that it calls; nothing after an error.
  std::optional<CompiledAlgorithm> generate(const Algorithm &algorithm);

  /// Precompiles the DSL's headers into a file in `directory`. The other functions are not called in this case. False
  /// after an error.
  bool precompileDsl(const std::string &directory);

  SourceReporter &reporter();
  llvm::StringMap<FileKind> fileKinds() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace mscclc::frontend
