#include "process/meeting.h"

namespace mscclc::rt {

Status (*meetOthers)(MeetingOptions, std::unique_ptr<Meeting> &) = nullptr;

std::string nameOf(const RankRange &range) {
  return range.count == 1 ? format("rank %u", range.first)
                          : format("ranks %u to %u", range.first, range.first + range.count - 1);
}

Meeting::Meeting(const RankRange &mine) : processes_{{mine, static_cast<int32_t>(::getpid())}} {}

Status Meeting::join(MeetingOptions options, std::unique_ptr<Meeting> &result) {
  if (options.mine.count == options.ranks) {
    result = std::make_unique<Meeting>(options.mine);
    return {};
  }
  if (meetOthers != nullptr)
    return meetOthers(std::move(options), result);
  return failure(MSCCLC_ERROR_UNSUPPORTED,
                 "%u of %u ranks are in this process, and this build of the runtime cannot meet other processes",
                 options.mine.count, options.ranks);
}

Status Meeting::agree(const std::string &, const Status &mine, const Bytes &message, std::vector<Message> &all,
                      const std::vector<int> &) {
  all.clear();
  all.emplace_back().bytes = message;
  return mine;
}

} // namespace mscclc::rt
