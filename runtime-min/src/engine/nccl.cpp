#include "engine/nccl.h"

#include "engine/nccl_gather.h"
#include "engine/nccl_ports.h"

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
      result.teamFirst = team.stride == 1 ? teamFirst : result.first;
      result.teamRanks = team.stride == 1 ? static_cast<uint32_t>(team.ranks) : 1;
    } else if (static_cast<uint32_t>(ranks) != result.ranks || static_cast<uint32_t>(rank) != result.first + i ||
               (team.stride == 1 && teamFirst != result.teamFirst)) {
      return failure(MSCCLC_ERROR_ARGUMENT,
                     "NCCL communicator %u is of rank %d of %d; wanted is rank %u of %u, of the same node", i, rank,
                     ranks, result.first + i, result.ranks);
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

NcclEngine::NcclEngine(Setup setup) : EngineTable("nccl"), setup_(std::move(setup)) {
  open_ports = [](MscclcEngine *engine, const char *what, const MscclcNetworkBody *body, uint32_t signals,
                  MscclcPorts **ports) {
    std::unique_ptr<NcclPorts> made;
    const Status status = NcclPorts::open(*static_cast<NcclEngine *>(engine), what, body, signals, made);
    *ports = made.release();
    return report(status);
  };
  port_communicator = [](const MscclcPorts *ports, uint32_t localIndex) {
    return static_cast<const NcclPorts *>(ports)->communicator(localIndex);
  };
  close_ports = [](MscclcPorts *ports) { delete static_cast<NcclPorts *>(ports); };
  window = [](const MscclcMemory *memory, uint32_t localIndex, MscclcWindow *found) {
    *found = static_cast<const NcclMemory *>(memory)->window(localIndex);
  };
}

Status NcclEngine::create(Setup setup, MscclcEngine *&engine) {
  std::unique_ptr<NcclEngine> made(new NcclEngine(std::move(setup)));
  MSCCLC_TRY(made->meet());
  engine = made.release();
  return {};
}

Status NcclEngine::meet() {
  setup_.nccl.library.patience = setup_.timeout;
  NcclGather gather(setup_.platform, setup_.nccl);
  MSCCLC_TRY(gather.prepare());
  Rendezvous::Options meeting;
  // NCCL counts ranks, so each rank is a process to the exchange.
  meeting.allgather = {NcclGather::call, &gather, setup_.nccl.first, setup_.nccl.ranks};
  meeting.ranks = setup_.nccl.ranks;
  meeting.firstRank = setup_.nccl.first;
  meeting.localRanks = localRanks();
  meeting.timeout = setup_.timeout;
  meeting.mayBeApart = true;
  const Status met = Rendezvous::join(meeting, {setup_.failed}, rendezvous_);
  return gather.status().ok() ? met : gather.status();
}

MscclcShape NcclEngine::shape() const {
  const NcclRanks &nccl = setup_.nccl;
  return {nccl.ranks,     nccl.first,    localRanks(), static_cast<uint32_t>(rendezvous_->processes().size()),
          nccl.teamFirst, nccl.teamRanks};
}

Status NcclEngine::exchange(const std::string &what, Bytes mine, std::vector<Bytes> &all) {
  return rendezvous_->exchangeBytes(what, std::move(mine), all);
}

Status NcclEngine::allocate(const std::string &what, uint64_t bytes, bool multicast,
                            std::unique_ptr<NcclMemory> &memory) {
  return NcclMemory::allocate(*this, what, bytes, multicast, memory);
}

Status NcclEngine::adopt(const std::string &what, void *const *pointers, uint64_t bytes,
                         std::unique_ptr<NcclMemory> &memory) {
  return NcclMemory::adopt(*this, what, pointers, bytes, memory);
}

void NcclEngine::detach() {
  const std::lock_guard<std::mutex> lock(asking_);
  attached_ = false;
}

Status NcclEngine::health() const {
  const std::lock_guard<std::mutex> lock(asking_);
  if (!attached_)
    return {};
  for (NcclComm comm : setup_.nccl.comms) {
    int error = 0;
    const int asked = setup_.nccl.library.commGetAsyncError(comm, &error);
    if (asked != 0 || (error != 0 && error != ncclInProgressResult))
      return failure(MSCCLC_ERROR_NCCL, "NCCL: %s", setup_.nccl.library.getErrorString(asked != 0 ? asked : error));
  }
  return {};
}

} // namespace mscclc::rt
