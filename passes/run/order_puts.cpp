// Port puts. A put is asynchronous, and puts are done in the order of their queue. A put is known to be done only after
// a message says so. A signal through the channel says to its waiter that all earlier puts are complete. A flush says
// to its own block that the sources of earlier puts may be reused.
//
// The puts before a signal or flush are certain only for the same thread, and for puts that the thread knows to have
// been issued. So the puts of each thread on a channel form a *lane*, in which the order is certain. An event that
// covers put n of a lane covers all earlier puts of the lane. Example: thread 0 does puts p1, p2, and thread 1 does put
// p3, all on one channel. Then thread 1 signals. The signal covers p3. It covers p1 and p2 only if thread 1 knows that
// they have been issued, for example because the block has met in between.
#include "passes/run/order.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes::proof {

std::uint32_t Order::addPut(std::uint32_t channel, const View &issuer, std::uint32_t op) {
  if (firstLane_.empty())
    firstLane_.assign(index_.numChannels(), none);
  std::uint32_t lane = firstLane_[channel];
  while (lane != none && (lanes_[lane].block != issuer.block || lanes_[lane].thread != issuer.thread))
    lane = lanes_[lane].next;
  if (lane == none) {
    lane = static_cast<std::uint32_t>(lanes_.size());
    lanes_.push_back({issuer.block, issuer.thread, firstLane_[channel], {}, {}, {}, {}, {}});
    firstLane_[channel] = lane;
  }
  const auto id = static_cast<std::uint32_t>(puts_.size());
  auto &puts = lanes_[lane].puts;
  puts_.push_back(
      {channel, lane, static_cast<std::uint32_t>(puts.size()), issuer.block, issuer.thread, issuer.phase, op});
  puts.push_back(id);
  return id;
}

std::uint32_t Order::putsCovered(std::uint32_t channel, const View &from, std::uint32_t more) {
  std::uint32_t covers = more;
  if (firstLane_.empty())
    return covers;
  for (std::uint32_t lane = firstLane_[channel]; lane != none; lane = lanes_[lane].next) {
    const auto &puts = lanes_[lane].puts;
    auto covered = static_cast<std::uint32_t>(puts.size());
    while (covered != 0) {
      const Put &put = puts_[puts[covered - 1]];
      const bool self = put.block == from.block && put.phase == from.phase && put.thread == from.thread;
      if (self || known(put.block, put.phase, from, Relation::HappensBefore))
        break;
      --covered;
    }
    if (covered == 0)
      continue;
    covers_.push_back({lane, covered, covers});
    covers = static_cast<std::uint32_t>(covers_.size() - 1);
  }
  return covers;
}

void Order::addDone(std::vector<Done> &events, const Done &event) {
  if (event.upTo > (events.empty() ? 0 : events.back().upTo)) // only the first event that covers a put matters
    events.push_back(event);
}

void Order::completed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread) {
  for (; covers != none; covers = covers_[covers].next)
    addDone(lanes_[covers_[covers].lane].completed, {covers_[covers].upTo, waiter, blocks_[waiter].phase, thread});
}

/// Lemma. For two events of one block, the later one adds nothing if the earlier one covers as much and is of the same
/// thread or of an earlier phase. If a phase is over in a view, all earlier phases are over in it, too. If a thread
/// continues in a phase, it still has everything that it saw in this phase, and earlier phases are over.
void Order::relayed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread) {
  constexpr std::size_t mostLooks =
      8; // few blocks relay a lane in turn, so a longer scan would cost more than it saves
  const std::uint32_t phase = blocks_[waiter].phase;
  for (; covers != none; covers = covers_[covers].next) {
    const auto [lane, upTo, next] = covers_[covers];
    std::vector<Done> &events = lanes_[lane].relayed;
    const auto end = events.size() > mostLooks ? events.rbegin() + mostLooks : events.rend();
    const auto last = std::find_if(events.rbegin(), end, [&](const Done &event) { return event.block == waiter; });
    if (last != end && last->upTo >= upTo && (last->phase < phase || last->thread == thread))
      continue;
    events.push_back({upTo, waiter, phase, thread});
  }
}

/// Unites two lists of covers. Relays may receive the same lane from several relays. If a list named a lane once for
/// each message, lists would double with each relay. New covers are placed before the old list. Only the part of the
/// old list up to the last replaced cover is copied, because a thread's list is mostly much longer than the covers of
/// one message.
std::uint32_t Order::joinCovers(std::uint32_t covers, std::uint32_t more) {
  news_.resize(lanes_.size());
  std::uint32_t numNews = 0;
  for (std::uint32_t c = covers; c != none; c = covers_[c].next) {
    numNews += news_[covers_[c].lane] == 0;
    news_[covers_[c].lane] = std::max(news_[covers_[c].lane], covers_[c].upTo);
  }
  std::uint32_t rest = more; // the part of the old list behind the last cover that a new one replaces
  for (std::uint32_t c = more; c != none && numNews != 0; c = covers_[c].next) {
    std::uint32_t &upTo = news_[covers_[c].lane];
    if (upTo > covers_[c].upTo) {
      rest = covers_[c].next;
    } else if (upTo != 0) {
      upTo = 0;
      --numNews;
    }
  }
  if (numNews == 0)
    return more;
  std::uint32_t joined = rest;
  const auto add = [&](std::uint32_t lane, std::uint32_t upTo) {
    covers_.push_back({lane, upTo, joined});
    joined = static_cast<std::uint32_t>(covers_.size() - 1);
  };
  for (std::uint32_t c = more; c != rest; c = covers_[c].next)
    if (news_[covers_[c].lane] == 0)
      add(covers_[c].lane, covers_[c].upTo);
  for (std::uint32_t c = covers; c != none; c = covers_[c].next)
    if (std::uint32_t &upTo = news_[covers_[c].lane]; upTo != 0)
      add(covers_[c].lane, std::exchange(upTo, 0));
  return joined;
}

void Order::flushed(std::uint32_t covers, std::uint32_t block) {
  for (; covers != none; covers = covers_[covers].next) {
    Lane &lane = lanes_[covers_[covers].lane];
    const Done event{covers_[covers].upTo, block, blocks_[block].phase};
    addDone(lane.flushed, event);
    if (block == lane.block)
      addDone(lane.ownFlushed, event);
  }
}

/// True if `knows` holds for some event that shows that `put` is done.
template <typename Knows> bool Order::isDone(const Put &put, bool write, const Knows &knows) const {
  const Lane &lane = lanes_[put.lane];
  const auto done = [&](const std::vector<Done> &events) {
    const auto first = std::upper_bound(events.begin(), events.end(), put.number,
                                        [](std::uint32_t number, const Done &d) { return number < d.upTo; });
    return first != events.end() && knows(*first);
  };
  // Flushes by the put's own block are looked at first, because they are found quickly.
  return (!write && (done(lane.ownFlushed) || done(lane.flushed))) || done(lane.completed) ||
         std::ranges::any_of(lane.relayed, [&](const Done &event) { return event.upTo > put.number && knows(event); });
}

bool Order::putBefore(const Epoch &epoch, bool write, const View &view, Relation relation) {
  const Put &put = puts_[epoch.agent & ~Epoch::putBit];
  const bool byThread = put.block == view.block && put.phase == view.phase && put.thread == view.thread;
  if (view.putChannel == put.channel && (byThread || known(put.block, put.phase, view, Relation::HappensBefore)))
    return true; // a queue does its puts in order
  return isDone(put, write, [&](const Done &event) {
    const bool seenByThread =
        view.thread != none && event.thread == view.thread && event.block == view.block && event.phase == view.phase;
    return seenByThread || known(event.block, event.phase, view, relation);
  });
}

/// The answer true is always right: if all blocks of the rank have known an event since the beginning of the launch,
/// each of their views includes it. The answer may be false although a view knows the event, if the view knows more
/// than the rank did at the beginning of the launch.
bool Order::putKnownAtBegin(const Epoch &epoch, bool write, std::uint32_t rank, Relation relation) {
  return isDone(puts_[epoch.agent & ~Epoch::putBit], write,
                [&](const Done &event) { return phaseKnownAtBegin(event.block, event.phase, rank, relation); });
}

} // namespace mscclc::passes::proof
