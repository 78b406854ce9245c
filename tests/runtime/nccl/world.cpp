#include "world.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace testing {

World::World(int ranks, ncclConfig_t *config) : comms(static_cast<size_t>(ranks)) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclGroupStart();
  for (int rank = 0; rank < ranks; ++rank) {
    cudaSetDevice(rank);
    ncclCommInitRankConfig(&comms[rank], ranks, id, rank, config);
  }
  if (const ncclResult_t result = ncclGroupEnd(); result != ncclSuccess && result != ncclInProgress)
    throw std::runtime_error("no communicators");
  prepare();
}

World::World(std::vector<ncclComm_t> made) : comms(std::move(made)) {
  prepare();
}

void World::prepare() {
  for (int rank = 0; rank < ranks(); ++rank) {
    cudaSetDevice(rank);
    cudaStream_t stream = nullptr;
    void *in = nullptr, *out = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&in, room);
    cudaMalloc(&out, room);
    streams.push_back(stream);
    inputs.push_back(in);
    outputs.push_back(out);
  }
}

World::~World() {
  for (ncclComm_t comm : comms)
    if (comm != nullptr)
      ncclCommDestroy(comm);
  for (int rank = 0; rank < ranks(); ++rank) {
    cudaSetDevice(rank);
    cudaStreamDestroy(streams[rank]);
    cudaFree(inputs[rank]);
    cudaFree(outputs[rank]);
  }
}

void World::synchronize() {
  for (int rank = 0; rank < ranks(); ++rank) {
    cudaSetDevice(rank);
    cudaStreamSynchronize(streams[rank]);
  }
}

ncclResult_t World::inGroup(const std::function<ncclResult_t(int)> &call) {
  ncclResult_t first = ncclGroupStart();
  for (int rank = 0; rank < ranks(); ++rank) {
    cudaSetDevice(rank);
    if (const ncclResult_t result = call(rank); first == ncclSuccess)
      first = result;
  }
  if (const ncclResult_t result = ncclGroupEnd(); first == ncclSuccess)
    first = result;
  synchronize();
  return first;
}

ncclResult_t World::inThreads(const std::function<ncclResult_t(int)> &call) {
  std::atomic<int> first{ncclSuccess};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks(); ++rank)
    threads.emplace_back([&, rank] {
      cudaSetDevice(rank);
      if (const ncclResult_t result = call(rank); result != ncclSuccess)
        first = result;
    });
  for (std::thread &thread : threads)
    thread.join();
  synchronize();
  return static_cast<ncclResult_t>(first.load());
}

int reached(const std::string &name) {
  void *const fake = ::dlopen(std::getenv("MSCCLC_NCCL_LIB_PATH"), RTLD_NOW | RTLD_NOLOAD);
  void *const function = fake == nullptr ? nullptr : ::dlsym(fake, "fakeNcclCount");
  if (function == nullptr)
    throw std::runtime_error("the fake NCCL is not there");
  return reinterpret_cast<int (*)(const char *)>(function)(name.c_str());
}

int reachedBy(const char *function, const std::function<void()> &action) {
  const int before = reached(function);
  action();
  return reached(function) - before;
}

std::string saidBy(const std::function<void()> &action) {
  std::fflush(stderr);
  std::FILE *const file = std::tmpfile();
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  action();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::rewind(file);
  std::string text(65536, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

} // namespace testing
