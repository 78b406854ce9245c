#include "catch.h"
#include "frontend/diagnostics.h"
#include "frontend/eval/runtime_checks.h"
#include "frontend/eval/sandbox.h"
#include "run_in_child.h"
#include "source.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace mscclc::frontend;

namespace {

/// What a process that does `what` while an algorithm runs is stopped for: a diagnostic's id and its arguments.
std::string reasonFor(void (*what)()) {
  auto memory = SharedMemory::create(1 << 20, 1 << 20);
  REQUIRE(memory);
  ChildReport report(memory->bytes());
  const ChildEnd end = runInChild(
      [&] {
        runtimeContext().report = &report;
        limitProcess(10, std::uint64_t{1} << 30);
        watchProcess(0.2);
        report.header().phase = static_cast<std::uint32_t>(Phase::Running);
        enterSandbox();
        what();
        return 0;
      },
      20);
  CHECK(end.kind == ChildEnd::Exited);
  const Failure &failure = report.header().failure;
  if (failure.state != Failure::Complete)
    return "nothing";
  return std::string(failure.diagnostic) + " " + failure.args[0];
}

/// Process ids of this process's children.
std::vector<pid_t> children() {
  std::ifstream in("/proc/self/task/" + std::to_string(getpid()) + "/children");
  std::vector<pid_t> found;
  for (pid_t child; in >> child;)
    found.push_back(child);
  return found;
}

} // namespace

TEST_CASE("faults, time and system calls each have their reason") {
  CHECK(reasonFor([] {}) == "nothing");
  CHECK(reasonFor([] { raise(SIGABRT); }) == "stopped_by_processor ABRT");
  CHECK(reasonFor([] {
          for (volatile bool on = true; on;)
            ;
        }) == "run_timeout 0.2");
  const std::string call = reasonFor([] { [[maybe_unused]] const pid_t parent = getppid(); });
  CHECK((call == "nothing" || call.starts_with("system_call "))); // nothing: no such filter here
  CHECK(mscclc::ir::formatDiag(diag::system_call.format, {110}) == "the algorithm made a system call (number 110)");
}

TEST_CASE("only what computes can be named by an algorithm") {
  for (const char *name : {"memcpy", "sqrt", "_Znwm", "_ZdlPvm", "__mscclc_slice", "__ubsan_handle_add_overflow_abort",
                           "_ZSt20__throw_length_errorPKc"}) {
    INFO(name);
    CHECK(isAllowedSymbol(name));
    CHECK(findRuntimeSymbol(name) != nullptr);
  }
  for (const char *name : {"system", "open", "malloc", "dlsym", "environ", "stdout", "_exit", "mprotect", "main", ""}) {
    INFO(name);
    CHECK_FALSE(isAllowedSymbol(name));
    CHECK(findRuntimeSymbol(name) == nullptr);
  }
}

TEST_CASE("an algorithm's process that is killed from outside is an error at its last place") {
  if (children().size() != 0 || !std::ifstream("/proc/self/task/" + std::to_string(getpid()) + "/children"))
    return; // the kernel does not tell about children
  std::thread killer([] {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    for (const pid_t child : children())
      kill(child, SIGKILL);
  });
  FrontendOptions options = sourceOptions(algorithm("unsigned i = 0;\nwhile (true)\n  ++i;"));
  options.timeoutSeconds = 30;
  const std::string errors = errorsOf(options);
  killer.join();
  CHECK(errors == "4:1: the algorithm's process was killed (KILL); the machine may be out of memory\n");
}
