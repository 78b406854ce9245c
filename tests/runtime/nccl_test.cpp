// Tests what only the engine on NCCL does. Needs MSCCLC_TEST_NCCL.
#include "processes.h"

using namespace testing;
using Codes = std::vector<int>;

namespace {

/// A variable of the environment in a scope.
class Setting {
public:
  Setting(const char *name, const char *value) : name_(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting &) = delete;

private:
  const char *name_;
};

std::vector<void *> commsOf(const std::vector<int> &ranks) {
  const std::string place = newPlace();
  std::vector<void *> comms;
  for (const int rank : ranks)
    comms.push_back(ofDouble<void *(const char *, int, int)>("ncclFakeInit")(place.c_str(), 4, rank));
  return comms;
}

} // namespace

TEST_CASE("The communicator takes its ranks from NCCL's") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(4, 2, process, place);
          options.ranks = options.first_local_rank = 0;
          options.rendezvous = "/not/used";
          Communicator communicator(options);
          const bool right = communicator.ranks() == 4 && communicator.firstLocalRank() == 2 * process &&
                             communicator.localRanks() == 2;
          return right ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Communicators that do not belong together are refused") {
  const auto refusal = [](const std::vector<int> &ranks) {
    std::vector<void *> comms = commsOf(ranks);
    CommunicatorOptions options;
    options.nccl = comms.data();
    options.local_ranks = static_cast<uint32_t>(comms.size());
    options.nccl_library = ncclFake();
    return failureOf([&] { Communicator communicator(options); });
  };
  const Failure apart = refusal({0, 2});
  CHECK(apart.code == MSCCLC_ERROR_ARGUMENT);
  CHECK(contains(apart.text, "NCCL communicator 1 is of rank 2 of 4, but it must be of rank 1 of 4, on the same node"));
  const Setting old("NCCL_FAKE_VERSION", "22703");
  const Failure tooOld = refusal({0, 1, 2, 3});
  CHECK(tooOld.code == MSCCLC_ERROR_UNSUPPORTED);
  CHECK(contains(tooOld.text, "NCCL 2.27.3 is too old; 2.28.9 or newer is needed"));
}

TEST_CASE("A group of NCCL's that does not end is not waited for longer than the set-up may take") {
  const Setting stuck("NCCL_FAKE_STUCK", "1");
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(4, 2, process, place);
          options.setup_timeout_ms = 200;
          const Failure failure = failureOf([&] { Communicator communicator(options); });
          return failure.code == MSCCLC_ERROR_NCCL && contains(failure.text, "ncclGroupEnd is not through after 200 ms")
                     ? 0
                     : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Memory that NCCL cannot share is refused in all processes") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(2, 2, process, place));
          std::vector<char> heap(64);
          void *memory = process == 0 ? callersMemory(64) : heap.data();
          const Failure failure = failureOf([&] { communicator.adopt({memory}, 64); });
          return failure.code == MSCCLC_ERROR_UNSUPPORTED && contains(failure.text, "must come from ncclMemAlloc") ? 0
                                                                                                                   : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Memory channels to ranks outside the load/store team are refused by name") {
  const Setting teams("NCCL_FAKE_TEAM", "2");
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(4, 2, process, place));
          Buffer buffer = communicator.allocate(64);
          const Failure failure = failureOf([&] { communicator.load(gather4(), 64); });
          const char *named = process == 0 ? "rank 0 on device 0 cannot access the memory of rank 2; it is on another"
                                           : "rank 2 on device 0 cannot access the memory of rank 0; it is on another";
          return failure.code == MSCCLC_ERROR_UNSUPPORTED && contains(failure.text, named) ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Port channels to ranks outside the load/store team are refused by name") {
  const Setting teams("NCCL_FAKE_TEAM", "2");
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(4, 2, process, place));
          const Failure failure = failureOf([&] { communicator.load(ports4(), 64); });
          return failure.code == MSCCLC_ERROR_UNSUPPORTED && contains(failure.text, "port channel") ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("An error that NCCL finds by itself ends the launches") {
  const std::vector<void *> comms = commsOf({0, 1, 2, 3});
  CommunicatorOptions options;
  options.platform = MSCCLC_PLATFORM_HOST;
  options.nccl = comms.data();
  options.local_ranks = 4;
  options.nccl_library = ncclFake();
  Communicator communicator(options);
  Buffer buffer = communicator.allocate(4096);
  Instance instance = communicator.load(gather4(), 4096);
  CHECK(gathers(communicator, instance, buffer, 4096, 0));
  ofDouble<void(void *, int)>("ncclFakeFail")(comms[0], 2);
  Failure failure;
  for (int tries = 0; tries < 2000 && failure.code == MSCCLC_OK; ++tries)
    failure = failureOf([&] { gathers(communicator, instance, buffer, 4096, 1); });
  CHECK(failure.code == MSCCLC_ERROR_NCCL);
  CHECK(contains(failure.text, "NCCL: unhandled system error"));
}
