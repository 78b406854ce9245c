#include "catch.h"
#include "frontend/eval/sandbox.h"
#include "run_in_child.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mscclc::frontend;

TEST_CASE("a child's end is told apart") {
  CHECK(runInChild([] { return 7; }, 10).kind == ChildEnd::Exited);
  CHECK(runInChild([] { return 7; }, 10).code == 7);
  const ChildEnd killed = runInChild([] { return raise(SIGKILL); }, 10);
  CHECK(killed.kind == ChildEnd::Signalled);
  CHECK(killed.code == SIGKILL);
  CHECK(runInChild(
            []() -> int {
              for (;;)
                pause();
            },
            0.2)
            .kind == ChildEnd::TimedOut);
}

TEST_CASE("a child that has handed over is not waited for, and ended in any case") {
  auto memory = SharedMemory::create(1 << 12, 4096);
  REQUIRE(memory);
  const auto start = std::chrono::steady_clock::now();
  Child child([&] {
    enterSandbox();
    memory->bytes()[0] = std::byte{5};
    handOver();
    for (;;)
      sched_yield();
    return 0;
  });
  child.wait(60, 60);
  CHECK(memory->bytes()[0] == std::byte{5});
  CHECK(child.end().kind == ChildEnd::Signalled);
  CHECK(child.end().code == SIGKILL);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("a child that has announced foreign code has less time") {
  const auto loop = [] {
    for (;;)
      pause();
    return 0;
  };
  const auto start = std::chrono::steady_clock::now();
  Child foreign([&] {
    announceForeignCode();
    return loop();
  });
  foreign.wait(60, 0.2);
  CHECK(foreign.runsForeignCode());
  CHECK(foreign.foreignSeconds() >= 0.2);
  CHECK(foreign.end().kind == ChildEnd::TimedOut);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  Child own(loop);
  own.wait(0.2, 60);
  CHECK(!own.runsForeignCode());
  CHECK(own.foreignSeconds() == 0);
  CHECK(own.end().kind == ChildEnd::TimedOut);
}

TEST_CASE("memory is shared with a child, and begins as zeros") {
  auto memory = SharedMemory::create(1 << 20, 4096);
  REQUIRE(memory);
  CHECK(memory->bytes()[12345] == std::byte{0});
  runInChild(
      [&] {
        memory->bytes()[12345] = std::byte{5};
        return 0;
      },
      10);
  CHECK(memory->bytes()[12345] == std::byte{5});
}

TEST_CASE("a limited process changes no files, starts nothing and connects to nothing") {
  const char *path = "/tmp/mscclc-must-not-exist";
  const ChildEnd end = runInChild(
      [&] {
        limitProcess(10, std::uint64_t{1} << 30);
        int done = 0;
        done |= open(path, O_CREAT | O_WRONLY, 0600) >= 0 ? 1 : 0;
        done |= open("/dev/null", O_RDWR) >= 0 ? 2 : 0;
        done |= mkdir(path, 0700) == 0 ? 4 : 0;
        done |= socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 8 : 0;
        char *const arguments[] = {const_cast<char *>("true"), nullptr};
        execv("/bin/true", arguments);
        done |= open("/dev/null", O_RDONLY) < 0 ? 16 : 0;
        return done;
      },
      10);
  CHECK(end.kind == ChildEnd::Exited);
  CHECK(end.code == 0);
  CHECK(access(path, F_OK) != 0);
}

TEST_CASE("in the sandbox any other system call ends the process") {
  const auto attempt = [](const std::function<void()> &what) {
    return runInChild(
        [&] {
          limitProcess(10, std::uint64_t{1} << 30);
          if (!enterSandbox())
            return 99; // no filter here: nothing to see
          what();
          return 0;
        },
        10);
  };
  const ChildEnd quiet = attempt([] { std::vector<char> memory(1 << 24, 'x'); });
  CHECK(quiet.kind == ChildEnd::Exited);
  if (quiet.code == 99)
    return;
  CHECK(quiet.code == 0);
  std::vector<std::function<void()>> calls = {
      [] { [[maybe_unused]] int fd = open("/dev/null", O_WRONLY); }, [] { [[maybe_unused]] pid_t p = fork(); },
      [] { kill(getppid(), SIGTERM); }, [] { [[maybe_unused]] ssize_t n = write(1, "x", 1); }};
#ifndef __SANITIZE_ADDRESS__ // a sanitizer reads files of its own
  calls.emplace_back([] { [[maybe_unused]] int fd = open("/dev/null", O_RDONLY); });
#endif
  for (const auto &call : calls) {
    const ChildEnd end = attempt(call);
    CHECK(end.kind == ChildEnd::Signalled);
    CHECK(end.code == SIGSYS);
  }
}
