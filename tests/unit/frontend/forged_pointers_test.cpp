// Tests algorithms that call functions of this very program, whose addresses they are given. Whatever these do to the
// process or to its report must become an error of the source.
#include "catch.h"
#include "frontend/eval/runtime_checks.h"
#include "frontend/eval/sandbox.h"
#include "source.h"

#include <chrono>
#include <csignal>
#include <cstring>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mscclc::frontend;

namespace {

std::string errorsOfCalling(void (*function)(int), int argument = 0) {
  FrontendOptions options = sourceOptions(
      "#include <mscclc/dsl.hpp>\n"
      "MSCCLC_ALGORITHM void f(long address = 0, int argument = 0) {\n"
      "  mscclc::CollectiveProgram program(\"p\", mscclc::AllGather(2, 1, true));\n"
      "  union { long number; void (*function)(int); };\n"
      "  number = address;\n"
      "  function(argument);\n"
      "}\n",
      {{"address", std::to_string(reinterpret_cast<std::intptr_t>(function))}, {"argument", std::to_string(argument)}});
  options.timeoutSeconds = 1;
  return errorsOf(options);
}

const std::string ended =
    "the algorithm ends its process here, which none of its own code can do: a pointer leads elsewhere\n";

std::string systemCall(long number) {
  return "6:3: the algorithm made a system call (number " + std::to_string(number) + ")\n";
}

} // namespace

TEST_CASE("an algorithm that ends its process is wrong, whatever the status") {
  for (const int status : {0, 1, 70})
    CHECK(errorsOfCalling([](int code) { _exit(code); }, status) == "6:3: " + ended);
  CHECK(errorsOfCalling([](int) { syscall(SYS_exit, 0); }) == "6:3: " + ended);
  // The only exit function does not report its caller, but the last call of the DSL is known.
  for (const int status : {0, 1, 70})
    CHECK(errorsOfCalling([](int code) { leave(code); }, status) == "3:29: " + ended);
}

TEST_CASE("an algorithm cannot stop its process") {
  const auto raising = [](int signal) { syscall(SYS_tgkill, getpid(), gettid(), signal); };
  for (const int signal : {SIGSTOP, SIGTSTP, SIGKILL, SIGUSR1})
    CHECK(errorsOfCalling(raising, signal) == systemCall(SYS_tgkill));
  CHECK(errorsOfCalling(raising, SIGABRT) == "6:3: the processor stopped the algorithm (signal ABRT)\n");
  CHECK(errorsOfCalling([](int) { raise(SIGSTOP); }) == systemCall(SYS_tgkill));
  CHECK(errorsOfCalling([](int) { pause(); }).find("6:3: the algorithm made a system call") == 0);
#ifndef __SANITIZE_ADDRESS__ // a sanitizer takes locks of its own
  CHECK(errorsOfCalling([](int word) { syscall(SYS_futex, &word, FUTEX_WAIT, word, nullptr, nullptr, 0); }) ==
        systemCall(SYS_futex));
  CHECK(errorsOfCalling([](int) {
          static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
          pthread_mutex_lock(&mutex);
          pthread_mutex_lock(&mutex);
        }) == systemCall(SYS_futex));
#endif
}

TEST_CASE("an algorithm that hears no signal ends all the same") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(errorsOfCalling([](int) {
          sigset_t all;
          sigfillset(&all);
          sigprocmask(SIG_SETMASK, &all, nullptr);
          for (;;)
            getpid();
        }) == "3:29: the algorithm has not ended after 1 s: is a loop endless here? --trace-timeout sets the limit\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(25));
}

TEST_CASE("a forged report is the algorithm's error") {
  // A failure of no known kind.
  CHECK(errorsOfCalling([](int) {
          Failure &failure = runtimeContext().report->header().failure;
          std::strcpy(failure.diagnostic, "nonsense");
          failure.state = Failure::Complete;
          leave(0);
        }).find(ended) != std::string::npos);
  // Pretends that nothing has been read yet.
  CHECK(errorsOfCalling([](int) {
          runtimeContext().report->header().phase = static_cast<std::uint32_t>(Phase::Parsing);
          leave(0);
        }) == "3:29: " + ended);
  // Pretends that everything is done, without a recording, or with a longer one than there is.
  const auto done = [](int bytes) {
    ReportHeader &header = runtimeContext().report->header();
    header.traceSize = static_cast<std::uint64_t>(bytes);
    header.phase = static_cast<std::uint32_t>(Phase::Done);
    leave(0);
  };
  CHECK(errorsOfCalling(done, 0) == "the algorithm has overwritten its own recording (at byte 0)\n");
  CHECK(errorsOfCalling(done, -1) ==
        "3:29: the program never ends: its CollectiveProgram still exists when the algorithm is over\n");
}
