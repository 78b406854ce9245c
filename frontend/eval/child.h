// What the child process does: read, check, compile and run.
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
  double compilingSeconds; ///< of processor time
};

/// The child's main function. Its results are in the report and the trace; the exit status is 0 if it came to its end,
/// errors or not.
int runChild(const ChildTask &task);

/// Processor time that compiling the source may take, in seconds: that of the algorithm's run, but at least ten seconds
/// and more for a long source.
double compilingSeconds(const FrontendOptions &options);

} // namespace mscclc::frontend
