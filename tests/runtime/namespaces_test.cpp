#include "pipes.h"

#include <fstream>
#include <sched.h>
#include <sys/mount.h>

using namespace testing;

namespace {

/// Takes the process into a network of its own, without interfaces.
bool leavesNetwork() {
  return ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

bool writes(const std::string &path, const std::string &line) {
  return static_cast<bool>(std::ofstream(path) << line << std::flush);
}

/// Makes the process root of a user namespace. Its children share that: who lays a cable between two networks must be
/// root in both.
bool becomesRoot() {
  const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER) == 0 && writes("/proc/self/setgroups", "deny") &&
         writes("/proc/self/uid_map", "0 " + user + " 1") && writes("/proc/self/gid_map", "0 " + group + " 1");
}

/// Makes the process a machine of its own, as far as it can tell: its network, and its folders, of which /tmp is empty.
bool becomesMachine() {
  return ::unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0;
}

bool succeeds(const std::string &command) {
  return std::system(("( " + command + " ) > /dev/null 2>&1").c_str()) == 0;
}

/// Lays a cable from the network of process 0 to that of process 1, which both call this in theirs.
bool laysCable(Pipes &pipes, uint32_t process) {
  const std::string own = "mscclc" + std::to_string(process);
  int64_t of[2] = {::getpid(), ::getpid()};
  bool well = pipes.exchange(process, of, sizeof(of[0]));
  if (process == 0)
    well = well && succeeds("ip link add " + own + " type veth peer name mscclc1 netns " + std::to_string(of[1]));
  // Each step is done at both ends before the next: a cable carries once both are up, and is gone with either end.
  for (const std::string &step :
       {"ip address add 10.77.0." + std::to_string(process + 1) + "/24 dev " + own + " && ip link set " + own + " up",
        "for i in $(seq 100); do ip link show " + own + " | grep -q 'state UP' && exit 0; sleep 0.02; done; exit 1"}) {
    of[process] = well ? 1 : 0;
    well = pipes.exchange(process, of, sizeof(of[0])) && of[0] == 1 && of[1] == 1 && succeeds(step);
  }
  of[process] = well ? 1 : 0;
  return pipes.exchange(process, of, sizeof(of[0])) && of[0] == 1 && of[1] == 1;
}

/// Launches until a process is lost; the `victim` ends itself on the way. 0 if the loss is told as that of its ranks.
int launchUntilKilled(const CommunicatorOptions &options, uint32_t process, uint32_t victim) {
  Communicator communicator(options);
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
}

} // namespace

TEST_CASE("Processes in networks of their own meet through an allgather, and notice when one is killed") {
  if (ncclFake() != nullptr)
    return; // the case below
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
            return launchUntilKilled(options.meetThrough(exchange), process, victim);
          }) == expected);
  }
}

TEST_CASE("On NCCL, machines with networks and folders of their own meet over a cable, and notice when one is gone") {
  if (ncclFake() == nullptr)
    return; // the local engine is for one machine
  Pipes tried(2);
  const bool may = inProcesses(1, [](uint32_t) { return becomesMachine() ? 0 : 1; })[0] == 0 || becomesRoot();
  if (!may || inProcesses(2, [&](uint32_t process) { return becomesMachine() && laysCable(tried, process) ? 0 : 1; }) !=
                  std::vector<int>(2, 0)) {
    std::printf("[SKIP] processes may not have networks and folders of their own here, or there is no `ip`\n");
    return;
  }
  for (const uint32_t victim : {0u, 1u}) {
    Pipes pipes(2);
    const std::string place = newPlace();
    std::vector<int> expected(2, 0);
    expected[victim] = -1;
    CHECK(inProcesses(2, [&](uint32_t process) {
            if (!becomesMachine() || !laysCable(pipes, process))
              return 1;
            CommunicatorOptions options = spread(4, 2, process, place);
            options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
            return launchUntilKilled(options, process, victim);
          }) == expected);
  }
}
