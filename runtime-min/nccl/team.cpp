#include "team.h"

#include "log.h"
#include "real.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

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

/// True if a refusal with this code depends only on the kernel, the call and the agreement of the processes. Then every
/// process refuses.
bool isShared(int32_t code) {
  return code == MSCCLC_ERROR_SIZE || code == MSCCLC_ERROR_KERNEL || code == MSCCLC_ERROR_THREADS ||
         code == MSCCLC_ERROR_NOT_RESIDENT;
}

/// True if MSCCLC_PDL lets kernels begin before the program's earlier kernel has ended.
bool wantsPdl() {
  static const char *const wanted = std::getenv("MSCCLC_PDL");
  return wanted != nullptr && std::strcmp(wanted, "1") == 0;
}

bool isDone(cudaEvent_t event) {
  const cudaError_t error = cudaEventQuery(event);
  if (error == cudaErrorNotReady)
    cudaGetLastError(); // removes the error, so that the program does not find it
  return error == cudaSuccess;
}

/// Returns the capture in which a stream takes part; 0 if there is none.
unsigned long long captureOf(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  if (cudaStreamGetCaptureInfo(stream, &status, &id) != cudaSuccess || status != cudaStreamCaptureStatusActive)
    return 0;
  return id;
}

} // namespace

Team::Team(Layout layout) : layout_(std::move(layout)), members_(layout_.locals), calls_(layout_.locals) {}

Team::~Team() {
  const ThreadStateGuard guard;
  if (mscclc_communicator_destroy(communicator_) == MSCCLC_ERROR_IN_GRAPH)
    warn(std::string("the windows of a communicator stay until the process ends: ") + mscclc_last_error());
}

void Team::join(Member &member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  members_[member.rank - layout_.firstLocal] = &member;
}

/// Changes the state, unless it is Aborted. The caller holds handle_.
void Team::become(State next) {
  if (!is(State::Aborted))
    state_ = next;
}

void Team::leave(Member &member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is(State::Aborted) && isOnNccl()) {
    for (Member *const other : members_)
      if (other != nullptr)
        awaitLast(*other);
    endOnNccl();
  } else if (!is(State::Aborted)) {
    awaitLast(member);
  }
  members_[member.rank - layout_.firstLocal] = nullptr;
}

/// Waits for the member's last call, which may still use the windows. The windows end with the team.
void Team::awaitLast(Member &member) {
  if (!member.isPending)
    return;
  const ThreadStateGuard guard;
  cudaSetDevice(member.device);
  cudaEventSynchronize(member.done);
  member.isPending = false;
}

/// Ends the runtime's communicator before the real communicators, because it was made on them.
void Team::endOnNccl() {
  const ThreadStateGuard guard;
  MscclcCommunicator *made = nullptr;
  {
    const std::lock_guard<std::mutex> lock(handle_);
    if (is(State::Ended))
      return;
    become(State::Ended);
    made = std::exchange(communicator_, nullptr);
  }
  if (mscclc_communicator_destroy(made) != MSCCLC_ERROR_IN_GRAPH)
    return;
  mscclc_communicator_detach_nccl(made);
  const std::lock_guard<std::mutex> lock(handle_);
  communicator_ = made; // ~Team tries again to destroy the communicator
}

void Team::abort() {
  bool isFirst = false;
  {
    const std::lock_guard<std::mutex> lock(handle_);
    isFirst = state_.exchange(State::Aborted) != State::Aborted;
    if (communicator_ != nullptr)
      mscclc_communicator_abort(communicator_, "ncclCommAbort");
  }
  changed_.notify_all();
  if (isFirst && isOnNccl())
    awaitAborted();
  // NCCL's abort cleans up windows, and releases threads that wait for NCCL.
  const std::lock_guard<std::mutex> lock(handle_);
  if (communicator_ != nullptr)
    mscclc_communicator_detach_nccl(communicator_);
}

/// Waits until the kernels have given up. They end soon, unless they follow a call of NCCL that waits for the abort of
/// the real communicator. So the wait is limited to a second.
void Team::awaitAborted() {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock) // the thread that holds mutex_ may also wait for NCCL
    return;
  const ThreadStateGuard guard;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (Member *const member : members_)
    while (member != nullptr && member->isPending && !isDone(member->done) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
}

/// Returns the failure of the runtime's communicator. The caller holds handle_.
Failure Team::failureOfRuntime() const {
  const int32_t code =
      communicator_ == nullptr || is(State::Ended) ? int32_t{MSCCLC_OK} : mscclc_communicator_health(communicator_);
  return code == MSCCLC_OK ? Failure{}
                           : Failure{code == MSCCLC_ERROR_PEER_LOST ? RemoteError : InternalError, mscclc_last_error()};
}

Failure Team::failure() {
  const std::lock_guard<std::mutex> lock(handle_);
  if (lost_.result != Success)
    return lost_;
  if (Failure found = failureOfRuntime(); found.result != Success)
    return found;
  return is(State::Aborted) ? Failure{InternalError, "the communicator was aborted"} : Failure{};
}

Outcome Team::run(const std::vector<std::pair<Member *, const Call *>> &calls, const Choice &choice) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (is(State::Aborted))
    return {Outcome::Way::Failed, "the communicator was aborted"};
  for (const auto &[member, call] : calls)
    calls_[member->rank - layout_.firstLocal] = call;
  arrived_ += static_cast<uint32_t>(calls.size());
  if (arrived_ == layout_.locals) {
    outcome_ = launchAll(choice);
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return outcome_;
  }
  const uint64_t round = round_;
  while (round_ == round && !is(State::Aborted))
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  return round_ != round ? outcome_ : Outcome{Outcome::Way::Failed, "the communicator was aborted"};
}

/// Launches after all local ranks have made their calls. Other processes make the same decisions.
Outcome Team::launchAll(const Choice &choice) {
  const ThreadStateGuard guard;
  const Shape shape = shapeOfCall(0);
  for (uint32_t i = 0; i < layout_.locals; ++i)
    if (shapeOfCall(i) != shape)
      return {Outcome::Way::PassOn, "the ranks make different calls"};
  if (is(State::New)) {
    const std::string why = makeCommunicator();
    const std::lock_guard<std::mutex> lock(handle_);
    refused_ = why;
    become(why.empty() ? State::Open : State::Refused);
  }
  switch (state_) {
  case State::New:
  case State::Open:
    break;
  case State::Refused:
    return {Outcome::Way::PassOn, refused_};
  case State::Failed:
  case State::Aborted:
    return {Outcome::Way::Failed, "an earlier call failed", failure().result};
  case State::Ended:
    return {Outcome::Way::Failed, "the communicator has ended on another rank",
            std::max<int>(failure().result, InternalError)};
  }
  // An earlier call has lost its result. The error of this call reports that to the program.
  if (mscclc_communicator_health(communicator_) != MSCCLC_OK)
    return fails(std::string("an earlier call failed: ") + mscclc_last_error());
  auto found = instances_.find(choice.kernel);
  if (found == instances_.end())
    found = instances_.emplace(choice.kernel, prepare(*choice.kernel)).first;
  if (!found->second.why.empty())
    return {Outcome::Way::PassOn, found->second.why};
  return launch(found->second, choice);
}

Outcome Team::launch(const Prepared &prepared, const Choice &choice) {
  if (const std::string why = orderAll(); !why.empty())
    return afterFailure(why, true);
  std::vector<void *> streams;
  std::vector<MscclcStaging> staging;
  for (uint32_t i = 0; i < layout_.locals; ++i) {
    streams.push_back(calls_[i]->stream);
    staging.push_back(stagingOf(i));
  }
  MscclcCall call;
  mscclc_call_init(&call);
  call.dtype = choice.dtype;
  call.reduce_op = choice.reduceOp;
  call.message_bytes = choice.message;
  call.streams = streams.data();
  call.staging = staging.data();
  call.pdl = wantsPdl() ? 1 : 0;
  bool isDirect = false;
  if (const std::string why = placeData(prepared, choice, call, isDirect); !why.empty())
    return fails(why);
  if (saysInfo())
    info(describe(shapeOfCall(0)) + (isDirect ? ": on the program's memory" : ": by copies to windows and back"));
  if (const int32_t code = mscclc_launch(prepared.instance, &call); code != MSCCLC_OK) {
    const std::string why = mscclc_last_error();
    mark();
    const bool isWell = mscclc_communicator_health(communicator_) == MSCCLC_OK;
    // The launch was refused before any rank began. That holds on all ranks if all ranks are in this process, or if all
    // ranks have the same reason.
    if (isWell && (layout_.locals == layout_.ranks || isShared(code)))
      return {Outcome::Way::PassOn, why};
    return afterFailure(why, !isDirect || keepsInput());
  }
  if (const std::string why = mark(); !why.empty())
    return fails(why);
  return {Outcome::Way::Ours, ""};
}

/// Sets the buffers of a launch. If all ranks have registered the program's memory together, the launch works on that
/// memory, and `isDirect` becomes true. Otherwise it works on the windows. All processes decide the same, because NCCL
/// demands that programs register memory in the same way on all ranks. Returns the reason if they may have decided
/// differently.
std::string Team::placeData(const Prepared &prepared, const Choice &choice, MscclcCall &call, bool &isDirect) {
  const bool inPlace = (choice.kernel->flags & MSCCLC_IN_PLACE) != 0;
  call.input = inPlace ? prepared.output : prepared.input;
  call.output = prepared.output;
  if (!choice.takesOwnMemory)
    return "";
  const Extent extent = *extentOf(shapeOfCall(0), 0); // the sizes are the same on every rank
  std::vector<const void *> inputs, outputs;
  for (const Call *const one : calls_) {
    const uint64_t own = members_[inputs.size()]->rank * mscclc_input_step(choice.kernel, choice.message);
    const bool meet = buffersMeet(*one, extent);
    if (meet && (!inPlace || one->send != static_cast<const char *>(one->recv) + own))
      return "";
    inputs.push_back(meet ? one->recv : one->send); // an input within the output has a different offset on each rank
    outputs.push_back(one->recv);
  }
  const std::optional<RegisteredData> from = locate(members_, inputs, extent.input),
                                      to = locate(members_, outputs, extent.output);
  if (!from || !to)
    return "";
  MscclcBuffer *output = nullptr, *input = nullptr;
  MSCCLC_TRY(own_.findBuffer(communicator_, members_, *to, output));
  if (!inPlace)
    MSCCLC_TRY(own_.findBuffer(communicator_, members_, *from, input));
  // Windows can use the switch. In spite of the copies, a launch on windows with the switch is faster than a launch on
  // direct memory without it.
  const bool loses = (choice.kernel->flags & MSCCLC_USES_MULTICAST) != 0 &&
                     mscclc_buffer_multicast(prepared.output) != 0 &&
                     (output == nullptr || mscclc_buffer_multicast(output) == 0);
  if (output == nullptr || (!inPlace && input == nullptr) || loses)
    return "";
  isDirect = true;
  call.input = inPlace ? output : input;
  call.input_offset = inPlace ? to->offset : from->offset;
  call.output = output;
  call.output_offset = to->offset;
  return "";
}

/// True if a launch does not overwrite the inputs of the calls.
bool Team::keepsInput() const {
  const Extent extent = *extentOf(shapeOfCall(0), 0);
  return std::none_of(calls_.begin(), calls_.end(), [&](const Call *call) { return buffersMeet(*call, extent); });
}

Shape Team::shapeOfCall(uint32_t localIndex) const {
  return shapeOf(*calls_[localIndex], layout_.ranks, layout_.ranksPerNode);
}

/// Handles a failed launch. None of its results was copied. If all ranks are in this process and no earlier call was
/// lost, resets everything and lets NCCL run the call. Otherwise the call fails, because other processes may have
/// launched it.
Outcome Team::afterFailure(const std::string &why, bool keepsInput) {
  if (!keepsInput || layout_.locals != layout_.ranks || is(State::Aborted) || capturing() || earlierRuns_)
    return fails(why);
  mscclc_communicator_synchronize(communicator_);
  if (mscclc_communicator_reset(communicator_) != MSCCLC_OK) {
    const std::lock_guard<std::mutex> lock(handle_);
    refused_ = why;
    become(State::Refused);
  }
  return {Outcome::Way::PassOn, why};
}

/// Records a permanent failure. It stays until the program aborts the communicator.
Outcome Team::fails(const std::string &why) {
  const std::lock_guard<std::mutex> lock(handle_);
  if (lost_.result == Success)
    lost_ = {std::max<int>(failureOfRuntime().result, InternalError), why};
  become(State::Failed);
  return {Outcome::Way::Failed, why + "; NCCL cannot run it instead: abort the communicator", lost_.result};
}

bool Team::capturing() const {
  for (const Call *call : calls_)
    if (captureOf(call->stream) != 0)
      return true;
  return false;
}

/// Orders a call after the member's last call, on any stream. Stream handles cannot identify the stream of the last
/// call: they are reused, and cudaStreamPerThread is a different stream in each thread.
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
  // Within one graph, an event in the capture orders the streams.
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
  for (uint32_t i = 0; i < layout_.locals; ++i) {
    MSCCLC_CUDA(cudaSetDevice(members_[i]->device));
    MSCCLC_TRY(order(*members_[i], calls_[i]->stream));
  }
  return "";
}

/// Describes the copies to the window and from it, which the kernel itself makes.
MscclcStaging Team::stagingOf(uint32_t localIndex) const {
  const Call &call = *calls_[localIndex];
  const Shape shape = shapeOfCall(localIndex);
  const Extent extent = *extentOf(shape, members_[localIndex]->rank);
  MscclcStaging staging{};
  staging.input = extent.input == 0 ? nullptr : call.send;
  staging.output = extent.output == 0 ? nullptr : call.recv;
  staging.input_bytes = extent.input;
  staging.output_bytes = extent.output;
  staging.keeps_input = layout_.locals == layout_.ranks ? 1 : 0; // NCCL may run the call after a failure
  if (shape.op == Avg) {
    staging.scaling = MSCCLC_AVERAGE;
  } else if (shape.op == PreMulSum) {
    staging.scaling = MSCCLC_SCALE_INPUT;
    staging.factor = call.factor->bits;
    staging.factor_at = call.factor->at;
  }
  return staging;
}

/// Marks the end of this call in the streams. The next call uses the windows only after that.
std::string Team::mark() {
  for (uint32_t i = 0; i < layout_.locals; ++i) {
    Member &member = *members_[i];
    if (captureOf(calls_[i]->stream) != 0)
      continue;
    MSCCLC_CUDA(cudaSetDevice(member.device));
    MSCCLC_CUDA(cudaEventRecord(member.done, calls_[i]->stream));
    member.isPending = true;
  }
  return "";
}

/// Exchanges `why` between all ranks. Returns the first reason of any rank; empty if no rank has one.
std::string Team::agree(const std::string &why) {
  std::string text = why.substr(0, mostToTell - 1);
  text.resize(mostToTell, '\0');
  std::vector<std::string> said(layout_.locals, text);
  if (tellAll(members_, said) != Success)
    return "the ranks could not exchange whether they succeeded";
  for (uint32_t rank = 0; rank < layout_.ranks; ++rank)
    if (const char *const reason = said.front().data() + rank * mostToTell; *reason != '\0')
      return reason;
  return "";
}

std::string Team::makeCommunicator() {
  std::vector<int32_t> devices;
  std::vector<void *> comms;
  for (const Member *member : members_) {
    devices.push_back(member->device);
    comms.push_back(member->comm);
  }
  MscclcCommunicatorOptions options;
  mscclc_communicator_options_init(&options);
  options.ranks = layout_.ranks;
  options.first_local_rank = layout_.firstLocal;
  options.local_ranks = layout_.locals;
  options.devices = devices.data();
  options.platform = MSCCLC_PLATFORM_CUDA;
  options.rendezvous = layout_.meeting.c_str();
  if (isOnNccl()) {
    options.nccl = comms.data();
    options.nccl_library = realLibrary();
  }
  MscclcCommunicator *made = nullptr;
  MSCCLC_TRY(agree("")); // the time limit to connect begins when all are here
  if (std::string why = agree(ofRuntime(mscclc_communicator_create(&options, &made))); !why.empty()) {
    if (is(State::Aborted))
      mscclc_communicator_detach_nccl(made);
    mscclc_communicator_destroy(made);
    return why;
  }
  const std::lock_guard<std::mutex> lock(handle_);
  communicator_ = made;
  if (is(State::Aborted)) { // abort() ran before communicator_ was set
    mscclc_communicator_abort(made, "ncclCommAbort");
    mscclc_communicator_detach_nccl(made);
  }
  return "";
}

/// Returns a window of at least `bytes` bytes, other than `besides`. All processes have the same windows, in the same
/// order.
std::string Team::findWindow(uint64_t bytes, const MscclcBuffer *besides, MscclcBuffer *&window) {
  for (MscclcBuffer *const made : windows_)
    if (made != besides && mscclc_buffer_bytes(made) >= bytes) {
      window = made;
      return "";
    }
  MSCCLC_TRY(agree(ofRuntime(mscclc_buffer_allocate(communicator_, bytes, &window))));
  windows_.push_back(window);
  return "";
}

/// Loads a kernel at its first call, with windows for the largest message for which it is listed. Windows cannot grow
/// at a later call: that call may be captured, and then no rank can wait for the others.
Team::Prepared Team::prepare(const MscclcKernel &kernel) {
  Prepared made;
  const uint64_t message = largestMessage(kernel);
  uint64_t input = 0, output = 0;
  for (uint32_t rank = 0; rank < kernel.ranks; ++rank) {
    input = std::max(input, kernel.input_bytes(rank, message));
    output = std::max(output, kernel.output_bytes(rank, message));
  }
  const bool inPlace = (kernel.flags & MSCCLC_IN_PLACE) != 0;
  const uint64_t most = windowBytes(kernel.ranks); // NCCL runs longer calls
  input = std::min(input, most);
  output = std::min(output, most);
  const size_t before = windows_.size();
  made.why = findWindow(inPlace ? std::max(input, output) : output, nullptr, made.output);
  if (made.why.empty() && !inPlace)
    made.why = findWindow(input, made.output, made.input);
  if (made.why.empty())
    made.why = agree(ofRuntime(mscclc_instance_create(communicator_, &kernel, message, &made.instance)));
  // All processes have the same reason, so all release the windows that no other kernel uses.
  for (; !made.why.empty() && windows_.size() > before; windows_.pop_back())
    mscclc_buffer_release(windows_.back());
  return made;
}

} // namespace mscclc::nccl
