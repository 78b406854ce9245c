#include "passes/run/order.h"

#include "ir/containers.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::proof {

Order::Order(const ProgramIndex &index, OrderWatcher *watcher)
    : index_(index), watcher_(watcher), logs_(index), search_(index, logs_), blocks_(index.numBlocks()),
      lastMeetings_(index.numRanks(), none), packetsFrom_(index.numRanks()), links_(index.numBlocks()) {
  if (watcher_)
    watcher_->started(index);
}

void Order::readAfter(const Epoch &write, const View &view) {
  if (write.isPut() || write.isUser())
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
  if (from.place + 1 == chainLengths_[from.chain]) // `from` is still the last phase of its chain
    to = {from.chain, chainLengths_[from.chain]++};
}

std::uint32_t Order::nodeOf(std::span<const MessageClock> clocks, std::uint32_t earlier) {
  const std::uint32_t node = logs_.newNode();
  if (earlier != none)
    logs_.addToNode({earlier, 0, 0});
  for (const MessageClock &clock : clocks)
    logs_.addToNode(clock);
  return node;
}

void Order::receive(std::uint32_t block, const MessageClock &clock, MessageKind kind) {
  ++edges_;
  if (clock.agent == none)
    return;
  MessageClock received = clock;
  received.kind = std::max<MessageKind>(clock.kind, kind);
  logs_.add(block, received);
  if (received.kind == MessageKind::Packet)
    if (auto &from = packetsFrom_[index_.rankOf(block)]; from.empty() || from.back() != clock.agent)
      from.push_back(clock.agent);
  if (watcher_)
    watcher_->received(block, received);
}

void Order::endPhase(std::uint32_t block) {
  ++blocks_[block].phase;
  blocks_[block].length = logs_.length(block);
  if (watcher_)
    watcher_->endedPhase(block);
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
  if (watcher_)
    watcher_->met(blocks);
  const std::uint32_t node = logs_.newNode();
  for (const std::uint32_t b : blocks)
    logs_.addToNode({b, blocks_[b].phase + 1, logs_.length(b)});
  for (const std::uint32_t b : blocks) {
    logs_.add(b, {node, 0, 0});
    endPhase(b);
  }
}

/// The end of a launch of `rank` acquires what the senders of its packets released at the beginning of that launch.
void Order::acquirePackets(std::uint32_t rank) {
  std::vector<std::uint32_t> &from = packetsFrom_[rank];
  ir::sortUnique(from, [&](std::uint32_t block) { return index_.rankOf(block); });
  for (const std::uint32_t sender : from) {
    const MessageClock clock(sender, blocks_[sender].launchPhase, blocks_[sender].launchLength);
    logs_.add(index_.block(rank, 0), clock);
    if (watcher_)
      watcher_->received(index_.block(rank, 0), clock);
  }
  from.clear();
}

void Order::meetRank(std::uint32_t rank) {
  acquirePackets(rank);
  std::vector<std::uint32_t> blocks(index_.numBlocks(rank));
  std::iota(blocks.begin(), blocks.end(), index_.block(rank, 0));
  const bool news = std::any_of(blocks.begin(), blocks.end(),
                                [&](std::uint32_t b) { return logs_.length(b) != blocks_[b].meetLength; });
  if (news && blocks.size() != 1) {
    lastMeetings_[rank] = index_.numBlocks() + logs_.numNodes();
    meet(blocks);
  } else { // all blocks have the same knowledge, except for their own phases
    edges_ += blocks.size() != 1 ? blocks.size() : 0;
    if (watcher_)
      watcher_->met(blocks);
    for (const std::uint32_t b : blocks)
      endPhase(b);
  }
  for (const std::uint32_t b : blocks) {
    blocks_[b].meetPhase = blocks_[b].phase;
    blocks_[b].meetLength = logs_.length(b);
  }
}

void Order::beginLaunch() {
  std::vector<Logs::Begin> begins;
  begins.reserve(blocks_.size());
  for (BlockState &b : blocks_) {
    begins.push_back({b.phase, b.length});
    b.launchPhase = b.phase;
    b.launchLength = b.cursor = b.length;
  }
  logs_.beginLaunch(std::move(begins), lastMeetings_);
  heardFrom_.emplace_back(index_.numRanks());
  if (watcher_)
    watcher_->beganLaunch();
}

View Order::gather(std::uint32_t rank) {
  const std::uint32_t first = index_.block(rank, 0);
  View view = this->view(first);
  view.user = true;
  if (gathered_[0].empty())
    for (auto &told : gathered_)
      told.assign(index_.numBlocks(), 0);
  for (const std::uint32_t b : gatheredFrom_)
    for (auto &told : gathered_)
      told[b] = 0;
  gatheredFrom_.clear();
  if (logs_.numLaunches() == 0)
    return view;
  std::vector<std::uint32_t> &heardFrom = heardFrom_.back()[rank];
  for (std::uint32_t b = first; b < index_.block(rank + 1, 0); ++b)
    for (std::size_t i = blocks_[b].launchLength; i < logs_.length(b); ++i) {
      const MessageClock &clock = logs_.of(b)[i];
      if (logs_.isNode(clock.agent))
        continue;
      gatheredFrom_.push_back(clock.agent);
      heardFrom.push_back(index_.rankOf(clock.agent));
      for (const Relation relation : {Relation::HappensBefore, Relation::Released, Relation::Visibility})
        if (carries(clock.kind, relation)) {
          auto &over = gathered_[static_cast<int>(relation)][clock.agent];
          over = std::max(over, clock.phase);
        }
    }
  ir::sortUnique(heardFrom);
  return view;
}

bool Order::allToldAll() const {
  if (!puts_.empty())
    return false;
  std::vector<bool> told(index_.numRanks());
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank) {
    told.assign(told.size(), false);
    told[rank] = true;
    for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b)
      for (std::size_t i = blocks_[b].launchLength; i < logs_.length(b); ++i)
        if (const MessageClock &clock = logs_.of(b)[i];
            !logs_.isNode(clock.agent) && clock.phase >= blocks_[clock.agent].launchPhase)
          told[index_.rankOf(clock.agent)] = true;
    if (std::find(told.begin(), told.end(), false) != told.end())
      return false;
  }
  return true;
}

bool Order::knownDirectly(std::uint32_t block, std::uint32_t phase, const View &view, Relation relation) {
  if (block == view.block)
    return phase < view.phase;
  const std::uint32_t rank = index_.rankOf(block), here = index_.rankOf(view.block);
  if (rank == here && phase < blocks_[block].meetPhase)
    return true;
  if (view.user && gathered_[static_cast<int>(relation)][block] > phase)
    return true;
  // A signal of this launch from a rank includes everything that the rank did in earlier launches.
  const bool older = phase < blocks_[block].launchPhase;
  const std::uint32_t first = older ? index_.block(rank, 0) : block;
  const std::uint32_t count = older ? index_.block(rank + 1, 0) - first : 1, least = older ? 0 : phase;
  const auto tells = [&](const MessageClock &t) {
    return t.agent - first < count && t.phase > least &&
           (older ? carriesEarlier(t.kind, relation) : carries(t.kind, relation));
  };
  for (const MessageClock &t : view.besides)
    if (tells(t))
      return true;
  BlockState &state = blocks_[view.block];
  const Logs::Entry *log = logs_.of(view.block).data();
  // Blocks tend to use data in the order in which they were notified of it.
  for (std::uint32_t i = state.cursor; i < std::min(state.cursor + 2, view.length); ++i)
    if (i >= state.launchLength && tells(log[i])) {
      state.cursor = i;
      return true;
    }
  // If the log is scanned again and again, a search is better, because it remembers its results.
  constexpr std::uint64_t mostLooks = 64;
  if (state.looked <= mostLooks * (view.length + mostLooks))
    for (std::uint32_t i = view.length; i-- > state.launchLength;)
      if (tells(log[i])) {
        state.looked += view.length - i;
        state.cursor = i;
        return true;
      }
  if (older && rank != here)
    for (std::uint32_t l = logs_.launchesBegun(block, phase); l < heardFrom_.size(); ++l)
      if (std::ranges::binary_search(heardFrom_[l][here], rank))
        return true;
  state.looked += view.length - state.launchLength;
  return false;
}

bool Order::phaseKnownAtBegin(std::uint32_t block, std::uint32_t phase, std::uint32_t rank, Relation relation) {
  const bool answer = index_.rankOf(block) == rank ? phase < blocks_[block].meetPhase
                                                   : search_.knownAtBegin(block, phase, rank, relation);
  if (watcher_ && answer)
    watcher_->answered(block, phase, view(index_.block(rank, 0)), relation, answer);
  return answer;
}

std::uint64_t Order::numPhases() const {
  return std::accumulate(blocks_.begin(), blocks_.end(), std::uint64_t{0},
                         [](std::uint64_t n, const BlockState &b) { return n + b.phase; });
}

} // namespace mscclc::passes::proof
