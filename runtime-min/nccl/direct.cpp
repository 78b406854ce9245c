#include "direct.h"

#include "log.h"

#include <algorithm>
#include <cstring>

namespace mscclc::nccl {
namespace {

/// The most memories that a team remembers: one bit of a word for each.
constexpr size_t mostKnown = 64;

} // namespace

std::optional<RegisteredData> locate(const std::vector<Member *> &members, const std::vector<const void *> &pointers,
                                     uint64_t bytes) {
  const bool ofAllRanks = members.size() != members.front()->ranks;
  RegisteredData data;
  uint64_t window = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const std::optional<Registered> found = findRegistered(members[i]->comm, pointers[i], bytes, ofAllRanks);
    if (!found)
      return std::nullopt;
    const auto offset = static_cast<uint64_t>(static_cast<const char *>(pointers[i]) - found->begin);
    if (i == 0) {
      data.offset = offset;
      data.bytes = found->bytes;
      window = found->window;
    } else if (offset != data.offset || (ofAllRanks && found->window != window)) {
      return std::nullopt;
    }
    data.bytes = std::min(data.bytes, found->bytes);
    data.ids.push_back(found->id);
    data.begins.push_back(found->begin);
  }
  return data;
}

std::optional<bool> worksInPlace(const Call &call, const Shape &shape, const Member &member) {
  const std::optional<Extent> extent = extentOf(shape, member.rank);
  if (!extent || hasRoot(call.kind) || !findRegistered(call.comm, call.send, extent->input, true) ||
      !findRegistered(call.comm, call.recv, extent->output, true))
    return std::nullopt;
  return buffersMeet(call, *extent);
}

std::string OwnMemory::findBuffer(MscclcCommunicator *communicator, const std::vector<Member *> &members,
                                  const RegisteredData &data, MscclcBuffer *&buffer) {
  buffer = nullptr;
  const auto before =
      std::find_if(known_.begin(), known_.end(), [&](const Known &known) { return known.ids == data.ids; });
  if (before != known_.end())
    buffer = before->buffer;
  // Another query to the other processes would cost more time than it saves.
  const bool isApart = members.size() != members.front()->ranks;
  if (before != known_.end() || (isApart && refused_.count(data.ids) != 0))
    return "";
  if (!sweep(members))
    return "the ranks could not exchange which registered memory is gone";
  if (known_.size() == mostKnown) {
    // The ids of memory that is not registered any more are never used again.
    std::erase_if(refused_,
                  [](const std::vector<uint64_t> &ids) { return !std::all_of(ids.begin(), ids.end(), isRegistered); });
    refused_.insert(data.ids);
    return "";
  }
  Known made{data.ids, nullptr};
  if (mscclc_buffer_register(communicator, data.begins.data(), data.bytes, &made.buffer) != MSCCLC_OK) {
    made.buffer = nullptr;
    info(std::string("data in registered memory is copied: ") + mscclc_last_error());
  }
  known_.push_back(made);
  buffer = made.buffer;
  return "";
}

bool OwnMemory::sweep(const std::vector<Member *> &members) {
  uint64_t gone = 0;
  for (size_t i = 0; i < known_.size(); ++i)
    if (std::none_of(known_[i].ids.begin(), known_[i].ids.end(), isRegistered))
      gone |= uint64_t{1} << i;
  std::vector<std::string> said(members.size(), std::string(reinterpret_cast<const char *>(&gone), sizeof(gone)));
  if (members.size() != members.front()->ranks && !known_.empty()) {
    if (tellAll(members, said) != Success)
      return false;
    for (size_t at = 0; at < said.front().size(); at += sizeof(gone)) {
      uint64_t theirs = 0;
      std::memcpy(&theirs, said.front().data() + at, sizeof(theirs));
      gone &= theirs;
    }
  }
  std::vector<Known> kept;
  for (size_t i = 0; i < known_.size(); ++i)
    // A graph may keep the buffer, and then the buffer is kept in all processes.
    if ((gone >> i & 1) == 0 || mscclc_buffer_try_release(known_[i].buffer) == MSCCLC_ERROR_IN_GRAPH)
      kept.push_back(known_[i]);
  if (kept.size() != known_.size())
    refused_.clear();
  known_ = std::move(kept);
  return true;
}

} // namespace mscclc::nccl
