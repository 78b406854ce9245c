#include "passes/verify/order.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::proof {

namespace {
constexpr std::uint64_t searchedLogs = 4;      ///< searches may look as often at each edge
constexpr std::uint32_t mostClocks = 1u << 15; ///< beyond, clocks of all blocks would not fit into memory
} // namespace

Order::Order(const ProgramIndex &index, bool clocks, std::uint64_t maxPhase)
    : index_(index), blocks_(index.numBlocks()), logs_(index.numBlocks()), launchNodes_(index.numRanks(), none),
      links_(index.numBlocks()) {
  if (clocks)
    clocks_.emplace(index, maxPhase);
}

void Order::readBehind(const Record &write, const View &view) {
  if (clocks_ || write.isPut() || write.isUser())
    return;
  for (const auto &[block, phase] : {std::pair(write.agent, write.phase), std::pair(view.block, view.phase)})
    if (links_[block].size() <= phase)
      links_[block].resize(phase + 1);
  Link &from = links_[write.agent][write.phase], &to = links_[view.block][view.phase];
  if (to.chain != none)
    return;
  if (from.chain == none) {
    from = {static_cast<std::uint32_t>(chainLengths_.size()), 0};
    chainLengths_.push_back(1);
  }
  if (from.place + 1 == chainLengths_[from.chain]) // its last, so far
    to = {from.chain, chainLengths_[from.chain]++};
}

void Order::keepBesides(Token &token, std::span<const Token> besides) {
  token.besides = newNode();
  entries_.insert(entries_.end(), besides.begin(), besides.end());
}

void Order::receive(std::uint32_t block, const Token &token, bool relaxed) {
  ++edges_;
  if (token.agent == none)
    return;
  Token received = token;
  received.weak |= relaxed; // full and relaxed ends of one channel: what is seen is what both ends give
  if (clocks_)
    clocks_->receive(block, received);
  else
    log(block, received);
}

void Order::log(std::uint32_t block, const Heard &heard) {
  auto &log = logs_[block];
  auto previous = static_cast<std::uint32_t>(log.size());
  // What one sender tells later holds what it told before; by another channel, it may come in another order.
  if (previous == 0)
    log.reserve(4);
  else if (const Entry &last = log.back(); last.agent == heard.agent && last.phase <= heard.phase &&
                                           last.length <= heard.length && last.weak >= heard.weak &&
                                           last.besides == none)
    previous = last.previous;
  log.emplace_back(heard, previous);
}

void Order::endPhase(std::uint32_t block) {
  ++blocks_[block].phase;
  blocks_[block].length = static_cast<std::uint32_t>(logs_[block].size());
  if (clocks_)
    clocks_->endPhase(block);
}

void Order::barrier(std::span<const std::uint32_t> blocks) {
  for (const std::uint32_t b : blocks)
    blocks_[b].toldPhase = blocks_[b].phase + 1;
  meet(blocks);
}

void Order::meet(std::span<const std::uint32_t> blocks) {
  if (blocks.size() == 1)
    return endPhase(blocks[0]);
  edges_ += blocks.size();
  if (clocks_) {
    phases_.clear();
    for (const std::uint32_t b : blocks)
      phases_.push_back(blocks_[b].phase);
    clocks_->meet(blocks, phases_);
    for (const std::uint32_t b : blocks)
      endPhase(b);
    return;
  }
  const std::uint32_t node = newNode();
  for (const std::uint32_t b : blocks)
    entries_.emplace_back(b, blocks_[b].phase + 1, static_cast<std::uint32_t>(logs_[b].size()), false);
  for (const std::uint32_t b : blocks) {
    log(b, {node, 0, 0, false});
    endPhase(b);
  }
}

void Order::meetRank(std::uint32_t rank) {
  std::vector<std::uint32_t> blocks(index_.block(rank + 1, 0) - index_.block(rank, 0));
  std::iota(blocks.begin(), blocks.end(), index_.block(rank, 0));
  const bool news = clocks_ || std::any_of(blocks.begin(), blocks.end(),
                                           [&](std::uint32_t b) { return logs_[b].size() != blocks_[b].meetLength; });
  if (news && blocks.size() != 1) {
    launchNodes_[rank] = static_cast<std::uint32_t>(index_.numBlocks() + nodes_.size());
    meet(blocks);
  } else { // all know the same already, but for their own phases
    edges_ += blocks.size() != 1 ? blocks.size() : 0;
    for (const std::uint32_t b : blocks)
      endPhase(b);
  }
  for (const std::uint32_t b : blocks) {
    blocks_[b].meetPhase = blocks_[b].phase;
    blocks_[b].meetLength = static_cast<std::uint32_t>(logs_[b].size());
  }
}

void Order::beginLaunch() {
  auto &begin = begins_.emplace_back();
  for (BlockState &b : blocks_) {
    begin.push_back({b.phase, b.length});
    b.launchPhase = b.phase;
    b.launchLength = b.cursor = b.length;
  }
  if (clocks_) {
    phases_.clear();
    for (const BlockState &b : blocks_)
      phases_.push_back(b.phase);
    return clocks_->beginLaunch(phases_);
  }
  beginNodes_.push_back(launchNodes_);
  told_.emplace_back(std::size_t{index_.numRanks()} * index_.numRanks());
}

View Order::gather(std::uint32_t rank) {
  const std::uint32_t first = index_.block(rank, 0);
  View view = this->view(first);
  if (clocks_)
    return view;
  view.user = true;
  if (gathered_[0].empty())
    for (auto &told : gathered_)
      told.assign(index_.numBlocks(), 0);
  for (const std::uint32_t b : gatheredFrom_)
    gathered_[0][b] = gathered_[1][b] = 0;
  gatheredFrom_.clear();
  if (begins_.empty())
    return view;
  for (std::uint32_t b = first; b < index_.block(rank + 1, 0); ++b)
    for (std::size_t i = blocks_[b].launchLength; i < logs_[b].size(); ++i) {
      const Heard &token = logs_[b][i];
      if (token.agent >= index_.numBlocks())
        continue;
      gatheredFrom_.push_back(token.agent);
      told_.back()[std::size_t{rank} * index_.numRanks() + index_.rankOf(token.agent)] = true;
      auto &control = gathered_[static_cast<int>(Need::Control)][token.agent];
      control = std::max(control, token.phase);
      if (!token.weak) {
        auto &data = gathered_[static_cast<int>(Need::Data)][token.agent];
        data = std::max(data, token.phase);
      }
    }
  return view;
}

bool Order::allToldAll() const {
  if (clocks_ || !puts_.empty())
    return false;
  std::vector<bool> told(index_.numRanks());
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank) {
    told.assign(told.size(), false);
    told[rank] = true;
    for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b)
      for (std::size_t i = blocks_[b].launchLength; i < logs_[b].size(); ++i)
        if (const Heard &heard = logs_[b][i];
            heard.agent < index_.numBlocks() && heard.phase >= blocks_[heard.agent].launchPhase)
          told[index_.rankOf(heard.agent)] = true;
    if (std::find(told.begin(), told.end(), false) != told.end())
      return false;
  }
  return true;
}

bool Order::knownDirectly(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const {
  if (block == view.block)
    return phase < view.phase;
  const std::uint32_t rank = index_.rankOf(block), here = index_.rankOf(view.block);
  if (rank == here && phase < blocks_[block].meetPhase)
    return true;
  if (view.user && gathered_[static_cast<int>(need)][block] > phase)
    return true;
  // Whoever has heard of a rank in this launch knows of all that the rank did in the launches before.
  const bool older = phase < blocks_[block].launchPhase;
  const std::uint32_t first = older ? index_.block(rank, 0) : block;
  const std::uint32_t count = older ? index_.block(rank + 1, 0) - first : 1, least = older ? 0 : phase;
  const bool weakIsEnough = older || need == Need::Control;
  const auto tells = [&](const Heard &t) {
    return t.agent - first < count && t.phase > least && (weakIsEnough || !t.weak);
  };
  for (const Token &t : view.besides)
    if (tells(t))
      return true;
  const BlockState &state = blocks_[view.block];
  const Entry *log = logs_[view.block].data();
  // Blocks tend to use things in the order in which they were told of them.
  for (std::uint32_t i = state.cursor; i < std::min(state.cursor + 2, view.length); ++i)
    if (i >= state.launchLength && tells(log[i])) {
      state.cursor = i;
      return true;
    }
  for (std::uint32_t i = view.length; i-- > state.launchLength;)
    if (tells(log[i])) {
      state.cursor = i;
      return true;
    }
  if (older && rank != here)
    for (std::uint32_t l = launchesBegun(block, phase); l < told_.size(); ++l)
      if (told_[l][std::size_t{here} * index_.numRanks() + rank])
        return true;
  return false;
}

bool Order::search(std::uint32_t block, std::uint32_t phase, const View &view, Need need) const {
  const std::uint32_t numBlocks = index_.numBlocks();
  const std::uint32_t here = index_.rankOf(view.block), begun = launchesBegun(block, phase);
  const auto kind = static_cast<int>(need);
  if (!facts_.empty())
    for (const Heard &t : facts_[view.block].tokens[kind])
      if (t.agent != none && tellsOf(t, block, phase, begun, need))
        return true;
  marks_.resize(numBlocks + nodes_.size());
  if (++round_ == 0) {
    std::fill(marks_.begin(), marks_.end(), Mark{});
    round_ = 1;
  }
  if (steps_ > searchedLogs * edges_ + 100'000 && numBlocks <= mostClocks)
    throw Tangled{};
  near_.clear();
  far_.clear();
  // Logs are followed from the event's launch on: what was heard before cannot tell of it. What happened within the
  // rank of the view is looked at first.
  const auto reach = [&](std::uint32_t agent, std::uint32_t length, bool isNear) {
    Mark &mark = marks_[agent];
    if (mark.round != round_)
      mark = {round_, agent < numBlocks && begun != 0 ? begins_[begun - 1][agent].length : 0};
    if (agent >= numBlocks)
      length = static_cast<std::uint32_t>(nodeLog(agent).size());
    if (mark.length >= length)
      return;
    (isNear ? near_ : far_).push_back({agent, mark.length, length});
    mark.length = length;
  };
  const auto look = [&](const Heard &t) {
    ++steps_;
    if (tellsOf(t, block, phase, begun, need))
      return true;
    const bool isNear = t.agent >= numBlocks || index_.rankOf(t.agent) == here;
    if (need == Need::Control || !t.weak) {
      reach(t.agent, t.length, isNear);
      if (t.besides != none)
        reach(t.besides, 0, isNear);
    } else if (const std::uint32_t began = launchesBegun(t.agent, t.phase); began > begun) {
      const std::uint32_t node = beginNodes_[began - 1][index_.rankOf(t.agent)]; // what its rank knew at the beginning
      if (node != none)
        reach(node, 0, isNear);
      else
        reach(t.agent, begins_[began - 1][t.agent].length, isNear);
    }
    return false;
  };
  const auto follow = [&]() -> const Heard * {
    while (!near_.empty() || !far_.empty()) {
      auto &open = near_.empty() ? far_ : near_;
      const Open next = open.back();
      open.pop_back();
      if (next.agent >= numBlocks) {
        for (const Heard &t : nodeLog(next.agent))
          if (look(t))
            return &t;
        continue;
      }
      const auto &log = logs_[next.agent];
      for (std::uint32_t i = next.to; i > next.from; i = log[i - 1].previous)
        if (look(log[i - 1]))
          return &log[i - 1];
    }
    return nullptr;
  };
  reach(view.block, view.length, true);
  if (const Heard *found = follow()) {
    if (view.length <= blocks_[view.block].length) {
      facts_.resize(numBlocks);
      Facts &facts = facts_[view.block];
      facts.tokens[kind][facts.next[kind]++ % Facts::most] = *found;
    }
    return true;
  }
  return std::any_of(view.besides.begin(), view.besides.end(), look) || follow() != nullptr;
}

std::uint32_t Order::launchesBegun(std::uint32_t block, std::uint32_t phase) const {
  auto begun = static_cast<std::uint32_t>(begins_.size());
  while (begun != 0 && begins_[begun - 1][block].phase > phase)
    --begun;
  return begun;
}

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
      if (self || known(put.block, put.phase, from, Need::Control))
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
  if (event.upTo >
      (events.empty() ? 0 : events.back().upTo)) // the first event that covers a put is the one that counts
    events.push_back(event);
}

void Order::completed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread) {
  for (; covers != none; covers = covers_[covers].next)
    addDone(lanes_[covers_[covers].lane].completed, {covers_[covers].upTo, waiter, blocks_[waiter].phase, thread});
}

void Order::relayed(std::uint32_t covers, std::uint32_t waiter, std::uint32_t thread) {
  for (; covers != none; covers = covers_[covers].next)
    lanes_[covers_[covers].lane].relayed.push_back({covers_[covers].upTo, waiter, blocks_[waiter].phase, thread});
}

std::uint32_t Order::joinCovers(std::uint32_t covers, std::uint32_t more) {
  for (; covers != none; covers = covers_[covers].next) {
    covers_.push_back({covers_[covers].lane, covers_[covers].upTo, more});
    more = static_cast<std::uint32_t>(covers_.size() - 1);
  }
  return more;
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

bool Order::putBefore(const Record &record, bool write, const View &view, Need need) const {
  const Put &put = puts_[record.agent & ~Record::putBit];
  const bool byThread = put.block == view.block && put.phase == view.phase && put.thread == view.thread;
  if (view.putChannel == put.channel && (byThread || known(put.block, put.phase, view, Need::Control)))
    return true; // one queue, in order
  const Lane &lane = lanes_[put.lane];
  const auto knows = [&](const Done &event) {
    const bool seenByThread =
        view.thread != none && event.thread == view.thread && event.block == view.block && event.phase == view.phase;
    return seenByThread || known(event.block, event.phase, view, need);
  };
  const auto done = [&](const std::vector<Done> &events) {
    const auto first = std::upper_bound(events.begin(), events.end(), put.number,
                                        [](std::uint32_t number, const Done &d) { return number < d.upTo; });
    return first != events.end() && knows(*first);
  };
  // A flush is known at home, and soon found.
  return (!write && (done(lane.ownFlushed) || done(lane.flushed))) || done(lane.completed) ||
         std::ranges::any_of(lane.relayed, [&](const Done &event) { return event.upTo > put.number && knows(event); });
}

std::uint64_t Order::numPhases() const {
  return std::accumulate(blocks_.begin(), blocks_.end(), std::uint64_t{0},
                         [](std::uint64_t n, const BlockState &b) { return n + b.phase; });
}

} // namespace mscclc::passes::proof
