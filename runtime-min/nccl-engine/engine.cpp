#include "engine.h"

#include "gather.h"
#include "memory.h"
#include "own_address.h"
#include "ports.h"

#include <algorithm>

namespace mscclc::rt {

Status NcclRanks::read(void *library, void *const *comms, uint32_t count, NcclRanks &result) {
  MSCCLC_TRY(NcclLibrary::open(library, result.library));
  const NcclLibrary &nccl = result.library;
  for (uint32_t i = 0; i < count; ++i) {
    if (comms[i] == nullptr)
      return failure(MSCCLC_ERROR_ARGUMENT, "no NCCL communicator for local rank %u", i);
    int ranks = 0, rank = 0, device = 0;
    MSCCLC_TRY(nccl.finish("ncclCommCount", comms[i], nccl.commCount(comms[i], &ranks)));
    MSCCLC_TRY(nccl.finish("ncclCommUserRank", comms[i], nccl.commUserRank(comms[i], &rank)));
    MSCCLC_TRY(nccl.finish("ncclCommCuDevice", comms[i], nccl.commCuDevice(comms[i], &device)));
    const NcclTeam team = nccl.teamLsa(comms[i]);
    const auto teamFirst = static_cast<uint32_t>(rank - team.rank * team.stride);
    if (i == 0) {
      result.ranks = static_cast<uint32_t>(ranks);
      result.first = static_cast<uint32_t>(rank);
      result.team = {result.first, 1};
      if (team.stride == 1)
        result.team = {teamFirst, static_cast<uint32_t>(team.ranks)};
    } else if (static_cast<uint32_t>(ranks) != result.ranks || static_cast<uint32_t>(rank) != result.first + i ||
               (team.stride == 1 && teamFirst != result.team.first)) {
      return failure(MSCCLC_ERROR_ARGUMENT,
                     "NCCL communicator %u is of rank %d of %d, but it must be of rank %u of %u, on the same node", i,
                     rank, ranks, result.first + i, result.ranks);
    }
    result.comms.push_back(comms[i]);
    result.devices.push_back(device);
  }
  return {};
}

Status NcclRanks::inGroup(Platform &platform, const char *what, const std::function<int(size_t)> &call) const {
  MSCCLC_TRY(library.finish("ncclGroupStart", nullptr, library.groupStart()));
  Status status;
  for (size_t i = 0; i < comms.size() && status.ok(); ++i) {
    status = platform.use(devices[i]);
    if (status.ok())
      status = library.join(what, call(i));
  }
  if (Status ended = library.finishGroup(comms, library.groupEnd()); status.ok())
    status = std::move(ended);
  return status;
}

void NcclEngine::place(MscclcCommunicatorOptions &options) const {
  options.ranks = nccl_.ranks;
  options.first_local_rank = nccl_.first;
  options.local_ranks = localRanks();
  options.devices = nccl_.devices.data();
}

Status NcclEngine::meet(Platform &platform, const Site &, MeetingOptions options) {
  platform_ = &platform;
  nccl_.library.patience = options.timeout;
  NcclGather gather(platform, nccl_);
  MSCCLC_TRY(gather.prepare());
  // NCCL exchanges data between ranks, so each rank takes part in the exchange as if it were a process.
  options.allgather = {NcclGather::call, &gather, nccl_.first, nccl_.ranks};
  options.onNetwork = ownAddress;
  const Status met = Meeting::join(std::move(options), meeting_);
  return gather.status().ok() ? met : gather.status();
}

std::unique_ptr<Memory> NcclEngine::memory(uint64_t bytes) {
  return std::make_unique<NcclMemory>(*this, bytes);
}

Status NcclEngine::openPorts(const MscclcKernel &kernel, bool wanted, std::unique_ptr<Ports> &ports) {
  std::vector<Message> all;
  MSCCLC_TRY(meeting().exchange(format("kernel '%s': other nodes", kernel.name), Bytes(1, wanted ? 1 : 0), all));
  const bool anywhere =
      std::any_of(all.begin(), all.end(), [](const Message &theirs) { return theirs.bytes == Bytes{1}; });
  return anywhere ? NcclPorts::open(*this, kernel, ports) : Status{};
}

void NcclEngine::addSettling(MscclcStatus *status) {
  const std::lock_guard<std::mutex> lock(givingUp_);
  settling_.push_back(status);
}

void NcclEngine::removeSettling(MscclcStatus *status) {
  const std::lock_guard<std::mutex> lock(givingUp_);
  settling_.erase(std::remove(settling_.begin(), settling_.end(), status), settling_.end());
}

void NcclEngine::giveUp() {
  const std::lock_guard<std::mutex> lock(givingUp_);
  for (MscclcStatus *const status : settling_)
    __atomic_store_n(&status->abort, 1u, __ATOMIC_RELEASE);
}

void NcclEngine::detach() {
  const std::lock_guard<std::mutex> lock(asking_);
  attached_ = false;
}

Status NcclEngine::health() {
  const std::lock_guard<std::mutex> lock(asking_);
  if (!attached_)
    return {};
  for (NcclComm comm : nccl_.comms) {
    int error = 0;
    const int asked = nccl_.library.commGetAsyncError(comm, &error);
    if (asked != 0 || (error != 0 && error != ncclInProgressResult))
      return failure(MSCCLC_ERROR_NCCL, "NCCL: %s", nccl_.library.getErrorString(asked != 0 ? asked : error));
  }
  return {};
}

namespace {

[[maybe_unused]] const bool isKnown = [] {
  createNcclEngine = [](const MscclcCommunicatorOptions &options, std::unique_ptr<Engine> &engine) {
    NcclRanks nccl;
    MSCCLC_TRY(NcclRanks::read(options.nccl_library, options.nccl, std::max(options.local_ranks, 1u), nccl));
    engine = std::make_unique<NcclEngine>(std::move(nccl));
    return Status{};
  };
  return true;
}();

} // namespace

} // namespace mscclc::rt
