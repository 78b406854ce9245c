#include "processes.h"

#include <fstream>
#include <sys/resource.h>

using namespace testing;
using Codes = std::vector<int>;

TEST_CASE("Ranks in several processes") {
  for (const uint32_t processes : {2u, 3u, 8u}) {
    const std::string place = newPlace();
    CHECK(inProcesses(processes, [&](uint32_t process) {
            Communicator communicator(spread(8, processes, process, place));
            Buffer buffer = communicator.allocate(8192);
            Instance instance = communicator.load(gather8(), 8192);
            for (uint64_t round = 0; round < 30; ++round) {
              if (!gathers(communicator, instance, buffer, 8192 - round % 4 * 800, round))
                return 1;
              communicator.barrier(); // nobody writes the next round's share before it is checked
            }
            return 0;
          }) == Codes(processes, 0));
  }
}

TEST_CASE("A thousand launches of alternating sizes in several processes") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(4, 2, process, place));
          Buffer buffer = communicator.allocate(4096);
          Instance instance = communicator.load(gather4(), 4096);
          launchThousand(instance, buffer);
          communicator.synchronize();
          communicator.barrier(); // the launches of all processes are over
          return gathers(communicator, instance, buffer, 4096, 1) ? 0 : 1;
        }) == Codes(2, 0));
}

#ifndef __SANITIZE_THREAD__ // which has no room of its own under a limit
TEST_CASE("Where one process cannot map the memory of the others, all are told, and go on together") {
  if (ncclFake() != nullptr)
    return; // NCCL maps
  const std::string place = newPlace();
  CHECK(inProcesses(3, [&](uint32_t process) {
          constexpr uint64_t bytes = uint64_t{256} << 20;
          Communicator communicator(spread(3, 3, process, place));
          if (process == 1) { // room for its own, but not for those of two others
            unsigned long pages = 0;
            std::ifstream("/proc/self/statm") >> pages;
            const rlim_t most = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + 2 * bytes;
            const rlimit limit{most, RLIM_INFINITY};
            ::setrlimit(RLIMIT_AS, &limit);
          }
          const Failure failed = failureOf([&] { communicator.allocate(bytes); });
          if (failed.code == MSCCLC_OK ||
              (process != 1 &&
               !contains(failed.text,
                         "in another process: allocate a buffer of 268435456 bytes: cannot map the memory of")))
            return 1;
          Buffer buffer = communicator.allocate(4096);
          communicator.barrier();
          return 0;
        }) == Codes(3, 0));
}
#endif

TEST_CASE("Port channels between processes") {
  const std::string place = newPlace();
  CHECK(inProcesses(4, [&](uint32_t process) {
          Communicator communicator(spread(4, 4, process, place));
          Buffer input = communicator.allocate(20000), output = communicator.allocate(20000);
          Instance instance = communicator.load(ports4(), 20000);
          input.write(process, dataOf(process, 20000, 0, 0));
          for (int launch = 0; launch < 5; ++launch)
            instance.launch(Call().on(input, output).of(20000, MSCCLC_U8));
          communicator.synchronize();
          return output.read<unsigned char>(process, 20000) == dataOf((process + 3) % 4, 20000, 0, 0) ? 0 : 1;
        }) == Codes(4, 0));
}

TEST_CASE("Buffers come and go, and two communicators share their processes") {
  const std::string place = newPlace(), second = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(4, 2, process, place)), other(spread(8, 2, process, second));
          Instance four = communicator.load(gather4(), 1024), eight = other.load(gather8(), 1024);
          for (uint64_t round = 0; round < 20; ++round) {
            Buffer buffer = communicator.allocate(1024), wide = other.allocate(1024);
            if (!gathers(communicator, four, buffer, 1024, round) || !gathers(other, eight, wide, 1024, round))
              return 1;
          }
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("A process that is killed is reported by the others, and they end") {
  for (const uint32_t victim : {0u, 1u, 2u}) {
    const std::string place = newPlace();
    Codes expected(3, 0);
    expected[victim] = -1;
    CHECK(inProcesses(3, [&](uint32_t process) {
            CommunicatorOptions options = spread(4, 3, process, place);
            options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
            Communicator communicator(options);
            Buffer buffer = communicator.allocate(4096);
            Instance instance = communicator.load(gather4(), 4096);
            for (int launch = 0; launch < 100000; ++launch) {
              if (process == victim && launch == 20)
                ::kill(::getpid(), SIGKILL);
              const Failure failure = failureOf([&] {
                instance.launch(Call().inPlace(buffer).of(4096, MSCCLC_U8));
                communicator.synchronize();
              });
              if (failure.code == MSCCLC_OK)
                continue;
              // The others name who is gone; a reset does not bring him back.
              const uint32_t first = 4 * victim / 3;
              const bool named = contains(failure.text, victim == 2 ? "(ranks 2 to 3) ended"
                                                                    : "(rank " + std::to_string(first) + ") ended");
              const Failure again = failureOf([&] { communicator.reset(); });
              return failure.code == MSCCLC_ERROR_PEER_LOST && again.code == MSCCLC_ERROR_PEER_LOST && named ? 0 : 2;
            }
            return 1;
          }) == expected);
  }
}

TEST_CASE("A process that is killed is reported although a child of it lives, which holds its sockets") {
  if (std::getenv("NCCL_FAKE_APART") != nullptr)
    return; // from another machine the process cannot be seen
  for (const uint32_t victim : {0u, 1u}) {
    const std::string place = newPlace();
    Codes expected(2, 0);
    expected[victim] = -1;
    CHECK(inProcesses(2, [&](uint32_t process) {
            CommunicatorOptions options = spread(2, 2, process, place);
            options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
            Communicator communicator(options);
            communicator.barrier();
            if (process == victim) {
              if (::fork() == 0) {
                for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
                  ::close(file); // whoever runs the test waits for its end
                ::sleep(8);
                ::_exit(0);
              }
              ::kill(::getpid(), SIGKILL);
            }
            for (int i = 0; i < 300 && communicator.isHealthy(); ++i)
              ::usleep(10 * 1000);
            if (communicator.isHealthy())
              return 2; // the child still lives
            const Failure failure = failureOf([&] { communicator.barrier(); });
            return failure.code == MSCCLC_ERROR_PEER_LOST && contains(failure.text, ") ended") ? 0 : 1;
          }) == expected);
  }
}

namespace {

/// Of this process's memory that others can map.
int sharedMappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += contains(line, "memfd:mscclc") ? 1 : 0;
  return count;
}

/// Of a rank in each of two processes.
struct TwoRanks {
  MscclcCommunicator *communicator = nullptr;
  MscclcBuffer *buffer = nullptr;
  TwoRanks(uint32_t process, const std::string &place) {
    const CommunicatorOptions options = spread(2, 2, process, place);
    if (mscclc_communicator_create(&options, &communicator) != MSCCLC_OK ||
        mscclc_buffer_allocate(communicator, 4096, &buffer) != MSCCLC_OK)
      throw std::runtime_error(mscclc_last_error());
  }
};

bool isSoon(const std::function<bool()> &is) {
  for (int i = 0; i < 300 && !is(); ++i)
    ::usleep(10 * 1000);
  return is();
}

} // namespace

TEST_CASE("Each process destroys its communicators in an order of its own, and waits for none") {
  if (ncclFake() != nullptr)
    return; // memory of NCCL's ends before its communicator
  const std::string place = newPlace(), second = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          TwoRanks one(process, place), two(process, second);
          const auto begin = std::chrono::steady_clock::now();
          for (TwoRanks *ranks : {process == 0 ? &one : &two, process == 0 ? &two : &one}) {
            if (mscclc_communicator_destroy(ranks->communicator) != MSCCLC_OK)
              return 1;
            ::usleep(200 * 1000);
          }
          if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(3))
            return 2;
          return isSoon([] { return sharedMappings() == 0; }) ? 0 : 3;
        }) == Codes(2, 0));
}

TEST_CASE("Memory of a process that has left stays until all have left, and its exit waits for them") {
  if (ncclFake() != nullptr)
    return;
  const std::string place = newPlace(), second = newPlace();
  CHECK(inProcesses(3, [&](uint32_t process) {
          if (process == 2) { // of the ranks below, it has none; others tell each other through this one
            Communicator board(spread(3, 3, process, second));
            for (int step = 0; step < 2; ++step)
              board.barrier();
            return 0;
          }
          auto *const board = new Communicator(spread(3, 3, process, second)); // ends with the process
          TwoRanks ranks(process, place);
          if (process == 0) {
            if (mscclc_communicator_destroy(ranks.communicator) != MSCCLC_OK)
              return 1;
            board->barrier();
            ::usleep(300 * 1000);
            if (sharedMappings() != 1) // its buffer: what the other one allocated is gone
              return 2;
            board->barrier();
            return isSoon([] { return sharedMappings() == 0; }) ? 0 : 3;
          }
          board->barrier();
          *static_cast<char *>(mscclc_buffer_address(ranks.buffer, 1)) = 1; // the communicator is as it was
          if (mscclc_communicator_health(ranks.communicator) != MSCCLC_OK)
            return 4;
          board->barrier();
          mscclc_communicator_destroy(ranks.communicator);
          return 0;
        }) == Codes(3, 0));
}

TEST_CASE("A time-out in one process reaches all, and all can go on") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(2, 2, process, place);
          options.wait_timeout_ms = process == 1 ? 3000 : MSCCLC_NO_TIMEOUT;
          Communicator communicator(options);
          Buffer input = communicator.allocate(128), output = communicator.allocate(128);
          Instance instance = communicator.load(stuck2(), 128);
          const auto launch = [&](uint64_t bytes) {
            instance.launch(Call().on(input, output).of(bytes, MSCCLC_U8));
            communicator.synchronize();
          };
          launch(128);
          // Rank 0 does not wait for anything; it hears of rank 1's trouble at some later launch.
          Failure failure;
          while (failure.code == MSCCLC_OK)
            failure = failureOf([&] { launch(64); });
          if (failure.code != MSCCLC_ERROR_TIMEOUT ||
              !contains(failure.text, "rank 1, block 0, operation 7 (wait, stuck.cpp:12) waits for"))
            return 1;
          if (process == 0 && !contains(failure.text, "(rank 1) says: "))
            return 2;
          communicator.reset();
          launch(128);
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("After a reset that one process gave up early, all can reset together") {
  const std::string place = newPlace();
  int early[2], late[2];
  REQUIRE((::pipe(early) == 0 && ::pipe(late) == 0));
  const auto send = [](const int *pipe) { return ::write(pipe[1], "", 1) == 1; };
  const auto await = [](const int *pipe) {
    char byte = 0;
    return ::read(pipe[0], &byte, 1) == 1;
  };
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(4, 2, process, place);
          options.setup_timeout_ms = 2000;
          Communicator communicator(options);
          Buffer buffer = communicator.allocate(256);
          Instance instance = communicator.load(gather4(), 256);
          // Process 1 gives up in the first round of the reset. Process 0 finds its message there, and goes on to the
          // second.
          if (process == 0 && !await(early))
            return 1;
          if (failureOf([&] { communicator.reset(); }).code != MSCCLC_ERROR_RENDEZVOUS)
            return 2;
          if (process == 0 ? !send(late) : !send(early) || !await(late))
            return 3;
          communicator.reset();
          return gathers(communicator, instance, buffer, 256, 1) ? 0 : 4;
        }) == Codes(2, 0));
  for (const int file : {early[0], early[1], late[0], late[1]})
    ::close(file);
}

TEST_CASE("Blocks that do not fit on the devices of one process are refused in all, and fewer threads run") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          MscclcVariant crowded = gather4().variants[0];
          crowded.resident_blocks = [](uint32_t threads, uint32_t *blocks) {
            *blocks = threads <= 5 ? MSCCLC_ON_HOST : 1;
            return int32_t{MSCCLC_OK};
          };
          MscclcKernel kernel = gather4();
          kernel.threads = 64;
          kernel.variants = process == 1 ? &crowded : kernel.variants;
          kernel.num_variants = 1;
          CommunicatorOptions options = spread(4, 2, process, place);
          options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
          Communicator communicator(options);
          Buffer buffer = communicator.allocate(256);
          Instance instance = communicator.load(kernel, 256);
          Call call;
          call.inPlace(buffer).of(256, MSCCLC_U8);
          call.threads = 6;
          const Failure failure = failureOf([&] { instance.launch(call); });
          if (failure.code != MSCCLC_ERROR_NOT_RESIDENT ||
              !contains(failure.text, "with more than 5 threads they do not"))
            return 1;
          call.threads = 5;
          instance.launch(call);
          communicator.synchronize();
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("A kernel that one process cannot load is loaded by none") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          MscclcVariant broken = gather4().variants[0];
          broken.resident_blocks = [](uint32_t threads, uint32_t *blocks) {
            *blocks = MSCCLC_ON_HOST;
            return threads == 1 ? int32_t{MSCCLC_OK} : int32_t{MSCCLC_ERROR_DEVICE + 2};
          };
          MscclcKernel kernel = gather4();
          kernel.variants = process == 1 ? &broken : kernel.variants;
          kernel.num_variants = 1;
          kernel.threads = 4;
          Communicator communicator(spread(4, 2, process, place));
          const Failure failure = failureOf([&] { communicator.load(kernel, 256); });
          if (!contains(failure.text, "kernel 'gather4', rank 2: CUDA error 2"))
            return 1;
          if (contains(failure.text, "in another process: ") != (process == 0))
            return 2;
          // Nobody is left waiting, so they can go on.
          Buffer buffer = communicator.allocate(256);
          Instance instance = communicator.load(gather4(), 256);
          return gathers(communicator, instance, buffer, 256, 1) ? 0 : 3;
        }) == Codes(2, 0));
}

TEST_CASE("A launch that fails in one process ends those of the others") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          MscclcVariant failing = gather4().variants[0];
          failing.launch = [](const MscclcRankArgs *, uint32_t, void *) { return int32_t{MSCCLC_ERROR_DEVICE + 2}; };
          MscclcKernel kernel = gather4();
          kernel.variants = process == 1 ? &failing : kernel.variants;
          CommunicatorOptions options = spread(4, 2, process, place);
          options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
          Communicator communicator(options);
          Buffer buffer = communicator.allocate(256);
          Instance instance = communicator.load(kernel, 256);
          const Failure failure = failureOf([&] {
            instance.launch(Call().inPlace(buffer).of(256, MSCCLC_U8));
            communicator.synchronize();
          });
          return contains(failure.text, "kernel 'gather4', rank 2: CUDA error 2") ? 0 : 1;
        }) == Codes(2, 0));
}
