#include "processes.h"

#include <fstream>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

using namespace testing;
using Codes = std::vector<int>;

namespace {

/// Whether making the communicator fails with `part` in its text.
bool refused(const CommunicatorOptions &options, const std::string &part) {
  const Failure failure = failureOf([&] { Communicator communicator(options); });
  if (failure.code == MSCCLC_ERROR_RENDEZVOUS && contains(failure.text, part))
    return true;
  std::fprintf(stderr, "expected \"%s\", got %d: %s\n", part.c_str(), failure.code, failure.text.c_str());
  return false;
}

} // namespace

TEST_CASE("A process that does not come is missed, on both sides") {
  const std::string place = newPlace();
  CommunicatorOptions options = spread(4, 4, 0, place);
  options.setup_timeout_ms = 100;
  CHECK(refused(options, "1 of 4 ranks came to '" + place + "' in 100 ms; ranks 1 to 3 did not"));
  options.first_local_rank = 2;
  CHECK(refused(options, "no process listens at '" + place + "'"));
}

TEST_CASE("Times may be without end") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(4, 2, process, place);
          options.setup_timeout_ms = MSCCLC_NO_TIMEOUT;
          options.wait_timeout_ms = MSCCLC_NO_TIMEOUT / 1000; // more milliseconds than nanoseconds can be counted
          Communicator communicator(options);
          Buffer buffer = communicator.allocate(4096);
          Instance instance = communicator.load(gather4(), 4096);
          return gathers(communicator, instance, buffer, 4096, 0) ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("The ranks that did not come are named to those that did") {
  const std::string place = newPlace();
  CHECK(inProcesses(4, [&](uint32_t process) {
          if (process == 1 || process == 3)
            return 0;
          CommunicatorOptions options = spread(6, 6, process == 0 ? 0 : 3, place);
          options.setup_timeout_ms = process == 0 ? 500 : 20000;
          return refused(options, "2 of 6 ranks came to '" + place + "' in 500 ms; ranks 1 to 2, ranks 4 to 5 did not")
                     ? 0
                     : 1;
        }) == Codes(4, 0));
}

TEST_CASE("A process that ends before the communicator is complete is named, and nobody waits for it") {
  const std::string place = newPlace();
  CHECK(inProcesses(3, [&](uint32_t process) {
          const CommunicatorOptions options = spread(3, 3, process, place);
          if (process == 2) { // is here, and ends while the communicator waits for the other one
            const itimerval soon{{0, 0}, {0, 200000}};
            ::setitimer(ITIMER_REAL, &soon, nullptr);
          } else if (process == 1) {
            ::usleep(600000);
            return failureOf([&] { Communicator communicator(options); }).code != MSCCLC_OK ? 0 : 1;
          }
          return refused(options, "(rank 2) ended") ? 0 : 1;
        }) == Codes{0, 0, -1});
}

TEST_CASE("Who connects and says nothing keeps nobody waiting") {
  const std::string path = "rendezvous-silent-" + std::to_string(::getpid()) + ".socket";
  CHECK(inProcesses(3, [&](uint32_t process) {
          if (process != 2) {
            Communicator communicator(spread(2, 2, process, path));
            return 0;
          }
          sockaddr_un address{};
          address.sun_family = AF_UNIX;
          path.copy(address.sun_path, sizeof(address.sun_path) - 1);
          const int silent = ::socket(AF_UNIX, SOCK_STREAM, 0);
          for (int tries = 0; tries < 2000; ++tries) {
            if (::connect(silent, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0)
              break;
            ::usleep(100);
          }
          ::sleep(2);
          return 0;
        }) == Codes(3, 0));
}

TEST_CASE("Two communicators at one place: the second is told that the place is taken") {
  const std::string path = "rendezvous-taken-" + std::to_string(::getpid()) + ".socket";
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(2, 2, 0, path);
          options.setup_timeout_ms = 1500;
          if (process == 0)
            return refused(options, "rank 1 did not") ? 0 : 1;
          while (::access(path.c_str(), F_OK) != 0)
            ::usleep(1000);
          ::usleep(100000);
          return contains(failureOf([&] { Communicator communicator(options); }).text, "Address already in use") ? 0
                                                                                                                 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Processes that disagree about the communicator are refused") {
  const std::string place = newPlace(), second = newPlace();
  CHECK(inProcesses(3, [&](uint32_t process) {
          CommunicatorOptions options = spread(4, 4, process == 2 ? 1 : process, place);
          options.local_ranks = process == 0 ? 2 : 1;
          return refused(options, "rank 1 comes from two processes") ? 0 : 1;
        }) == Codes(3, 0));
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(process == 0 ? 2 : 3, 2, process, second);
          return refused(options, "joins a communicator of 3 ranks") ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("Collective calls that differ fail on all sides, and say how") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(4, 2, process, place));
          const Failure size = failureOf([&] { communicator.allocate(process == 0 ? 64 : 128); });
          if (!contains(size.text, "collective calls differ: allocate a buffer of "))
            return 1;
          Buffer buffer;
          const Failure kind = failureOf([&] {
            if (process == 0)
              communicator.barrier();
            else
              communicator.load(gather4(), 64);
          });
          if (!contains(kind.text, process == 0 ? "barrier here, load kernel 'gather4' in process"
                                                : "load kernel 'gather4' here, barrier in process"))
            return 2;
          const Failure largest = failureOf([&] { communicator.load(gather4(), process == 0 ? 64 : 128); });
          return contains(largest.text, "kernel 'gather4' differs between the processes") ? 0 : 3;
        }) == Codes(2, 0));
}

TEST_CASE("A process that is late for a call is named") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(2, 2, process, place);
          options.setup_timeout_ms = 300;
          Communicator communicator(options);
          if (process == 1) {
            ::usleep(900 * 1000);
            return 0;
          }
          const Failure failure = failureOf([&] { communicator.barrier(); });
          return contains(failure.text, "(rank 1) did not come in time") ? 0 : 1;
        }) == Codes(2, 0));
}

TEST_CASE("A process that does not come to release a buffer fails the communicator") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          CommunicatorOptions options = spread(2, 2, process, place);
          options.setup_timeout_ms = 300;
          Communicator communicator(options);
          MscclcBuffer *buffer = nullptr;
          mscclc_buffer_allocate(communicator.get(), 64, &buffer);
          if (process == 1)
            ::usleep(900 * 1000);
          const int32_t released = process == 0 ? mscclc_buffer_release(buffer) : MSCCLC_ERROR_RENDEZVOUS;
          return released == MSCCLC_ERROR_RENDEZVOUS && mscclc_communicator_health(communicator.get()) != MSCCLC_OK ? 0
                                                                                                                    : 1;
        }) == Codes(2, 0));
}

TEST_CASE("A socket file that nobody listens at is replaced; another file is not") {
  const std::string path = "rendezvous-" + std::to_string(::getpid()) + ".socket";
  const int stale = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  REQUIRE(::bind(stale, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0);
  ::close(stale);
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(2, 2, process, path));
          return 0;
        }) == Codes(2, 0));
  CHECK(::access(path.c_str(), F_OK) != 0);

  std::ofstream(path) << "somebody's";
  CommunicatorOptions options = spread(2, 2, 0, path);
  CHECK(contains(failureOf([&] { Communicator communicator(options); }).text, "Address already in use"));
  CHECK(::unlink(path.c_str()) == 0);
  const std::string longPath(200, 'x');
  options.rendezvous = longPath.c_str();
  CHECK(failureOf([&] { Communicator communicator(options); }).code == MSCCLC_ERROR_ARGUMENT);
}

TEST_CASE("Memory that other processes cannot map is refused on all sides") {
  const std::string place = newPlace();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Communicator communicator(spread(2, 2, process, place));
          std::vector<char> mine(64);
          Buffer shared = communicator.allocate(64);
          // Rank 0's could be shared, rank 1's is on the heap.
          void *memory = process == 0 ? shared.address(0) : mine.data();
          const Failure failure = failureOf([&] { communicator.adopt({memory}, 64); });
          return failure.code == MSCCLC_ERROR_UNSUPPORTED ? 0 : 1;
        }) == Codes(2, 0));
}
