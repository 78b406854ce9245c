#include "pipes.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

using namespace testing;
using Codes = std::vector<int>;

namespace {

/// How making the communicator of a process that meets the others through `exchange` fails.
template <class Exchange> Failure meeting(CommunicatorOptions options, Exchange exchange) {
  return failureOf([&] { Communicator communicator(options.meetThrough(exchange)); });
}

} // namespace

TEST_CASE("Processes meet through an allgather, also with different numbers of ranks, and leave no folder behind") {
  const std::string folder = "allgather-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  Pipes pipes(3);
  CHECK(inProcesses(3, [&](uint32_t process) {
          ::setenv("TMPDIR", std::filesystem::absolute(folder).c_str(), 1);
          CommunicatorOptions options = withoutPlace(4, 3, process); // ranks 0; 1; 2 and 3
          options.process = process;
          options.processes = 3;
          auto exchange = [&](void *all, uint64_t each) { return pipes.exchange(process, all, each); };
          Communicator communicator(options.meetThrough(exchange));
          Buffer input = communicator.allocate(256), output = communicator.allocate(256);
          Instance instance = communicator.load(packets4(), 256);
          return reduces(communicator, instance, input, output) ? 0 : 1;
        }) == Codes(3, 0));
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST_CASE("Ranks of one process do not need the allgather") {
  CommunicatorOptions options = onHost(4);
  CHECK(meeting(options, [](void *, uint64_t) { return false; }).code == MSCCLC_OK);
}

TEST_CASE("Processes on different machines are told that they cannot share memory") {
  Pipes pipes(2);
  CHECK(inProcesses(2, [&](uint32_t process) {
          const auto exchange = [&](void *all, uint64_t each) {
            if (!pipes.exchange(process, all, each))
              return false;
            // The boot id of process 1's machine is another one.
            char boot[37] = {};
            std::FILE *file = std::fopen("/proc/sys/kernel/random/boot_id", "r");
            if (file == nullptr || std::fgets(boot, sizeof(boot), file) == nullptr)
              return false;
            std::fclose(file);
            char *begin = static_cast<char *>(all) + each, *end = begin + each;
            char *found = std::search(begin, end, boot, boot + std::strlen(boot));
            if (found == end)
              return false;
            *found = '?';
            return true;
          };
          const Failure failure = meeting(withoutPlace(4, 2, process), exchange);
          return failure.code == MSCCLC_ERROR_UNSUPPORTED && contains(failure.text, "ranks 0 to 1 are on host '") &&
                         contains(failure.text, "ranks of different machines cannot share memory")
                     ? 0
                     : 1;
        }) == Codes(2, 0));
}

TEST_CASE("An allgather that fails, throws or brings nothing is an error") {
  const CommunicatorOptions options = withoutPlace(2, 2, 1);
  const Failure failed = meeting(options, [](void *, uint64_t) { return false; });
  CHECK(failed.code == MSCCLC_ERROR_RENDEZVOUS);
  CHECK(contains(failed.text, "the allgather of the communicator's options failed: it returned 1"));
  CHECK(meeting(options, [](void *, uint64_t) -> bool { throw std::runtime_error("broken"); }).text == failed.text);
  CHECK(contains(meeting(options, [](void *, uint64_t) { return true; }).text, "nothing came from process 0"));
}

TEST_CASE("A process that cannot make the socket tells the others") {
  Pipes pipes(2);
  CHECK(inProcesses(2, [&](uint32_t process) {
          const Failure failure = meeting(withoutPlace(2, 2, process), [&](void *all, uint64_t each) {
            const bool well = pipes.exchange(process, all, each);
            std::memset(static_cast<char *>(all) + 4, 1, 4); // process 0 failed, with this code
            return well;
          });
          return failure.code == 0x01010101 ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Options that tell no index of the process are refused") {
  CommunicatorOptions options = withoutPlace(4, 3, 2);
  options.local_ranks = 3;
  options.first_local_rank = 1;
  const auto unused = [](void *, uint64_t) { return true; };
  const Failure uneven = meeting(options, unused);
  CHECK(uneven.code == MSCCLC_ERROR_ARGUMENT);
  CHECK(contains(uneven.text,
                 "ranks 1 to 3 of 4 do not determine the index of a process; give `process` and `processes`"));
  options.process = options.processes = 2;
  CHECK(contains(meeting(options, unused).text, "no process 2 of 2"));
  const std::string place = newPlace();
  options = spread(4, 2, 0, place);
  CHECK(contains(meeting(options, unused).text, "or through an allgather, not both"));
}
