#include "ports.h"

#include <cstdlib>

namespace mscclc::rt {
namespace {

/// Whether NCCL can be asked for ports of this body at all.
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
                   "wants it compiled with its own headers",
                   what.c_str(), NcclLibrary::nameOf(static_cast<int>(body->nccl_version)).c_str(), running.c_str());
  if (library.devCommCreate == nullptr || library.devCommDestroy == nullptr)
    return failure(MSCCLC_ERROR_UNSUPPORTED,
                   "%s has port channels to other nodes, and NCCL %s has no ncclDevCommCreate", what.c_str(),
                   running.c_str());
  return {};
}

/// What a user can change where NCCL has no GIN.
std::string howToHaveGin() {
  const char *set = std::getenv("NCCL_GIN_TYPE");
  return format("NCCL_GIN_TYPE is %s; 2 is NCCL's proxy, 3 the network card's own way",
                set == nullptr ? "not set" : set);
}

/// The same on all processes, or a failure on all.
Status agree(NcclEngine &engine, const std::string &what, const Status &mine, uint32_t contexts) {
  const uint32_t words[] = {static_cast<uint32_t>(mine.code), contexts};
  std::vector<Bytes> all;
  MSCCLC_TRY(engine.meeting().exchange(what, bytesOf(words, 2), all));
  MSCCLC_TRY(mine);
  for (const Bytes &theirs : all)
    if (theirs != bytesOf(words, 2))
      return failure(MSCCLC_ERROR_UNSUPPORTED,
                     "%s: NCCL's GIN is not the same in all processes: another one failed, or has not %u contexts",
                     what.c_str(), contexts);
  return {};
}

} // namespace

Status NcclPorts::open(NcclEngine &engine, const std::string &what, const MscclcNetworkBody *body, uint32_t signals,
                       std::unique_ptr<Ports> &result) {
  // NCCL waits for all ranks, so all must come.
  MSCCLC_TRY(agree(engine, what + ": ports", checkBody(engine.nccl().library, what, body), 0));
  std::unique_ptr<NcclPorts> ports(new NcclPorts(engine));
  Status mine = ports->create(what, *body, signals);
  const uint32_t contexts = mine.ok() ? body->contexts(ports->communicator(0)) : 0;
  if (mine.ok() && contexts == 0)
    mine = failure(MSCCLC_ERROR_UNSUPPORTED, "%s has port channels to other nodes, and NCCL %s has no GIN here (%s)",
                   what.c_str(), NcclLibrary::nameOf(engine.nccl().library.version).c_str(), howToHaveGin().c_str());
  MSCCLC_TRY(agree(engine, what + ": ports are open", mine, contexts));
  result = std::move(ports);
  return {};
}

Status NcclPorts::create(const std::string &what, const MscclcNetworkBody &body, uint32_t signals) {
  const NcclRanks &nccl = engine_.nccl();
  const size_t words = (body.communicator_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  made_.assign(nccl.comms.size(), std::vector<uint64_t>(words));
  Status mine = nccl.inGroup(engine_.platform(), "ncclDevCommCreate", [&](size_t i) {
    return body.create(nccl.library.devCommCreate, nccl.comms[i], signals, made_[i].data());
  });
  open_ = mine.ok();
  if (!mine.ok())
    mine.text = format("%s has port channels to other nodes, and NCCL %s opens no GIN for it: %s (%s)", what.c_str(),
                       NcclLibrary::nameOf(nccl.library.version).c_str(), mine.text.c_str(), howToHaveGin().c_str());
  return mine;
}

NcclPorts::~NcclPorts() {
  for (size_t i = 0; i < made_.size() && open_ && engine_.isAttached(); ++i)
    static_cast<void>(engine_.nccl().library.devCommDestroy(engine_.nccl().comms[i], made_[i].data()));
}

} // namespace mscclc::rt
