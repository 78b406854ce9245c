#include "member.h"

#include "log.h"
#include "real.h"

#include <chrono>
#include <thread>

namespace mscclc::nccl {
namespace {

int ofCuda(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return Success;
  warn(std::string(what) + ": " + cudaGetErrorString(error));
  return UnhandledCudaError;
}

#define MSCCLC_CHECK(call)                                                                                             \
  if (const int result = (call); result != Success)                                                                    \
    return result;
#define MSCCLC_CUDA(call) MSCCLC_CHECK(ofCuda(call, #call))

int prepare(Member &member) {
  if (member.memory != nullptr)
    return Success;
  MSCCLC_CUDA(cudaSetDevice(member.device));
  MSCCLC_CUDA(cudaStreamCreateWithFlags(&member.stream, cudaStreamNonBlocking));
  MSCCLC_CUDA(cudaEventCreateWithFlags(&member.done, cudaEventDisableTiming));
  MSCCLC_CUDA(cudaMalloc(&member.memory, member.ranks * mostToTell));
  return Success;
}

int gather(const std::vector<Member *> &members, size_t each) {
  int result = real().groupStart();
  if (result != Success)
    return result;
  for (Member *member : members) {
    char *const all = static_cast<char *>(member->memory);
    const int asked = real().allGather(all + member->rank * each, all, each, 1, member->comm, member->stream);
    if (asked != Success && asked != InProgress)
      result = asked;
  }
  const int ended = real().groupEnd();
  if (result == Success && ended != Success && ended != InProgress)
    result = ended;
  for (Member *member : members)
    if (result == Success)
      result = settled(member->comm, ended);
  return result;
}

} // namespace

bool cudaStarts() {
  static const bool starts = [] {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess)
      warn(std::string("CUDA does not start in this library: ") + cudaGetErrorString(error) + "; NCCL runs every call");
    return error == cudaSuccess;
  }();
  return starts;
}

int settled(Comm comm, int result) {
  while (result == InProgress) {
    int state = Success;
    if (const int asked = real().commGetAsyncError(comm, &state); asked != Success)
      return asked;
    result = state;
    if (result == InProgress)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return result;
}

ThreadStateGuard::ThreadStateGuard() {
  if (cudaGetDevice(&device_) != cudaSuccess)
    device_ = -1;
  cudaThreadExchangeStreamCaptureMode(&mode_);
}
ThreadStateGuard::~ThreadStateGuard() {
  cudaThreadExchangeStreamCaptureMode(&mode_);
  if (device_ >= 0)
    cudaSetDevice(device_);
}

Member::~Member() {
  if (stream == nullptr)
    return;
  const ThreadStateGuard guard;
  cudaSetDevice(device);
  if (done != nullptr)
    cudaEventDestroy(done);
  cudaStreamDestroy(stream);
  if (memory != nullptr)
    cudaFree(memory);
}

int tellAll(const std::vector<Member *> &members, std::vector<std::string> &said) {
  const ThreadStateGuard guard;
  const size_t each = said.front().size();
  for (size_t i = 0; i < members.size(); ++i) {
    Member &member = *members[i];
    MSCCLC_CHECK(prepare(member));
    MSCCLC_CUDA(cudaSetDevice(member.device));
    MSCCLC_CUDA(cudaMemcpyAsync(static_cast<char *>(member.memory) + member.rank * each, said[i].data(), each,
                                cudaMemcpyHostToDevice, member.stream));
  }
  MSCCLC_CHECK(gather(members, each));
  // The streams read `said` until they are done.
  std::vector<std::string> heard;
  heard.reserve(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    Member &member = *members[i];
    heard.emplace_back(member.ranks * each, '\0');
    MSCCLC_CUDA(cudaSetDevice(member.device));
    MSCCLC_CUDA(
        cudaMemcpyAsync(heard[i].data(), member.memory, heard[i].size(), cudaMemcpyDeviceToHost, member.stream));
  }
  for (Member *member : members) {
    MSCCLC_CUDA(cudaSetDevice(member->device));
    MSCCLC_CUDA(cudaStreamSynchronize(member->stream));
  }
  said = std::move(heard);
  return Success;
}

} // namespace mscclc::nccl
