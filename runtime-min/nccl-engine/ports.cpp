#include "ports.h"

#include "kernels/kernel_facts.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mscclc::rt {
namespace {

/// Checks whether the NCCL of the process can make ports for a kernel with this network body.
Status checkBody(const NcclLibrary &library, const std::string &what, const MscclcNetworkBody *body) {
  const std::string running = NcclLibrary::nameOf(library.version);
  if (body == nullptr)
    return failure(MSCCLC_ERROR_UNSUPPORTED,
                   "%s has port channels to other nodes, which go through NCCL's GIN, and was compiled without it; "
                   "compile it with -DMSCCLC_GIN and the headers of NCCL %s",
                   what.c_str(), running.c_str());
  if (body->nccl_version != static_cast<uint32_t>(library.version))
    return failure(MSCCLC_ERROR_UNSUPPORTED,
                   "%s has port channels to other nodes, and was compiled for the GIN of NCCL %s; NCCL %s runs, which "
                   "needs it compiled with its own headers",
                   what.c_str(), NcclLibrary::nameOf(static_cast<int>(body->nccl_version)).c_str(), running.c_str());
  if (library.devCommCreate == nullptr || library.devCommDestroy == nullptr)
    return failure(MSCCLC_ERROR_UNSUPPORTED,
                   "%s has port channels to other nodes, and NCCL %s has no ncclDevCommCreate", what.c_str(),
                   running.c_str());
  return {};
}

/// Returns advice for a user whose NCCL has no GIN.
std::string howToHaveGin() {
  const char *set = std::getenv("NCCL_GIN_TYPE");
  return format("NCCL_GIN_TYPE is %s; 2 is NCCL's proxy, 3 the network card's own way",
                set == nullptr ? "not set" : set);
}

} // namespace

NcclPorts::NcclPorts(NcclEngine &engine, const MscclcKernel &kernel)
    : engine_(engine), kernel_(kernel), ranks_(engine.localRanks()) {
  for (uint32_t rank = 0; rank < kernel_.ranks; ++rank)
    signals_ = std::max<uint32_t>(signals_, static_cast<uint32_t>(channelsOf(kernel_, rank, MSCCLC_PORT).size()));
}

Status NcclPorts::open(NcclEngine &engine, const MscclcKernel &kernel, std::unique_ptr<Ports> &result) {
  // NCCL waits for all ranks, so either all ranks make the call or none.
  const std::string what = format("kernel '%s'", kernel.name);
  std::vector<Message> all;
  MSCCLC_TRY(engine.meeting().agree(what + ": ports", checkBody(engine.nccl().library, what, kernel.network), {}, all));
  std::unique_ptr<NcclPorts> ports(new NcclPorts(engine, kernel));
  Status mine = ports->create(what);
  const uint32_t contexts = mine.ok() ? kernel.network->contexts(ports->ranks_[0].made.data()) : 0;
  if (mine.ok() && contexts == 0)
    mine = failure(MSCCLC_ERROR_UNSUPPORTED, "%s has port channels to other nodes, and NCCL %s has no GIN here (%s)",
                   what.c_str(), NcclLibrary::nameOf(engine.nccl().library.version).c_str(), howToHaveGin().c_str());
  MSCCLC_TRY(engine.meeting().agree(what + ": ports are open", mine, bytesOf(&contexts, 1), all));
  for (const Message &theirs : all)
    if (theirs.bytes != bytesOf(&contexts, 1))
      return failure(MSCCLC_ERROR_UNSUPPORTED, "%s: NCCL's GIN has not %u contexts in all processes", what.c_str(),
                     contexts);
  result = std::move(ports);
  return {};
}

Status NcclPorts::create(const std::string &what) {
  const NcclRanks &nccl = engine_.nccl();
  for (LocalRank &rank : ranks_)
    rank.made.resize((kernel_.network->communicator_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  Status mine = nccl.inGroup(engine_.platform(), "ncclDevCommCreate", [&](size_t i) {
    return kernel_.network->create(nccl.library.devCommCreate, nccl.comms[i], signals_, ranks_[i].made.data());
  });
  open_ = mine.ok();
  if (!mine.ok())
    mine.text = format("%s has port channels to other nodes, and NCCL %s opens no GIN for it: %s (%s)", what.c_str(),
                       NcclLibrary::nameOf(nccl.library.version).c_str(), mine.text.c_str(), howToHaveGin().c_str());
  return mine;
}

NcclPorts::~NcclPorts() {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].settling != nullptr) {
      engine_.removeSettling(ranks_[i].settling);
      engine_.platform().releasePinned(ranks_[i].settling);
    }
    if (open_ && engine_.isAttached())
      static_cast<void>(engine_.nccl().library.devCommDestroy(engine_.nccl().comms[i], ranks_[i].made.data()));
  }
}

Status NcclPorts::add(uint32_t localIndex, const PortRank &ports) {
  LocalRank &rank = ranks_[localIndex];
  void *memory = nullptr;
  MSCCLC_TRY(engine_.platform().allocatePinned(sizeof(MscclcStatus), memory));
  rank.settling = static_cast<MscclcStatus *>(memory);
  engine_.addSettling(rank.settling);
  rank.unpaired = unpairedTo(engine_.nccl().first + localIndex);
  rank.ports = ports;
  return {};
}

uint32_t NcclPorts::unpairedTo(uint32_t self) const {
  const size_t own = channelsOf(kernel_, self, MSCCLC_PORT).size();
  uint32_t ends = 0;
  for (uint32_t rank = 0; rank < kernel_.ranks; ++rank)
    if (!engine_.isNear(rank))
      for (const MscclcChannelInfo &channel : channelsOf(kernel_, rank, MSCCLC_PORT))
        ends += channel.peer == self && channel.peer_channel >= own ? 1 : 0;
  return ends;
}

Status NcclPorts::start(MscclcSettleStep step, uint64_t sent, std::chrono::nanoseconds time) {
  const NcclRanks &nccl = engine_.nccl();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const LocalRank &rank = ranks_[i];
    MscclcRankArgs args{};
    args.rank = nccl.first + static_cast<uint32_t>(i);
    args.network = rank.made.data();
    args.status = rank.settling;
    args.timeout_ns = static_cast<uint64_t>(time.count());
    args.port_channels = rank.ports.channels;
    const auto channels = static_cast<uint32_t>(rank.ports.ends.size());
    const MscclcSettling settling{step, signals_, channels, rank.unpaired, sent, settlings_};
    MSCCLC_TRY(engine_.platform().use(nccl.devices[i]));
    if (const int32_t code = kernel_.network->settle(&args, &settling, rank.ports.stream); code != MSCCLC_OK)
      return kernelFailure(code, kernel_.name, args.rank);
  }
  return {};
}

Status NcclPorts::finish() {
  for (size_t i = 0; i < ranks_.size(); ++i)
    MSCCLC_TRY(engine_.platform().synchronize(engine_.nccl().devices[i], ranks_[i].ports.stream));
  return {};
}

Status NcclPorts::reset() {
  MSCCLC_TRY(start(MSCCLC_SETTLE_CLEAR, settlings_));
  return finish();
}

void NcclPorts::beginSettling() {
  for (const LocalRank &rank : ranks_)
    *rank.settling = {};
}

/// A process that has missed earlier settlings sends their signals now.
Status NcclPorts::sendSettling() {
  std::vector<Message> all;
  MSCCLC_TRY(engine_.meeting().exchange(format("kernel '%s': settling", kernel_.name), bytesOf(&settlings_, 1), all));
  uint64_t round = 0;
  for (const auto &[bytes, ignored] : all) {
    uint64_t theirs = 0;
    std::memcpy(&theirs, bytes.data(), std::min(bytes.size(), sizeof(theirs)));
    round = std::max(round, theirs + 1);
  }
  // If the start fails, some ends have sent signals and others have not. The peers then report the missing signals.
  return start(MSCCLC_SETTLE_SEND, std::exchange(settlings_, round));
}

Status NcclPorts::awaitSettling(std::chrono::steady_clock::time_point deadline) {
  const std::chrono::nanoseconds left = deadline - std::chrono::steady_clock::now();
  MSCCLC_TRY(start(MSCCLC_SETTLE_AWAIT, settlings_, std::max(left, std::chrono::nanoseconds(1))));
  MSCCLC_TRY(finish());
  return result();
}

Status NcclPorts::result() const {
  for (const LocalRank &rank : ranks_) {
    if (__atomic_load_n(&rank.settling->abort, __ATOMIC_ACQUIRE) == 0)
      continue;
    if (rank.settling->num_stalls == 0 || rank.settling->stalls[0].aborted != 0)
      return failure(MSCCLC_ERROR_ABORTED,
                     "kernel '%s': the reset was aborted while it waited for what is on its way over the network",
                     kernel_.name);
    const MscclcStall &stall = rank.settling->stalls[0];
    const std::string late = format("kernel '%s': what ", kernel_.name);
    const char *const limit = "in half the time of a set-up";
    if (stall.kind == MSCCLC_WAIT_FLUSH)
      return failure(MSCCLC_ERROR_TIMEOUT,
                     "%srank %u has sent to rank %u over the network has not left it %s (port channel %llu of rank %u)",
                     late.c_str(), stall.rank, stall.peer, limit, wide(stall.index), stall.rank);
    if (stall.peer == MSCCLC_UNPAIRED)
      return failure(MSCCLC_ERROR_TIMEOUT,
                     "%sother nodes have sent to rank %u over the network has not arrived %s (by port channels that it "
                     "has no end of)",
                     late.c_str(), stall.rank, limit);
    return failure(MSCCLC_ERROR_TIMEOUT,
                   "%srank %u has sent to rank %u over the network has not arrived %s (port channel %llu of rank %u)",
                   late.c_str(), stall.peer, stall.rank, limit, wide(stall.index), stall.rank);
  }
  return {};
}

} // namespace mscclc::rt
