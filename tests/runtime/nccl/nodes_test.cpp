// Tests communicators over several nodes, which are processes here. Behind the runtime is a fake NCCL with windows and
// a network. It has no collectives except the one by which the ranks meet, so every result comes from a kernel.
#include "../captured.h"
#include "../pipes.h"
#include "../processes.h"
#include "world.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>
#include <utility>

using namespace testing;
using Codes = std::vector<int>;

namespace {

constexpr int ranks = 4;

template <class Function> Function *inDouble(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(::dlopen(std::getenv("MSCCLC_NCCL_LIB_PATH"), RTLD_NOW), name));
}

/// Creates the meeting place of the fake, which the processes share.
ncclUniqueId newId() {
  ncclUniqueId id{};
  std::strncpy(id.internal, newPlace().c_str(), sizeof(id.internal) - 1);
  inDouble<void(const char *)>("ncclFakeBoard")(id.internal);
  return id;
}

/// The ranks of one node: those from `first` on.
class Node {
public:
  Node(const ncclUniqueId &id, int first, int count, const char *name) : first_(first) {
    ::setenv("NCCL_HOSTID", name, 1);
    cudaSetDevice(0);
    for (int i = 0; i < count; ++i) {
      comms.emplace_back();
      streams.emplace_back();
      REQUIRE(ncclCommInitRank(&comms.back(), ranks, id, first + i) == ncclSuccess);
      cudaStreamCreateWithFlags(&streams.back(), cudaStreamNonBlocking);
      for (std::vector<void *> *of : {&inputs, &outputs}) {
        of->emplace_back();
        REQUIRE(ncclMemAlloc(&of->back(), World::room) == ncclSuccess);
      }
    }
  }
  ~Node() {
    for (size_t i = 0; i < comms.size(); ++i) {
      if (comms[i] != nullptr)
        ncclCommDestroy(comms[i]);
      cudaStreamDestroy(streams[i]);
    }
  }
  Node(const Node &) = delete;

  /// Returns the node of this process, of two nodes with two ranks each.
  static Node ofTwo(const ncclUniqueId &id, uint32_t process) {
    return process == 0 ? Node(id, 0, 2, "left") : Node(id, 2, 2, "right");
  }

  /// Calls of all ranks in one group.
  ncclResult_t allReduce(const std::vector<void *> &from, const std::vector<void *> &to, size_t count) {
    ncclGroupStart();
    for (size_t i = 0; i < comms.size(); ++i)
      ncclAllReduce(from[i], to[i], count, ncclFloat, ncclSum, comms[i], streams[i]);
    return ncclGroupEnd();
  }
  void synchronize() {
    for (cudaStream_t stream : streams)
      cudaStreamSynchronize(stream);
  }
  /// Computes a sum over all nodes. Returns whether it is right. `said`: receives what is printed meanwhile.
  bool sums(size_t count, std::string *said = nullptr) {
    ncclResult_t result = ncclSuccess;
    const auto call = [&] {
      for (size_t i = 0; i < comms.size(); ++i)
        for (size_t at = 0; at < count; ++at)
          static_cast<float *>(inputs[i])[at] = valueOf<float>(first_ + static_cast<int>(i), at);
      result = allReduce(inputs, outputs, count);
      synchronize();
    };
    if (said != nullptr)
      *said = saidBy(call);
    else
      call();
    for (size_t at = 0; at < count && result == ncclSuccess; ++at) {
      float wanted = 0;
      for (int rank = 0; rank < ranks; ++rank)
        wanted += valueOf<float>(rank, at);
      for (void *output : outputs)
        if (static_cast<float *>(output)[at] != wanted)
          return false;
    }
    return result == ncclSuccess;
  }
  /// Computes a sum, and waits until the other of two processes has its sum, too. `pipes`: connect the two.
  bool sumsWithOther(Pipes &pipes, uint32_t process) {
    std::array<char, 2> summed{};
    return sums(1000) && pipes.exchange(process, summed.data(), 1);
  }

  std::vector<ncclComm_t> comms;
  std::vector<cudaStream_t> streams;
  std::vector<void *> inputs, outputs;

private:
  const int first_;
};

bool has(const std::string &said, const char *text) {
  if (said.find(text) != std::string::npos)
    return true;
  std::fprintf(stderr, "without '%s': %s\n", text, said.c_str());
  return false;
}

} // namespace

TEST_CASE("A kernel that is listed for two nodes runs between them") {
  const ncclUniqueId id = newId();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node = Node::ofTwo(id, process);
          std::string said;
          if (!node.sums(1000, &said) ||
              !has(said, "allreduce of 4000 bytes of f32, sum, 4 ranks, 2 a node: kernel 'allreduce_hierarchical'") ||
              !has(said, ": by copies to windows and back"))
            return 1;
          for (const size_t count : {1, 77, 100000, 1000})
            if (!node.sums(count))
              return 2;
          // In windows of all ranks.
          std::vector<ncclWindow_t> windows(4);
          for (const bool isInput : {true, false}) {
            ncclGroupStart();
            for (size_t i = 0; i < 2; ++i)
              ncclCommWindowRegister(node.comms[i], isInput ? node.inputs[i] : node.outputs[i], World::room,
                                     &windows[2 * i + (isInput ? 0 : 1)], NCCL_WIN_COLL_SYMMETRIC);
            if (ncclGroupEnd() != ncclSuccess)
              return 3;
          }
          if (!node.sums(2000, &said) || !has(said, ": on the program's memory") || !node.sums(2001))
            return 3;
          for (size_t i = 0; i < 4; ++i)
            ncclCommWindowDeregister(node.comms[i / 2], windows[i]);
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("Windows beyond those that a communicator knows are copied, and cost the processes one question") {
  const ncclUniqueId id = newId();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node = Node::ofTwo(id, process);
          const auto gathers = inDouble<int()>("ncclFakeGathers");
          constexpr size_t known = 64, bytes = 4096;
          std::vector<std::vector<void *>> memory(known + 4, std::vector<void *>(2));
          std::vector<std::array<ncclWindow_t, 2>> windows(known + 4);
          const auto registers = [&](size_t at) {
            ncclGroupStart();
            for (size_t i = 0; i < 2; ++i) {
              ncclMemAlloc(&memory[at][i], bytes);
              ncclCommWindowRegister(node.comms[i], memory[at][i], bytes, &windows[at][i], NCCL_WIN_COLL_SYMMETRIC);
            }
            return ncclGroupEnd() == ncclSuccess;
          };
          const auto isDirect = [&](size_t at) {
            static size_t count = 0; // who runs a call is said once for each
            ++count;
            const std::string said = saidBy([&] {
              node.allReduce(memory[at], memory[at], count);
              node.synchronize();
            });
            return said.find(": on the program's memory") != std::string::npos;
          };
          for (size_t at = 0; at <= known; ++at)
            if (!registers(at) || isDirect(at) != (at < known))
              return 1;
          const int before = gathers();
          if (isDirect(known) || gathers() != before)
            return 2;
          for (size_t at = 0; at < 2; ++at)
            for (size_t i = 0; i < 2; ++i)
              ncclCommWindowDeregister(node.comms[i], windows[at][i]);
          // New memory takes one place, and what had none the other.
          return registers(known + 1) && isDirect(known + 1) && isDirect(known) ? 0 : 3;
        }) == Codes(2, 0));
}

TEST_CASE("Where NCCL has no network between the nodes, it has the call, and the reason is said") {
  const ncclUniqueId id = newId();
  CHECK(inProcesses(2, [&](uint32_t process) {
          ::setenv("NCCL_FAKE_GIN", "0", 1);
          Node node = Node::ofTwo(id, process);
          std::string said;
          for (int repeat = 0; repeat < 2; ++repeat)
            if (node.sums(1000, repeat == 0 ? &said : nullptr)) // the fake sums nothing
              return 1;
          return has(said, "4 ranks, 2 a node: NCCL runs it, because kernel 'allreduce_hierarchical' did not run: ") &&
                         has(said, "GIN")
                     ? 0
                     : 2;
        }) == Codes(2, 0));
}

TEST_CASE("An abort ends a call that waits for another node") {
  const ncclUniqueId id = newId();
  Pipes pipes(2);
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node = Node::ofTwo(id, process);
          if (!node.sumsWithOther(pipes, process))
            return 1;
          if (process == 0) { // the other one does not call
            if (node.allReduce(node.inputs, node.outputs, 1000) != ncclSuccess ||
                cudaStreamQuery(node.streams[0]) != cudaErrorNotReady)
              return 2;
          }
          ncclResult_t state = process == 0 ? ncclInternalError : ncclSuccess;
          while (state == ncclSuccess) // until it hears of the abort
            ncclCommGetAsyncError(node.comms[0], &state);
          if (state != ncclInternalError)
            return 4;
          std::vector<std::thread> threads; // all at once
          std::atomic<int> aborted{0};
          for (ncclComm_t &comm : node.comms)
            threads.emplace_back(
                [&] { aborted += ncclCommAbort(std::exchange(comm, nullptr)) == ncclSuccess ? 1 : 0; });
          for (std::thread &thread : threads)
            thread.join();
          if (aborted != 2)
            return 3;
          node.synchronize();
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("A communicator ends where the other node's process ends without that") {
  const ncclUniqueId id = newId();
  Pipes pipes(2);
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node = Node::ofTwo(id, process);
          if (!node.sumsWithOther(pipes, process))
            return 1;
          if (process == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200)); // the other one waits for this one meanwhile
            ::_exit(0);
          }
          for (ncclComm_t &comm : node.comms)
            if (ncclCommDestroy(std::exchange(comm, nullptr)) != ncclSuccess)
              return 2;
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("An abort does not wait for a call that is behind one of NCCL's") {
  const ncclUniqueId id = newId();
  Pipes pipes(2);
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node = Node::ofTwo(id, process);
          if (!node.sumsWithOther(pipes, process))
            return 1;
          if (process == 0) {
            const auto stuck = inDouble<void(void *)>("ncclFakeStuck");
            for (cudaStream_t stream : node.streams)
              cudaLaunchHostFunc(stream, stuck, nullptr);
            if (node.allReduce(node.inputs, node.outputs, 1000) != ncclSuccess)
              return 2;
          }
          ncclResult_t state = process == 0 ? ncclInternalError : ncclSuccess;
          while (state == ncclSuccess) // until it hears of the abort
            ncclCommGetAsyncError(node.comms[0], &state);
          for (ncclComm_t &comm : node.comms)
            if (ncclCommAbort(std::exchange(comm, nullptr)) != ncclSuccess)
              return 3;
          node.synchronize();
          return 0;
        }) == Codes(2, 0));
}

TEST_CASE("A communicator ends before a graph of its calls, and nothing asks NCCL's for anything after that") {
  const ncclUniqueId id = newId();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node = Node::ofTwo(id, process);
          if (!node.sums(1000))
            return 1;
          for (cudaStream_t stream : node.streams)
            cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
          if (node.allReduce(node.inputs, node.outputs, 1000) != ncclSuccess)
            return 2;
          if (endCaptures(node.streams).empty())
            return 3;
          const std::string said = saidBy([&] {
            for (ncclComm_t &comm : node.comms)
              ncclCommDestroy(std::exchange(comm, nullptr));
          });
          std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the watch asks each millisecond
          return has(said, "the windows of a communicator stay until the process ends") ? 0 : 4;
        }) == Codes(2, 0));
}

TEST_CASE("A host whose ranks do not follow each other is not taken for several nodes") {
  const ncclUniqueId id = newId();
  CHECK(inProcesses(4, [&](uint32_t process) {
          Node node(id, static_cast<int>(process), 1, process % 2 == 0 ? "left" : "right");
          std::string said;
          return !node.sums(1000, &said) &&
                         has(said, "NCCL runs its calls, because the nodes do not have equally many ranks that follow")
                     ? 0
                     : 1;
        }) == Codes(4, 0));
}

TEST_CASE("Nodes of different sizes are not taken") {
  for (int first : {1, 3}) { // the ranks of the first node
    const ncclUniqueId id = newId();
    CHECK(inProcesses(2, [&](uint32_t process) {
            Node node(id, process == 0 ? 0 : first, process == 0 ? first : 4 - first, process == 0 ? "left" : "right");
            std::string said;
            return !node.sums(1000, &said) &&
                           has(said, "NCCL runs its calls, because the nodes do not have equally many ranks that")
                       ? 0
                       : 1;
          }) == Codes(2, 0));
  }
}

TEST_CASE("Kernels for other nodes than the communicator's are not taken") {
  const ncclUniqueId id = newId();
  CHECK(inProcesses(2, [&](uint32_t process) {
          Node node(id, process == 0 ? 0 : 2, 2, "same");
          std::string said;
          return !node.sums(1000, &said) &&
                         has(said, "4 ranks: NCCL runs it, because kernel 'allreduce_hierarchical': made for 2 ranks a")
                     ? 0
                     : 1;
        }) == Codes(2, 0));
}
