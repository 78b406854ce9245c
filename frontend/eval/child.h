// The child process: it reads, checks, compiles and runs an algorithm.
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
  std::span<std::byte> trace; ///< empty: the child only lists the algorithms
  std::string dslDirectory;
  double compilingSeconds; ///< time-out for compiling, in seconds of processor time
};

/// The child's main function. It leaves the results in the report and the trace. Returns the exit status: 0 if the task
/// was completed, with or without errors.
int runChild(const ChildTask &task);

/// Returns the time-out for compiling the source, in seconds of processor time. It is at least the time-out for the
/// algorithm's run, at least ten seconds, and longer for a long source.
double compilingSeconds(const FrontendOptions &options);

} // namespace mscclc::frontend
