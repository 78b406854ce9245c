// Tests the cost of communicators that are held but not used, and how a process ends that has left one.
#include "processes.h"

#include <filesystem>
#include <memory>
#include <sys/resource.h>

using namespace testing;
using Codes = std::vector<int>;

namespace {

size_t countIn(const char *folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator(folder))
    ++count;
  return count;
}

struct Held {
  Communicator communicator;
  Buffer input, output, all;
  Instance gather, ports;
  Held(uint32_t process, const std::string &place)
      : communicator(spread(4, 2, process, place)), input(communicator.allocate(256)),
        output(communicator.allocate(256)), all(communicator.allocate(256)), gather(communicator.load(gather4(), 256)),
        ports(communicator.load(ports4(), 256)) {}
  bool runs() {
    ports.launch(Call().on(input, output).of(256, MSCCLC_U8));
    communicator.synchronize();
    communicator.barrier();
    return gathers(communicator, gather, all, 256, 1);
  }
};

/// Of all threads of the process.
struct Spent {
  rusage usage{};
  Spent() { ::getrusage(RUSAGE_SELF, &usage); }
  long switchesSince(const Spent &before) const { return usage.ru_nvcsw - before.usage.ru_nvcsw; }
  long microsecondsSince(const Spent &before) const {
    const auto all = [](const rusage &u) {
      return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
    };
    return all(usage) - all(before.usage);
  }
};

} // namespace

TEST_CASE("Communicators that rest share two threads, which sleep") {
  constexpr size_t count = 20;
  std::vector<std::string> places;
  for (size_t i = 0; i < count; ++i)
    places.push_back(newPlace());
  CHECK(inProcesses(2, [&](uint32_t process) {
          const size_t threads = countIn("/proc/self/task"), files = countIn("/proc/self/fd");
          std::vector<std::unique_ptr<Held>> all;
          for (const std::string &place : places) {
            all.push_back(std::make_unique<Held>(process, place));
            if (!all.back()->runs())
              return 1;
          }
          all.front()->communicator.barrier();
          ::usleep(300 * 1000);
          const size_t more = countIn("/proc/self/task") - threads;
          const size_t each = (countIn("/proc/self/fd") - files) / count;
          const Spent before;
          ::usleep(1000 * 1000);
          const Spent after;
          std::printf("process %u: %zu threads more, %zu descriptors each; %ld switches and %ld us a second\n", process,
                      more, each, after.switchesSince(before), after.microsecondsSince(before));
          all.front()->communicator.barrier();
          if (more > 2)
            return 2;
          // A socket, and the memory of three buffers and two kernels' counters on two ranks.
          if (each > 11)
            return 3;
          if (after.switchesSince(before) > 40 || after.microsecondsSince(before) > 10000)
            return 4;
          for (const auto &one : all) // and they still work
            if (!one->runs())
              return 5;
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("A process that exits waits for those that have not left its communicator") {
  if (ncclFake() != nullptr)
    return; // there it has waited before it destroys the communicator
  const std::string place = newPlace();
  const auto begin = std::chrono::steady_clock::now();
  const auto past = [&] { return std::chrono::steady_clock::now() - begin; };
  std::fflush(nullptr);
  pid_t children[2];
  for (uint32_t process = 0; process < 2; ++process)
    if ((children[process] = ::fork()) == 0) {
      ::alarm(60);
      MscclcCommunicator *communicator = nullptr;
      const CommunicatorOptions options = spread(2, 2, process, place);
      mscclc_communicator_create(&options, &communicator);
      if (process == 1)
        ::usleep(800 * 1000);
      if (mscclc_communicator_destroy(communicator) != MSCCLC_OK ||
          (process == 0 && past() > std::chrono::milliseconds(600)))
        ::_exit(1);
      ::exit(0); // whose handlers run
    }
  int status = 0;
  ::waitpid(children[0], &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK(past() > std::chrono::milliseconds(700));
  CHECK(past() < std::chrono::seconds(5));
  ::waitpid(children[1], &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
