#include "passes/run/logs.h"

namespace mscclc::passes::proof {

void Logs::add(std::uint32_t block, const MessageClock &clock) {
  auto &log = logs_[block];
  auto previous = static_cast<std::uint32_t>(log.size());
  // A later message of a sender includes its earlier messages. Messages on different channels may arrive in another
  // order.
  if (previous == 0)
    log.reserve(4);
  else if (const Entry &last = log.back(); last.agent == clock.agent && last.phase <= clock.phase &&
                                           last.length <= clock.length && last.kind >= clock.kind &&
                                           last.besides == none)
    previous = last.previous;
  log.emplace_back(clock, previous);
}

void Logs::beginLaunch(std::vector<Begin> blocks, std::vector<std::uint32_t> meetings) {
  begins_.push_back(std::move(blocks));
  meetings_.push_back(std::move(meetings));
}

} // namespace mscclc::passes::proof
