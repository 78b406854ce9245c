// The child process: it reads, checks, compiles and runs.
#pragma once

#include "frontend/eval/child_report.h"
#include "frontend/frontend.h"

#include <cstddef>
#include <span>
#include <string>

namespace mscclc::frontend {

struct ChildTask {
  const FrontendOptions &options;
  std::span<std::byte> report;
  std::span<std::byte> trace; ///< empty: only list the algorithms
  std::string dslDirectory;
  double compilingSeconds; ///< time-out for compiling, in processor time
};

/// The child's main function. The results are in the report and the trace. The exit status is 0 if it completed, with
/// errors or without.
int runChild(const ChildTask &task);

/// Returns the processor time for compiling the source, in seconds: the same as for the algorithm's run, but at least
/// ten seconds, and more for a long source.
double compilingSeconds(const FrontendOptions &options);

} // namespace mscclc::frontend
