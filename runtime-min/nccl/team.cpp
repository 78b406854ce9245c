#include "team.h"

#include "log.h"
#include "real.h"

#include <chrono>

namespace mscclc::nccl {
namespace {

std::string ofCuda(cudaError_t error, const char *what) {
  return error == cudaSuccess ? "" : std::string(what) + ": " + cudaGetErrorString(error);
}
std::string ofRuntime(int32_t code) {
  return code == MSCCLC_OK ? "" : mscclc_last_error();
}

#define MSCCLC_TRY(call)                                                                                               \
  if (std::string why = (call); !why.empty())                                                                          \
    return why;
#define MSCCLC_CUDA(call) MSCCLC_TRY(ofCuda(call, #call))

/// Refusals that depend on the kernel, the call and what the processes agreed on, so every process makes them.
bool isShared(int32_t code) {
  return code == MSCCLC_ERROR_SIZE || code == MSCCLC_ERROR_KERNEL || code == MSCCLC_ERROR_THREADS ||
         code == MSCCLC_ERROR_NOT_RESIDENT;
}

bool isDone(cudaEvent_t event) {
  const cudaError_t error = cudaEventQuery(event);
  if (error == cudaErrorNotReady)
    cudaGetLastError(); // the program is not to find it
  return error == cudaSuccess;
}

/// The capture that a stream takes part in; 0 if it does in none.
unsigned long long captureOf(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  if (cudaStreamGetCaptureInfo(stream, &status, &id) != cudaSuccess || status != cudaStreamCaptureStatusActive)
    return 0;
  return id;
}

} // namespace

Team::Team(Place place) : place_(std::move(place)), members_(place_.locals), calls_(place_.locals) {}

Team::~Team() {
  const Aside aside;
  if (mscclc_communicator_destroy(communicator_) == MSCCLC_ERROR_IN_GRAPH)
    warn(std::string("the windows of a communicator stay to the end of the process: ") + mscclc_last_error());
}

void Team::join(Member &member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  members_[member.rank - place_.firstLocal] = &member;
}

void Team::leave(Member &member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  members_[member.rank - place_.firstLocal] = nullptr;
  if (aborted_ || !member.isPending)
    return;
  // The windows go with the team, and the last call may still copy from them.
  const Aside aside;
  cudaSetDevice(member.device);
  cudaEventSynchronize(member.done);
}

void Team::abort() {
  aborted_ = true;
  failed_ = true;
  if (MscclcCommunicator *const made = communicator_; made != nullptr)
    mscclc_communicator_abort(made, "ncclCommAbort");
  changed_.notify_all();
}

bool Team::hasFailed() {
  MscclcCommunicator *const made = communicator_;
  return failed_ || (made != nullptr && mscclc_communicator_health(made) != MSCCLC_OK);
}

Outcome Team::run(const std::vector<std::pair<Member *, const Call *>> &calls, const Choice &choice) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (aborted_)
    return {Outcome::Way::Failed, "the communicator was aborted"};
  for (const auto &[member, call] : calls)
    calls_[member->rank - place_.firstLocal] = call;
  arrived_ += static_cast<uint32_t>(calls.size());
  if (arrived_ == place_.locals) {
    outcome_ = launchAll(choice);
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return outcome_;
  }
  const uint64_t round = round_;
  while (round_ == round && !aborted_)
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  return round_ != round ? outcome_ : Outcome{Outcome::Way::Failed, "the communicator was aborted"};
}

/// With the calls of all local ranks. Whatever is decided here, other processes decide alike.
Outcome Team::launchAll(const Choice &choice) {
  const Aside aside;
  const Shape shape = shapeOf(*calls_.front(), place_.ranks);
  for (const Call *call : calls_)
    if (shapeOf(*call, place_.ranks) != shape)
      return {Outcome::Way::PassOn, "the ranks make different calls"};
  if (!made_) {
    refused_ = makeCommunicator();
    made_ = true;
  }
  if (!refused_.empty())
    return {Outcome::Way::PassOn, refused_};
  if (failed_)
    return {Outcome::Way::Failed, "an earlier call failed"};
  // Its result is lost, so the program has to hear of it.
  if (mscclc_communicator_health(communicator_) != MSCCLC_OK)
    return fails(std::string("an earlier call failed: ") + mscclc_last_error());
  auto found = instances_.find(choice.kernel);
  if (found == instances_.end()) {
    Prepared prepared;
    prepared.why = makeInstance(*choice.kernel, prepared.instance);
    found = instances_.emplace(choice.kernel, prepared).first;
  }
  if (!found->second.why.empty())
    return {Outcome::Way::PassOn, found->second.why};
  return launch(found->second.instance, choice);
}

Outcome Team::launch(MscclcInstance *instance, const Choice &choice) {
  const MscclcKernel &kernel = *choice.kernel;
  if (const std::string why = orderAll(); !why.empty())
    return afterFailure(why);
  std::vector<void *> streams;
  std::vector<MscclcStaging> staging;
  for (uint32_t i = 0; i < place_.locals; ++i) {
    streams.push_back(calls_[i]->stream);
    staging.push_back(stagingOf(i));
  }
  MscclcCall call;
  mscclc_call_init(&call);
  call.dtype = choice.dtype;
  call.reduce_op = choice.reduceOp;
  call.input = (kernel.flags & MSCCLC_IN_PLACE) != 0 ? output_ : input_;
  call.output = output_;
  call.message_bytes = choice.message;
  call.streams = streams.data();
  call.staging = staging.data();
  if (const int32_t code = mscclc_launch(instance, &call); code != MSCCLC_OK) {
    const std::string why = mscclc_last_error();
    mark();
    const bool isWell = mscclc_communicator_health(communicator_) == MSCCLC_OK;
    // Refused before any rank began: on all of them, if all are here or have the same reason.
    if (isWell && (place_.locals == place_.ranks || isShared(code)))
      return {Outcome::Way::PassOn, why};
    return afterFailure(why);
  }
  if (const std::string why = mark(); !why.empty())
    return fails(why);
  return {Outcome::Way::Ours, ""};
}

/// This call's launch has failed, and none of its results is copied. Where all ranks are here and no earlier call was
/// lost with it, everything begins anew and NCCL has the call. Else other processes may have launched it.
Outcome Team::afterFailure(const std::string &why) {
  if (place_.locals != place_.ranks || aborted_ || capturing() || earlierRuns_)
    return fails(why);
  mscclc_communicator_synchronize(communicator_);
  if (mscclc_communicator_reset(communicator_) != MSCCLC_OK)
    refused_ = why;
  return {Outcome::Way::PassOn, why};
}

/// For good: the error stays until the program aborts the communicator.
Outcome Team::fails(const std::string &why) {
  failed_ = true;
  return {Outcome::Way::Failed, why + "; NCCL cannot make up for it: abort the communicator"};
}

bool Team::capturing() const {
  for (const Call *call : calls_)
    if (captureOf(call->stream) != 0)
      return true;
  return false;
}

/// Behind the last call of the member, on whatever stream that was. Handles of streams do not tell: they are used
/// again, and cudaStreamPerThread is another one in each thread.
std::string Team::order(Member &member, cudaStream_t stream) {
  const unsigned long long capture = captureOf(stream);
  if (capture == 0) {
    if (member.isPending && isDone(member.done))
      member.isPending = false;
    earlierRuns_ = earlierRuns_ || member.isPending;
    if (member.isPending)
      MSCCLC_CUDA(cudaStreamWaitEvent(stream, member.done, 0));
    return "";
  }
  // Within one graph: an event that is recorded in the capture.
  if (capture == member.lastCapture && stream != member.lastCaptured) {
    cudaEvent_t event = nullptr;
    MSCCLC_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    cudaError_t error = cudaEventRecord(event, member.lastCaptured);
    if (error == cudaSuccess)
      error = cudaStreamWaitEvent(stream, event, 0);
    cudaEventDestroy(event);
    MSCCLC_TRY(ofCuda(error, "order within a graph"));
  }
  member.lastCapture = capture;
  member.lastCaptured = stream;
  return "";
}

std::string Team::orderAll() {
  earlierRuns_ = false;
  for (uint32_t i = 0; i < place_.locals; ++i) {
    MSCCLC_CUDA(cudaSetDevice(members_[i]->device));
    MSCCLC_TRY(order(*members_[i], calls_[i]->stream));
  }
  return "";
}

/// What the kernel copies to the window and from it.
MscclcStaging Team::stagingOf(uint32_t localIndex) const {
  const Call &call = *calls_[localIndex];
  const Extent extent = *extentOf(shapeOf(call, place_.ranks), members_[localIndex]->rank);
  MscclcStaging staging{};
  staging.input = extent.input == 0 ? nullptr : call.send;
  staging.output = extent.output == 0 ? nullptr : call.recv;
  staging.input_bytes = extent.input;
  staging.output_bytes = extent.output;
  staging.keeps_input = place_.locals == place_.ranks ? 1 : 0; // NCCL may have the call after a failure
  const int op = shapeOf(call, place_.ranks).op;
  if (op == Avg) {
    staging.scaling = MSCCLC_AVERAGE;
  } else if (op == PreMulSum) {
    staging.scaling = MSCCLC_SCALE_INPUT;
    staging.factor = call.factor->bits;
    staging.factor_at = call.factor->at;
  }
  return staging;
}

/// What comes next uses the window after this.
std::string Team::mark() {
  for (uint32_t i = 0; i < place_.locals; ++i) {
    Member &member = *members_[i];
    if (captureOf(calls_[i]->stream) != 0)
      continue;
    MSCCLC_CUDA(cudaSetDevice(member.device));
    MSCCLC_CUDA(cudaEventRecord(member.done, calls_[i]->stream));
    member.isPending = true;
  }
  return "";
}

/// The first reason that any rank has; empty if none has one.
std::string Team::agree(const std::string &why) {
  std::string text = why.substr(0, mostToTell - 1);
  text.resize(mostToTell, '\0');
  std::vector<std::string> said(place_.locals, text);
  if (tellAll(members_, said) != Success)
    return "the ranks could not tell each other whether all is well";
  for (uint32_t rank = 0; rank < place_.ranks; ++rank)
    if (const char *const reason = said.front().data() + rank * mostToTell; *reason != '\0')
      return reason;
  return "";
}

std::string Team::makeCommunicator() {
  std::vector<int32_t> devices;
  for (const Member *member : members_)
    devices.push_back(member->device);
  MscclcCommunicatorOptions options;
  mscclc_communicator_options_init(&options);
  options.ranks = place_.ranks;
  options.first_local_rank = place_.firstLocal;
  options.local_ranks = place_.locals;
  options.devices = devices.data();
  options.platform = MSCCLC_PLATFORM_CUDA;
  options.rendezvous = place_.meeting.c_str();
  MscclcCommunicator *made = nullptr;
  MSCCLC_TRY(agree("")); // a process that comes late uses up nothing of the others' time to connect
  std::string why = agree(ofRuntime(mscclc_communicator_create(&options, &made)));
  if (why.empty()) {
    const bool well = mscclc_buffer_allocate(made, windowBytes(), &input_) == MSCCLC_OK &&
                      mscclc_buffer_allocate(made, windowBytes(), &output_) == MSCCLC_OK;
    why = agree(well ? "" : mscclc_last_error());
  }
  if (why.empty()) {
    communicator_ = made;
    return "";
  }
  mscclc_communicator_destroy(made);
  return why;
}

std::string Team::makeInstance(const MscclcKernel &kernel, MscclcInstance *&instance) {
  return agree(ofRuntime(mscclc_instance_create(communicator_, &kernel, largestMessage(kernel), &instance)));
}

} // namespace mscclc::nccl
