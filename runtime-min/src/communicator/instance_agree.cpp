// The agreement of a communicator's processes when they load a kernel, and the check that its blocks are resident at
// once.
#include "communicator/instance.h"
#include "kernels/kernel_facts.h"

#include <algorithm>
#include <cstring>

namespace mscclc::rt {
namespace {

/// Returns the properties that must be the same in every process.
std::string identityOf(const MscclcKernel &kernel, uint64_t maxMessageBytes, uint64_t maxRowBytes) {
  return rt::identityOf(kernel) + format("%llu %llu", wide(maxMessageBytes), wide(maxRowBytes));
}

/// A limit in bytes. No memory is so large, and the limit is small enough to be multiplied.
constexpr uint64_t largestMessage = uint64_t{1} << 48;

} // namespace

/// Checks whether this process can load the kernel. Counts the threads that a block of each variant may have, so that
/// all processes refuse the same launches. This also loads the code of all variants. A launch must not do so, because
/// CUDA may wait for running kernels when it loads code, and these may wait for the launch.
Status Instance::examine(uint64_t maxRowBytes) {
  MSCCLC_TRY(checkDescription(&kernel_));
  MSCCLC_TRY(checkPlatform(kernel_, communicator_.platform().kind()));
  if (kernel_.ranks != communicator_.ranks())
    return failure(MSCCLC_ERROR_KERNEL, "kernel '%s' is for %u ranks, the communicator has %u", kernel_.name,
                   kernel_.ranks, communicator_.ranks());
  if ((kernel_.flags & MSCCLC_TAKES_ROWS) != 0 && maxRowBytes == 0)
    return failure(MSCCLC_ERROR_ROWS, "kernel '%s' takes rows: say how long they are at most", kernel_.name);
  for (uint32_t rank = 0; rank < kernel_.ranks; ++rank) {
    MscclcRankInfo info{};
    kernel_.rank_info(rank, &info);
    infos_.push_back(info);
  }
  private_ = {isPrivate(kernel_, MSCCLC_INPUT), isPrivate(kernel_, MSCCLC_OUTPUT)};
  MSCCLC_TRY(checkReach());
  mostThreads_.resize(kernel_.num_variants);
  for (uint32_t i = 0; i < kernel_.num_variants; ++i)
    MSCCLC_TRY(countThreads(kernel_.variants[i], mostThreads_[i]));
  return {};
}

/// Finds the most threads that fit, by bisection: if a number of threads fits, each smaller one does, too.
Status Instance::countThreads(const MscclcVariant &variant, uint32_t &result) {
  uint32_t most = 0, tooMany = kernel_.threads + 1;
  for (uint32_t tried = kernel_.threads; most + 1 < tooMany; tried = most + (tooMany - most) / 2) {
    const Status counted = countResidents(variant, tried);
    if (!counted.ok() && counted.code != MSCCLC_ERROR_NOT_RESIDENT)
      return counted;
    (counted.ok() ? most : tooMany) = tried;
  }
  result = most;
  return {};
}

/// Agrees with the other processes whether all can load the kernel; if one cannot, none loads it. `examined`: the
/// result in this process.
Status Instance::agree(const Status &examined, uint64_t maxMessageBytes, uint64_t maxRowBytes) {
  Bytes mine;
  if (examined.ok()) {
    maxMessageBytes_ = std::min({maxMessageBytes, kernel_.max_message_bytes, largestMessage});
    maxRowBytes_ = (kernel_.flags & MSCCLC_TAKES_ROWS) != 0 ? std::min(maxRowBytes, largestMessage) : 0;
    const std::string identity = identityOf(kernel_, maxMessageBytes_, maxRowBytes_);
    mine = bytesOf(mostThreads_.data(), mostThreads_.size());
    mine.insert(mine.end(), identity.begin(), identity.end());
  }
  // The name of an invalid description cannot be read.
  const std::string what = checkDescription(&kernel_).ok() ? format("load kernel '%s'", kernel_.name) : "load a kernel";
  std::vector<Message> all;
  MSCCLC_TRY(communicator_.meeting().agree(what, examined, mine, all));
  const auto counts = static_cast<std::ptrdiff_t>(mostThreads_.size() * sizeof(uint32_t));
  for (const auto &[theirs, ignored] : all) {
    if (theirs.size() != mine.size() || !std::equal(mine.begin() + counts, mine.end(), theirs.begin() + counts))
      return failure(MSCCLC_ERROR_RENDEZVOUS,
                     "kernel '%s' differs between the processes (tool, source, switches, text, forms, largest message "
                     "or longest row)",
                     kernel_.name);
    for (size_t i = 0; i < mostThreads_.size(); ++i) {
      uint32_t most = 0;
      std::memcpy(&most, theirs.data() + i * sizeof(most), sizeof(most));
      mostThreads_[i] = std::min(mostThreads_[i], most);
    }
  }
  return {};
}

Status Instance::checkResidency(const MscclcVariant &variant, uint32_t threads) {
  const uint32_t most = mostThreads_[static_cast<size_t>(&variant - kernel_.variants)];
  if (threads <= most)
    return {};
  if (communicator_.processes() == 1)
    return countResidents(variant, threads); // the failure says how many blocks fit
  return failure(MSCCLC_ERROR_NOT_RESIDENT,
                 "kernel '%s': the blocks of %u threads of all ranks on a device wait for each other, and with "
                 "more than %u threads they do not all fit on it at once; use fewer blocks, fewer threads a "
                 "block or more devices",
                 kernel_.name, threads, most);
}

/// Checks that the blocks of all ranks of a device can be resident at the same time, because these ranks wait for each
/// other. Reserves room for the copies of their port channels.
Status Instance::countResidents(const MscclcVariant &variant, uint32_t threads) {
  for (uint32_t i = 0; i < communicator_.localRanks(); ++i) {
    const uint32_t self = communicator_.firstLocalRank() + i;
    uint64_t wanted = 0;
    uint32_t sharing = 0, room = 0;
    for (uint32_t rank = 0; rank < kernel_.ranks; ++rank)
      if (communicator_.deviceId(rank) == communicator_.deviceId(self)) {
        wanted += infos_[rank].blocks;
        ++sharing;
      }
    MSCCLC_TRY(communicator_.platform().use(communicator_.device(i)));
    if (const int32_t code = variant.resident_blocks(threads, &room); code != MSCCLC_OK)
      return kernelFailure(code, kernel_.name, self);
    if (room != MSCCLC_ON_HOST && sharing > 1 && (kernel_.flags & MSCCLC_NEEDS_PORT) != 0) {
      DeviceFacts facts;
      MSCCLC_TRY(communicator_.platform().examine(communicator_.device(i), facts));
      room -= room / facts.processors;
    }
    if (room != MSCCLC_ON_HOST && wanted > room)
      return failure(MSCCLC_ERROR_NOT_RESIDENT,
                     "kernel '%s': the %llu blocks of %u threads of the %u ranks on device %d wait for each other, and "
                     "%u fit on it at once; use fewer blocks, fewer threads a block or more devices",
                     kernel_.name, wide(wanted), threads, sharing, communicator_.device(i), room);
  }
  return {};
}

} // namespace mscclc::rt
