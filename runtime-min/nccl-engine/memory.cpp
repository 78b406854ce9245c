#include "memory.h"

#include <algorithm>
#include <cstring>

namespace mscclc::rt {
namespace {

/// A limit in bytes. No memory is so large, and the limit is small enough to be rounded up.
constexpr uint64_t largestMemory = uint64_t{1} << 56;

uint64_t wholePages(uint64_t bytes) {
  return (bytes + ncclWindowAlignment - 1) / ncclWindowAlignment * ncclWindowAlignment;
}

} // namespace

Status NcclMemory::allocate(const std::string &what, bool multicast) {
  owned_ = true;
  Status mine;
  const NcclRanks &nccl = engine_.nccl();
  for (uint32_t i = 0; i < engine_.localRanks() && bytes() != 0 && mine.ok(); ++i) {
    void *memory = nullptr;
    mine = engine_.platform().use(nccl.devices[i]);
    // NCCL only reports that it failed, so every failure is taken for a lack of memory.
    if (mine.ok() && (bytes() > largestMemory || nccl.library.memAlloc(&memory, wholePages(bytes())) != 0))
      mine = failure(MSCCLC_ERROR_MEMORY, "%s: ncclMemAlloc of %llu bytes failed", what.c_str(), wide(bytes()));
    if (mine.ok())
      local_.push_back(memory);
    if (mine.ok())
      mine = engine_.platform().clear(nccl.devices[i], memory, wholePages(bytes()));
  }
  MSCCLC_TRY(connect(what, std::move(mine)));
  return multicast && bytes() != 0 ? findMulticast() : Status{};
}

Status NcclMemory::adopt(const std::string &what, void *const *pointers) {
  Status mine;
  for (uint32_t i = 0; i < engine_.localRanks() && bytes() != 0; ++i) {
    if (pointers[i] == nullptr && mine.ok())
      mine = failure(MSCCLC_ERROR_ARGUMENT, "%s: no memory for rank %u", what.c_str(), engine_.nccl().first + i);
    local_.push_back(pointers[i]);
  }
  return connect(what, std::move(mine));
}

uint64_t NcclMemory::withinPage(uint32_t localIndex) const {
  return reinterpret_cast<uintptr_t>(local_[localIndex]) % ncclWindowAlignment;
}

/// Registers windows after all processes have reported that they have memory, because NCCL waits for all ranks.
Status NcclMemory::connect(const std::string &what, Status mine) {
  std::vector<uint64_t> within; // withinPage() of each local rank
  for (uint32_t i = 0; i < local_.size() && mine.ok(); ++i)
    within.push_back(withinPage(i));
  std::vector<Message> all;
  MSCCLC_TRY(engine_.meeting().agree(what, mine, bytesOf(within.data(), within.size()), all));
  for (const auto &[said, ignored] : all) {
    const size_t first = offsets_.size();
    offsets_.resize(first + said.size() / sizeof(uint64_t));
    std::copy(said.begin(), said.end(), reinterpret_cast<uint8_t *>(&offsets_[first]));
  }
  if (bytes() != 0 && offsets_.size() != engine_.nccl().ranks)
    return failure(MSCCLC_ERROR_RENDEZVOUS, "%s: only %zu of %u ranks have memory", what.c_str(), offsets_.size(),
                   engine_.nccl().ranks);
  return bytes() == 0 ? Status{} : registerWindows(what);
}

Status NcclMemory::registerWindows(const std::string &what) {
  const NcclRanks &nccl = engine_.nccl();
  // A window has the same length on every rank.
  const uint64_t longest = *std::max_element(offsets_.begin(), offsets_.end()) + bytes();
  windows_.assign(local_.size(), nullptr);
  Status mine = nccl.inGroup(engine_.platform(), "ncclCommWindowRegister", [&](size_t i) {
    char *const begin = static_cast<char *>(local_[i]) - withinPage(static_cast<uint32_t>(i));
    return nccl.library.commWindowRegister(nccl.comms[i], begin, longest, &windows_[i], ncclSymmetricWindow);
  });
  for (uint32_t i = 0; i < local_.size() && mine.ok(); ++i) {
    if (windows_[i] == nullptr)
      mine = failure(MSCCLC_ERROR_UNSUPPORTED,
                     "%s: NCCL makes no window of the memory of rank %u; it must come from ncclMemAlloc or "
                     "mscclc_buffer_allocate, on a machine where NCCL has symmetric memory",
                     what.c_str(), nccl.first + i);
    else
      mine = findPeers(i);
    if (mine.ok())
      mine = writeBegins(i);
  }
  // Windows are used only if all processes have them.
  std::vector<Message> all;
  return engine_.meeting().agree(what + ": windows", mine, {}, all);
}

Status NcclMemory::findPeers(uint32_t localIndex) {
  const NcclRanks &nccl = engine_.nccl();
  const NcclLibrary &library = nccl.library;
  NcclWindowHead head{};
  if (library.getPeerDevicePointer == nullptr)
    MSCCLC_TRY(engine_.platform().copy(nccl.devices[localIndex], &head, windows_[localIndex], sizeof(head)));
  for (uint32_t member = 0; member < nccl.team.count; ++member) {
    const uint32_t rank = nccl.team.first + member;
    void *begin = head.teamBase + (uint64_t{member} * head.stride4G << 32);
    if (library.getPeerDevicePointer != nullptr)
      MSCCLC_TRY(library.finish("ncclGetPeerDevicePointer", nullptr,
                                library.getPeerDevicePointer(windows_[localIndex], 0, static_cast<int>(rank), &begin)));
    peers_.push_back(begin == nullptr ? nullptr : static_cast<char *>(begin) + offsets_[rank]);
  }
  return {};
}

Status NcclMemory::writeBegins(uint32_t localIndex) {
  const NcclRanks &nccl = engine_.nccl();
  if (nccl.team.count == nccl.ranks || *std::max_element(offsets_.begin(), offsets_.end()) == 0)
    return {};
  const uint64_t bytes = offsets_.size() * sizeof(uint64_t);
  void *memory = nullptr;
  MSCCLC_TRY(engine_.platform().allocate(nccl.devices[localIndex], bytes, MemoryKind::Plain, {}, memory));
  begins_.push_back(static_cast<uint64_t *>(memory));
  return engine_.platform().copy(nccl.devices[localIndex], memory, offsets_.data(), bytes);
}

/// Finds multicast addresses. One offset from such an address applies to all ranks, and all ranks must be in the team.
/// NCCL's first query about a team waits for all its ranks, so one thread cannot make it for several ranks. So
/// multicast is used only if every process has exactly one rank.
Status NcclMemory::findMulticast() {
  const NcclRanks &nccl = engine_.nccl();
  if (nccl.library.getLsaMultimemDevicePointer == nullptr || nccl.team.count != nccl.ranks ||
      engine_.meeting().processes().size() != nccl.ranks)
    return {};
  for (NcclWindow window : windows_) {
    void *address = nullptr;
    MSCCLC_TRY(nccl.library.finish("ncclGetLsaMultimemDevicePointer", nullptr,
                                   nccl.library.getLsaMultimemDevicePointer(window, 0, &address)));
    multicast_.push_back(address);
  }
  return {};
}

void *NcclMemory::address(uint32_t localIndex, uint32_t rank) const {
  const NcclRanks &nccl = engine_.nccl();
  if (rank == nccl.first + localIndex)
    return local_[localIndex];
  const uint32_t member = rank - nccl.team.first;
  return member < nccl.team.count ? peers_[localIndex * nccl.team.count + member] : nullptr;
}

void *NcclMemory::multicast(uint32_t localIndex) const {
  return multicast_.empty() ? nullptr : multicast_[localIndex];
}

Window NcclMemory::window(uint32_t localIndex) const {
  return {windows_.empty() ? nullptr : windows_[localIndex], begins_.empty() ? nullptr : begins_[localIndex]};
}

void NcclMemory::disconnect() {
  for (size_t i = 0; i < windows_.size() && engine_.isAttached(); ++i)
    if (windows_[i] != nullptr)
      static_cast<void>(engine_.nccl().library.commWindowDeregister(engine_.nccl().comms[i], windows_[i]));
  windows_.clear();
}

NcclMemory::~NcclMemory() {
  disconnect();
  for (size_t i = 0; i < begins_.size(); ++i)
    engine_.platform().release(engine_.nccl().devices[i], begins_[i]);
  for (size_t i = 0; i < local_.size() && owned_; ++i)
    static_cast<void>(engine_.nccl().library.memFree(local_[i]));
}

} // namespace mscclc::rt
