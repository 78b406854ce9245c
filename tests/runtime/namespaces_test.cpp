#include "pipes.h"

#include <sched.h>

using namespace testing;

namespace {

/// Takes the process into a network of its own, without interfaces.
bool leavesNetwork() {
  return ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

} // namespace

TEST_CASE("Processes in networks of their own meet through an allgather, and notice when one is killed") {
  if (inProcesses(1, [](uint32_t) { return leavesNetwork() ? 0 : 1; })[0] != 0) {
    std::printf("[SKIP] a process may not have a network namespace of its own here\n");
    return;
  }
  for (const uint32_t victim : {0u, 1u}) {
    Pipes pipes(2);
    std::vector<int> expected(2, 0);
    expected[victim] = -1;
    CHECK(inProcesses(2, [&](uint32_t process) {
            if (!leavesNetwork())
              return 1;
            CommunicatorOptions options = withoutPlace(4, 2, process);
            options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
            auto exchange = [&](void *all, uint64_t each) { return pipes.exchange(process, all, each); };
            Communicator communicator(options.meetThrough(exchange));
            Buffer input = communicator.allocate(256), output = communicator.allocate(256);
            Instance instance = communicator.load(packets4(), 256);
            for (int launch = 0; launch < 100000; ++launch) {
              if (process == victim && launch == 20)
                ::kill(::getpid(), SIGKILL);
              bool right = false;
              const Failure failure = failureOf([&] { right = reduces(communicator, instance, input, output); });
              if (failure.code == MSCCLC_ERROR_PEER_LOST)
                return contains(failure.text, victim == 0 ? "(ranks 0 to 1) ended" : "(ranks 2 to 3) ended") ? 0 : 2;
              if (failure.code != MSCCLC_OK || !right)
                return 3;
            }
            return 4;
          }) == expected);
  }
}
