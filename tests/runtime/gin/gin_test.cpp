// Tests emitted kernels with port channels between nodes, with the CPU body of NCCL's GIN. Each node is a process with
// the ranks of a load/store team. Needs MSCCLC_TEST_NCCL. Definitions from the build say where the kernels are.
#include "../processes.h"
#include "mscclc-perf/collective.h"
#include "mscclc-perf/values.h"

#include <chrono>
#include <fstream>
#include <thread>

using namespace testing;
namespace collectives = mscclc::collectives;
namespace perf = mscclc::perf;
using Codes = std::vector<int>;

namespace {

constexpr uint32_t gpus = 2; ///< of a node

/// Returns the version that the fake reports.
std::string version() {
  int number = 0;
  ofDouble<int(int *)>("ncclGetVersion")(&number);
  return std::to_string(number);
}
std::string libraryOf(const std::string &kernel, const std::string &forVersion) {
  return std::string(KERNELS) + "/" + forVersion + "/" + kernel + ".so";
}
const MscclcKernel &load(const std::string &kernel, const std::string &forVersion = version()) {
  return *loadLibrary(libraryOf(kernel, forVersion)).at(0);
}

CommunicatorOptions node(const MscclcKernel &kernel, uint32_t process, const std::string &place) {
  ::setenv("NCCL_FAKE_TEAM", std::to_string(gpus).c_str(), 1);
  return spread(kernel.ranks, kernel.ranks / gpus, process, place);
}

/// Runs each node of a kernel in a process, which gets its number and its options. Returns their exit codes.
template <class Part> Codes onNodes(const MscclcKernel &kernel, Part part) {
  const std::string place = newPlace();
  return inProcesses(kernel.ranks / gpus,
                     [&](uint32_t process) { return part(process, node(kernel, process, place)); });
}
Codes allWell(const MscclcKernel &kernel) {
  return Codes(kernel.ranks / gpus, 0);
}

/// Launches of one kernel on buffers that hold messages of up to `most` bytes.
class Run {
public:
  Run(Communicator &communicator, const MscclcKernel &kernel, uint64_t most)
      : communicator_(communicator), kernel_(kernel), instance_(communicator.load(kernel, most)),
        dtype_(kernel.variants[0].dtype == MSCCLC_ANY_DTYPE ? uint32_t{MSCCLC_U8} : kernel.variants[0].dtype) {
    for (uint32_t rank = 0; rank < kernel.ranks; ++rank)
      room_ = std::max({room_, kernel.input_bytes(rank, most), kernel.output_bytes(rank, most)});
    input_ = communicator.allocate(room_);
    output_ = inPlace() ? Buffer() : communicator.allocate(room_);
  }
  /// Uses memory of the caller instead.
  void on(Buffer buffer) { (inPlace() ? input_ : output_) = std::move(buffer); }
  uint64_t room() const { return room_; }
  Instance &instance() { return instance_; }
  Call call(uint64_t bytes) const {
    return inPlace() ? Call().inPlace(input_).of(bytes, dtype_) : Call().on(input_, output_).of(bytes, dtype_);
  }

  /// Returns whether the local ranks have the result of the collective for the data of this round.
  bool right(uint64_t bytes, uint64_t round) {
    const size_t element = perf::typeBytes(dtype_);
    const uint64_t shift = round * 7919;
    const auto tableOf = [&](uint32_t rank) {
      return rank == collectives::everyRank ? perf::reducedTable(dtype_, MSCCLC_SUM, kernel_.ranks)
                                            : perf::inputTable(dtype_, MSCCLC_SUM, kernel_.ranks, rank);
    };
    for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
      const uint32_t rank = communicator_.firstLocalRank() + i;
      std::vector<unsigned char> data(kernel_.input_bytes(rank, bytes));
      perf::fill(data.data(), tableOf(rank), element, shift, data.size() / element);
      input_.write(rank, data, rank * mscclc_input_step(&kernel_, bytes));
    }
    communicator_.barrier();
    instance_.launch(call(bytes));
    communicator_.synchronize();
    const collectives::Row &collective = *collectives::find(kernel_.collective, false);
    uint64_t wrong = 0, compared = 0;
    for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
      const uint32_t rank = communicator_.firstLocalRank() + i;
      for (const perf::Segment &s : perf::segmentsOf(collective, {kernel_.ranks, 0, rank, bytes / element})) {
        const auto found = (inPlace() ? input_ : output_)
                               .read<unsigned char>(rank, s.count * element,
                                                    rank * mscclc_output_step(&kernel_, bytes) + s.begin * element);
        wrong += perf::countWrong(found.data(), tableOf(s.from), element, s.first + shift, s.count);
        compared += s.count;
      }
    }
    communicator_.barrier(); // nobody overwrites data that another process still reads
    return wrong == 0 && (compared != 0 || bytes == 0);
  }

private:
  bool inPlace() const { return (kernel_.flags & MSCCLC_IN_PLACE) != 0; }

  Communicator &communicator_;
  const MscclcKernel &kernel_;
  Instance instance_;
  const uint32_t dtype_;
  uint64_t room_ = 0;
  Buffer input_, output_;
};

uint64_t messageOf(const MscclcKernel &kernel, uint64_t elements) {
  return elements * kernel.message_shares * 4;
}

/// Returns whether loading a kernel fails with this code, and with all `parts` in its text.
bool isRefused(const MscclcKernel &kernel, uint32_t process, const std::string &place,
               const std::vector<std::string> &parts, int32_t code = MSCCLC_ERROR_UNSUPPORTED) {
  Communicator communicator(node(kernel, process, place));
  const Failure failure = failureOf([&] { communicator.load(kernel, 4096); });
  bool named = failure.code == code;
  for (const std::string &part : parts)
    named = named && contains(failure.text, part);
  if (!named)
    std::fprintf(stderr, "%d %s\n", failure.code, failure.text.c_str());
  return named;
}

const std::string anyKernel = "allgather_by_hand";
/// A kernel whose packets use ports that lead only one way.
const std::string oneWayKernel = "one_way_packets";

void sendLate(uint32_t milliseconds) {
  ::setenv("NCCL_FAKE_LATE", std::to_string(milliseconds).c_str(), 1);
}

/// The code with which a call fails, and its duration in milliseconds.
struct Timed {
  Failure failure;
  int64_t milliseconds;
};
template <class Call> Timed timed(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  Failure failure = failureOf(call);
  return {std::move(failure),
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count()};
}

/// Waits until all processes know that process 0 has launched alone and aborted.
void abortLaunchOfFirst(Communicator &communicator, Run &run, const MscclcKernel &kernel, uint32_t process) {
  if (process == 0) {
    run.instance().launch(run.call(messageOf(kernel, 100)));
    ::usleep(20000);
    communicator.abort("enough");
  }
  Failure failure;
  while (failure.code == MSCCLC_OK)
    failure = failureOf([&] { communicator.synchronize(); });
}

} // namespace

TEST_CASE("Every kernel gives its collective's result over several nodes") {
  std::ifstream list(std::string(KERNELS) + "/list");
  size_t kernels = 0;
  for (std::string name; std::getline(list, name); ++kernels) {
    INFO(name);
    const MscclcKernel &kernel = load(name);
    CHECK(onNodes(kernel, [&](uint32_t, const CommunicatorOptions &options) {
            Communicator communicator(options);
            Run run(communicator, kernel, messageOf(kernel, 3000));
            uint64_t round = 0;
            for (const uint64_t elements : {4, 1, 3000, 255, 1024, 0, 17})
              if (!run.right(messageOf(kernel, elements), round++))
                return static_cast<int>(round);
            return 0;
          }) == allWell(kernel));
  }
  CHECK(kernels >= 4);
}

TEST_CASE("Counts go over nodes, and as many rows as they say") {
  const MscclcKernel &kernel = load("alltoallv_twolevel");
  constexpr uint64_t capacity = 5, rowBytes = 16;
  const uint32_t ranks = kernel.ranks;
  const uint64_t bytes = ranks * capacity * rowBytes;
  const auto countOf = [](uint32_t launch, uint32_t src, uint32_t dst) {
    return static_cast<int32_t>((launch * 5 + src * 2 + dst * 3) % (capacity + 2)); // one above the capacity, too
  };
  const auto movedOf = [&](uint32_t launch, uint32_t src, uint32_t dst) {
    return std::min(countOf(launch, src, dst), static_cast<int32_t>(capacity));
  };
  const auto rowOf = [](uint32_t launch, uint32_t src, uint32_t dst, int32_t row) {
    return std::vector<unsigned char>(rowBytes, static_cast<unsigned char>(launch * 97 + src * 31 + dst * 7 + row));
  };
  CHECK(onNodes(kernel, [&](uint32_t, const CommunicatorOptions &options) {
          Communicator communicator(options);
          Instance instance = communicator.load(kernel, bytes, rowBytes);
          Buffer input = communicator.allocate(bytes), output = communicator.allocate(bytes);
          for (uint32_t launch = 0; launch < 9; ++launch) {
            std::vector<std::vector<int32_t>> sent(gpus), received(gpus, std::vector<int32_t>(ranks));
            std::vector<MscclcCounts> counts(gpus);
            for (uint32_t i = 0; i < gpus; ++i) {
              const uint32_t self = communicator.firstLocalRank() + i;
              std::vector<unsigned char> rows;
              for (uint32_t dst = 0; dst < ranks; ++dst) {
                sent[i].push_back(countOf(launch, self, dst));
                for (int32_t row = 0; row < sent[i][dst]; ++row) {
                  const auto one = rowOf(launch, self, dst, row);
                  rows.insert(rows.end(), one.begin(), one.end());
                }
              }
              rows.resize(bytes);
              input.write(self, rows);
              counts[i].sent = sent[i].data();
              counts[i].received = received[i].data();
              counts[i].width = 4;
            }
            communicator.barrier();
            instance.launch(Call().on(input, output).of(bytes, MSCCLC_U8).rows(rowBytes).countedBy(counts));
            communicator.synchronize();
            for (uint32_t i = 0; i < gpus; ++i) {
              const uint32_t self = communicator.firstLocalRank() + i;
              std::vector<unsigned char> wanted;
              for (uint32_t src = 0; src < ranks; ++src)
                for (int32_t row = 0; row < movedOf(launch, src, self); ++row) {
                  const auto one = rowOf(launch, src, self, row);
                  wanted.insert(wanted.end(), one.begin(), one.end());
                }
              for (uint32_t src = 0; src < ranks; ++src)
                if (received[i][src] != movedOf(launch, src, self))
                  return 1;
              if (output.read<unsigned char>(self, wanted.size()) != wanted)
                return 2;
            }
            communicator.barrier();
          }
          return 0;
        }) == allWell(kernel));
}

TEST_CASE("Rows go to experts of other nodes and come back") {
  const MscclcKernel &kernel = load("moe_dispatch_twolevel"), &back = load("moe_combine_twolevel");
  constexpr uint64_t capacity = 6, rowBytes = 16;
  constexpr uint32_t rows = 6; // of a rank's index, with one choice each
  const uint32_t ranks = kernel.ranks, experts = kernel.experts;
  const uint64_t cells = uint64_t{ranks} * experts * capacity, bytes = cells * rowBytes;
  const auto expertOf = [&](uint32_t launch, uint32_t src, uint32_t row) {
    return static_cast<int32_t>((launch + src * 2 + row * 3) % (ranks * experts + 1)) - 1;
  };
  const auto byteOf = [](uint32_t launch, uint32_t src, uint32_t row) {
    return static_cast<unsigned char>((launch * 97 + src * 31 + row) % 127); // four are a number
  };
  const std::vector<float> weights(rows, 1);
  CHECK(onNodes(kernel, [&](uint32_t, const CommunicatorOptions &options) {
          Communicator communicator(options);
          Instance instance = communicator.load(kernel, bytes, rowBytes),
                   combine = communicator.load(back, bytes, rowBytes);
          Buffer input = communicator.allocate(bytes), output = communicator.allocate(bytes);
          for (uint32_t launch = 0; launch < 9; ++launch) {
            std::vector<MscclcIndex> index(gpus);
            std::vector<std::vector<uint32_t>> sent(gpus, std::vector<uint32_t>(ranks * experts));
            std::vector<std::vector<int32_t>> entries(gpus);
            std::vector<std::vector<uint32_t>> received(gpus, std::vector<uint32_t>(experts)), work(gpus);
            std::vector<std::vector<unsigned char>> from(gpus), to(gpus, std::vector<unsigned char>(bytes));
            for (uint32_t i = 0; i < gpus; ++i) {
              const uint32_t self = communicator.firstLocalRank() + i;
              work[i].resize(MSCCLC_INDEX_WORK_BYTES(ranks, experts, rows) / sizeof(uint32_t));
              for (uint32_t row = 0; row < rows; ++row) {
                entries[i].push_back(expertOf(launch, self, row));
                from[i].insert(from[i].end(), rowBytes, byteOf(launch, self, row));
              }
              index[i].entries = entries[i].data();
              index[i].payloads[0] = {from[i].data(), to[i].data(), rowBytes};
              index[i].received = received[i].data();
              index[i].cells = sent[i].data();
              index[i].work = work[i].data();
              index[i].rows = rows;
              index[i].choices = 1;
              index[i].width = sizeof(int32_t);
            }
            communicator.barrier();
            instance.launch(Call().on(input, output).of(bytes, MSCCLC_U8).rows(rowBytes).indexedBy(index));
            communicator.synchronize();
            for (uint32_t i = 0; i < gpus; ++i)
              for (uint32_t expert = 0; expert < experts; ++expert) {
                const uint32_t number = (communicator.firstLocalRank() + i) * experts + expert;
                uint64_t at = expert * ranks * capacity * rowBytes, got = 0;
                for (uint32_t src = 0; src < ranks; ++src)
                  for (uint32_t row = 0; row < rows; ++row)
                    if (expertOf(launch, src, row) == static_cast<int32_t>(number)) {
                      if (to[i][at] != byteOf(launch, src, row) || to[i][at + rowBytes - 1] != to[i][at])
                        return 1;
                      at += rowBytes;
                      ++got;
                    }
                if (received[i][expert] != got || to[i][at] != 0)
                  return 2;
              }
            std::vector<std::vector<unsigned char>> sums(gpus, std::vector<unsigned char>(rows * rowBytes, 1));
            for (uint32_t i = 0; i < gpus; ++i) {
              index[i].payloads[0] = {to[i].data(), sums[i].data(), rowBytes};
              index[i].weights = weights.data();
              if ((launch + communicator.firstLocalRank() + i) % 3 == 0) // ranks need not agree
                index[i].cells = nullptr;
            }
            communicator.barrier();
            combine.launch(Call().on(input, output).of(bytes, MSCCLC_F32).rows(rowBytes).indexedBy(index));
            communicator.synchronize();
            for (uint32_t i = 0; i < gpus; ++i)
              for (uint32_t row = 0; row < rows; ++row) {
                const bool isLive = entries[i][row] >= 0;
                for (uint64_t at = row * rowBytes; at < (row + 1) * rowBytes; ++at)
                  if (sums[i][at] != (isLive ? from[i][at] : 0))
                    return 3;
              }
            communicator.barrier();
          }
          return 0;
        }) == allWell(kernel));
}

TEST_CASE("Launches that nobody waits for between them") {
  const MscclcKernel &kernel = load(anyKernel);
  CHECK(onNodes(kernel, [&](uint32_t, const CommunicatorOptions &options) {
          Communicator communicator(options);
          Run run(communicator, kernel, messageOf(kernel, 500));
          for (uint64_t launch = 0; launch < 200; ++launch)
            run.instance().launch(run.call(messageOf(kernel, launch % 3 * 200 + 1)));
          communicator.synchronize();
          communicator.barrier();
          return run.right(messageOf(kernel, 500), 1) ? 0 : 1;
        }) == allWell(kernel));
}

TEST_CASE("Memory of the caller's that begins at another byte of its window on each rank") {
  const MscclcKernel &kernel = load(anyKernel);
  CHECK(onNodes(kernel, [&](uint32_t, const CommunicatorOptions &options) {
          Communicator communicator(options);
          Run run(communicator, kernel, messageOf(kernel, 100));
          std::vector<void *> memory;
          for (uint32_t i = 0; i < gpus; ++i)
            memory.push_back(static_cast<char *>(callersMemory(run.room() + 65536)) +
                             (communicator.firstLocalRank() + i) * 64);
          run.on(communicator.adopt(memory, run.room()));
          return run.right(messageOf(kernel, 100), 0) && run.right(messageOf(kernel, 33), 1) ? 0 : 1;
        }) == allWell(kernel));
}

TEST_CASE("After a reset signals count from the beginning") {
  const MscclcKernel &kernel = load(anyKernel);
  CHECK(onNodes(kernel, [&](uint32_t process, const CommunicatorOptions &options) {
          Communicator communicator(options);
          Run run(communicator, kernel, messageOf(kernel, 100));
          for (uint64_t round = 0; round < 3; ++round) {
            // Launches only on one node: its signals arrive, and those of the others do not.
            if (process == round % 2) {
              run.instance().launch(run.call(messageOf(kernel, 100)));
              communicator.abort("enough");
            }
            Failure failure;
            while (failure.code == MSCCLC_OK)
              failure = failureOf([&] { communicator.synchronize(); });
            if (failure.code != MSCCLC_ERROR_ABORTED)
              return 1;
            communicator.reset();
            if (!run.right(messageOf(kernel, 99), 2 * round) || !run.right(messageOf(kernel, 7), 2 * round + 1))
              return 2;
          }
          return 0;
        }) == allWell(kernel));
}

TEST_CASE("What was sent before a reset comes no later") {
  for (const std::string &name : {anyKernel, oneWayKernel}) {
    INFO(name);
    const MscclcKernel &kernel = load(name);
    CHECK(onNodes(kernel, [&](uint32_t process, const CommunicatorOptions &options) {
            sendLate(150);
            Communicator communicator(options);
            Run run(communicator, kernel, messageOf(kernel, 100));
            // The data of the first node is still on its way when all processes meet for the reset.
            abortLaunchOfFirst(communicator, run, kernel, process);
            communicator.reset();
            return run.right(messageOf(kernel, 99), 0) && run.right(messageOf(kernel, 7), 1) ? 0 : 1;
          }) == allWell(kernel));
  }
}

TEST_CASE("A reset that was given up leaves nothing that a later one takes for its own") {
  for (const std::string &name : {anyKernel, oneWayKernel}) {
    INFO(name);
    const MscclcKernel &kernel = load(name);
    CHECK(onNodes(kernel, [&](uint32_t process, CommunicatorOptions options) {
            options.setup_timeout_ms = 8000;
            Communicator communicator(options);
            Run run(communicator, kernel, messageOf(kernel, 100));
            sendLate(6000);
            if (failureOf([&] { communicator.reset(); }).code != MSCCLC_ERROR_TIMEOUT)
              return 1;
            // Arrives after what the first reset has sent, and in time for the second reset.
            sendLate(2800);
            communicator.reset();
            abortLaunchOfFirst(communicator, run, kernel, process);
            communicator.reset();
            sendLate(0);
            return run.right(messageOf(kernel, 99), 0) && run.right(messageOf(kernel, 7), 1) ? 0 : 2;
          }) == allWell(kernel));
  }
}

TEST_CASE("A reset does not wait for what never arrives longer than half a set-up may take") {
  for (const std::string &name : {anyKernel, oneWayKernel}) {
    INFO(name);
    const MscclcKernel &kernel = load(name);
    CHECK(onNodes(kernel, [&](uint32_t process, CommunicatorOptions options) {
            options.setup_timeout_ms = 3000;
            Communicator communicator(options);
            Run run(communicator, kernel, messageOf(kernel, 100)), second(communicator, kernel, messageOf(kernel, 1));
            sendLate(process == 0 ? 60000 : 0);
            const Timed reset = timed([&] { communicator.reset(); });
            const bool said = contains(reset.failure.text, "to rank 2 over the network has not arrived in half the");
            const bool here = !contains(reset.failure.text, "in another process");
            return reset.failure.code == MSCCLC_ERROR_TIMEOUT && said && here == (process == 1) &&
                           reset.milliseconds < 3000
                       ? 0
                       : 1;
          }) == allWell(kernel));
  }
}

TEST_CASE("A reset that waits for what is on its way ends when a node is lost, and when it is aborted") {
  const MscclcKernel &kernel = load(anyKernel);
  for (const bool killed : {false, true}) {
    Codes expected = allWell(kernel);
    expected[1] = killed ? -1 : 0;
    CHECK(onNodes(kernel, [&](uint32_t process, const CommunicatorOptions &options) {
            Communicator communicator(options);
            Run run(communicator, kernel, messageOf(kernel, 100));
            sendLate(process == 1 ? 100000 : 0);
            std::thread other([&] {
              ::usleep(500000);
              if (process == 1 && killed)
                ::kill(::getpid(), SIGKILL);
              if (process == 0 && !killed)
                communicator.abort("enough");
            });
            const Timed reset = timed([&] { communicator.reset(); });
            other.join();
            const int code = killed ? MSCCLC_ERROR_PEER_LOST : MSCCLC_ERROR_ABORTED;
            return reset.failure.code == code && reset.milliseconds < 15000 ? 0 : 1;
          }) == expected);
  }
}

TEST_CASE("A flush that does not end gives up after the time-out, or when a node is lost") {
  const MscclcKernel &kernel = load(anyKernel);
  for (const bool killed : {false, true}) {
    Codes expected = allWell(kernel);
    expected[1] = killed ? -1 : 0;
    CHECK(onNodes(kernel, [&](uint32_t process, CommunicatorOptions options) {
            if (process == 0)
              ::setenv("NCCL_FAKE_KEEPS", "1", 1);
            options.wait_timeout_ms = process == 0 && !killed ? 300 : MSCCLC_NO_TIMEOUT;
            options.setup_timeout_ms = 3000;
            Communicator communicator(options);
            Run run(communicator, kernel, messageOf(kernel, 100));
            run.instance().launch(run.call(messageOf(kernel, 100)));
            if (process == 1 && killed) {
              communicator.synchronize();
              ::kill(::getpid(), SIGKILL);
            }
            Failure failure;
            while (failure.code == MSCCLC_OK)
              failure = failureOf([&] { communicator.synchronize(); });
            if (killed)
              return failure.code == MSCCLC_ERROR_PEER_LOST ? 0 : 1;
            if (failure.code != MSCCLC_ERROR_TIMEOUT || !contains(failure.text, "waits for flush 1 of port channel 0"))
              return 2;
            const Failure reset = failureOf([&] { communicator.reset(); });
            return reset.code == MSCCLC_ERROR_TIMEOUT &&
                           contains(reset.text,
                                    "what rank 0 has sent to rank 2 over the network has not left it in half "
                                    "the time of a set-up (port channel 0 of rank 0)")
                       ? 0
                       : 3;
          }) == expected);
  }
}

TEST_CASE("A node that is killed is reported by the others, and they end") {
  const MscclcKernel &kernel = load(anyKernel);
  Codes expected = allWell(kernel);
  expected[1] = -1;
  CHECK(onNodes(kernel, [&](uint32_t process, CommunicatorOptions options) {
          options.wait_timeout_ms = MSCCLC_NO_TIMEOUT;
          Communicator communicator(options);
          Run run(communicator, kernel, messageOf(kernel, 100));
          for (int launch = 0; launch < 100000; ++launch) {
            if (process == 1 && launch == 20)
              ::kill(::getpid(), SIGKILL);
            const Failure failure = failureOf([&] {
              run.instance().launch(run.call(messageOf(kernel, 100)));
              communicator.synchronize();
            });
            if (failure.code != MSCCLC_OK)
              return failure.code == MSCCLC_ERROR_PEER_LOST && contains(failure.text, "(ranks 2 to 3) ended") ? 0 : 2;
          }
          return 1;
        }) == expected);
}

TEST_CASE("A wait for another node that takes too long says whom it waits for") {
  const MscclcKernel &kernel = load(anyKernel);
  CHECK(onNodes(kernel, [&](uint32_t process, CommunicatorOptions options) {
          options.wait_timeout_ms = process == 0 ? 300 : MSCCLC_NO_TIMEOUT;
          Communicator communicator(options);
          Run run(communicator, kernel, messageOf(kernel, 100));
          if (process == 0)
            run.instance().launch(run.call(messageOf(kernel, 100)));
          Failure failure;
          while (failure.code == MSCCLC_OK)
            failure = failureOf([&] { communicator.synchronize(); });
          return failure.code == MSCCLC_ERROR_TIMEOUT && contains(failure.text, "port channel 0") ? 0 : 1;
        }) == allWell(kernel));
}

TEST_CASE("A kernel for another version of NCCL is refused, with both versions") {
  const bool isOld = version() == "22809";
  const MscclcKernel &kernel = load(anyKernel, isOld ? "23203" : "22809");
  const std::string place = newPlace(), running = isOld ? "2.28.9" : "2.32.3", built = isOld ? "2.32.3" : "2.28.9";
  CHECK(inProcesses(kernel.ranks / gpus, [&](uint32_t process) {
          return isRefused(kernel, process, place, {"the GIN of NCCL " + built, "NCCL " + running + " runs"}) ? 0 : 1;
        }) == Codes(kernel.ranks / gpus, 0));
}

TEST_CASE("Where NCCL has no GIN, or the kernel no body for it, a kernel with ports between nodes is refused") {
  const MscclcKernel &kernel = load(anyKernel);
  const std::string place = newPlace(), second = newPlace(), third = newPlace();
  CHECK(inProcesses(kernel.ranks / gpus, [&](uint32_t process) {
          ::setenv("NCCL_FAKE_GIN", "0", 1);
          ::setenv("NCCL_GIN_TYPE", "3", 1);
          // NCCL 2.28.9 creates a device communicator anyway; newer versions fail.
          const int32_t code = version() == "22809" ? MSCCLC_ERROR_UNSUPPORTED : MSCCLC_ERROR_NCCL;
          const bool without =
              isRefused(kernel, process, place, {"GIN", "NCCL_GIN_TYPE is 3; 2 is NCCL's proxy"}, code);
          MscclcKernel silent = kernel;
          silent.flags &= ~uint32_t{MSCCLC_NEEDS_PORT};
          Communicator communicator(node(kernel, process, third));
          const Failure unflagged = failureOf([&] { communicator.load(silent, 4096); });
          if (unflagged.code != MSCCLC_ERROR_KERNEL || !contains(unflagged.text, "does not say that it needs ports"))
            return 2;
          MscclcKernel bare = kernel;
          bare.network = nullptr;
          return without && isRefused(bare, process, second, {"compile it with -DMSCCLC_GIN", "NCCL 2."}) ? 0 : 1;
        }) == Codes(kernel.ranks / gpus, 0));
}

TEST_CASE("On one node the same kernel goes without GIN") {
  const MscclcKernel &kernel = load(anyKernel, version() == "22809" ? "23203" : "22809");
  ::setenv("NCCL_FAKE_TEAM", std::to_string(kernel.ranks).c_str(), 1);
  ::setenv("NCCL_FAKE_GIN", "0", 1);
  Communicator communicator(onHost(kernel.ranks));
  Run run(communicator, kernel, messageOf(kernel, 100));
  CHECK(run.right(messageOf(kernel, 100), 0));
  CHECK(run.right(messageOf(kernel, 9), 1));
  ::unsetenv("NCCL_FAKE_GIN");
}
