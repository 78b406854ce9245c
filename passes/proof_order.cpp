#include "passes/proof_order.h"

#include <algorithm>
#include <numeric>

namespace mscclc::passes::proof {

Order::Order(const ProgramIndex &index, std::uint64_t maxPhase)
    : index_(index), clocks_(index.numBlocks(), maxPhase), blocks_(index.numBlocks()),
      launchData_(index.numRanks(), ClockPool::zero), launchPhase_(index.numBlocks(), 0),
      numLaunches_(index.numRanks(), 0) {}

View Order::view(std::uint32_t block) const {
  const BlockClock &c = blocks_[block];
  return {block, c.phase, c.control, c.data};
}

View Order::nextView(std::uint32_t block) const {
  const BlockClock &c = blocks_[block];
  return {block, c.phase + 1, c.nextControl, c.nextData};
}

Token Order::send(std::uint32_t block, bool relaxed) {
  const BlockClock &c = blocks_[block];
  if (relaxed)
    return {clocks_.share(c.control), clocks_.share(launchData_[index_.rankOf(block)]), block, c.phase,
            launchPhase_[block]};
  return {clocks_.share(c.control), clocks_.share(c.data), block, c.phase, c.phase};
}

Token Order::sendPacket(std::uint32_t block, ClockId control) {
  return {clocks_.share(control),
          clocks_.share(launchData_[index_.rankOf(block)]),
          block,
          blocks_[block].phase,
          launchPhase_[block],
          0,
          true};
}

void Order::drop(const Token &token) {
  clocks_.release(token.control);
  clocks_.release(token.data);
}

void Order::absorb(ClockId &control, ClockId &data, const Token &token, bool relaxed) {
  ++edges_;
  if (token.agent == none)
    return;
  // Full and relaxed ends of one channel: what is seen is what both ends give.
  const bool weak = relaxed && token.dataPhase == token.controlPhase;
  const ClockId tokenData = weak ? launchData_[index_.rankOf(token.agent)] : token.data;
  const std::uint32_t dataPhase = weak ? launchPhase_[token.agent] : token.dataPhase;
  if (control == data && token.control == tokenData && token.controlPhase == dataPhase) {
    clocks_.release(data); // one holder, so that the join happens in place
    clocks_.join(control, token.control);
    clocks_.raise(control, token.agent, dataPhase);
    data = clocks_.share(control);
    return;
  }
  // Who knows of a phase knows what was known in it.
  if (token.packet || clocks_.get(control, token.agent) < token.controlPhase) {
    clocks_.join(control, token.control);
    clocks_.raise(control, token.agent, token.controlPhase);
  }
  if (clocks_.get(data, token.agent) < dataPhase) {
    clocks_.join(data, tokenData);
    clocks_.raise(data, token.agent, dataPhase);
  }
}

void Order::receive(std::uint32_t block, const Token &token, bool relaxed) {
  absorb(blocks_[block].nextControl, blocks_[block].nextData, token, relaxed);
}

void Order::learn(std::uint32_t block, ClockId control, ClockId data) {
  clocks_.join(blocks_[block].nextControl, control);
  clocks_.join(blocks_[block].nextData, data);
}

void Order::advance(BlockClock &c) {
  ++c.phase;
  if (c.control != c.nextControl) {
    clocks_.release(c.control);
    c.control = clocks_.share(c.nextControl);
  }
  if (c.data != c.nextData) {
    clocks_.release(c.data);
    c.data = clocks_.share(c.nextData);
  }
}

void Order::endPhase(std::uint32_t block) {
  advance(blocks_[block]);
}

void Order::meet(std::span<const std::uint32_t> blocks) {
  if (blocks.size() == 1)
    return endPhase(blocks[0]);
  ClockId control = ClockPool::zero, data = ClockPool::zero;
  clocks_.share(control);
  clocks_.share(data);
  for (const std::uint32_t b : blocks) {
    clocks_.join(control, blocks_[b].nextControl);
    clocks_.join(data, blocks_[b].nextData);
  }
  for (const std::uint32_t b : blocks) {
    clocks_.raise(control, b, blocks_[b].phase + 1);
    clocks_.raise(data, b, blocks_[b].phase + 1);
  }
  for (const std::uint32_t b : blocks) {
    BlockClock &c = blocks_[b];
    clocks_.release(c.nextControl);
    clocks_.release(c.nextData);
    c.nextControl = clocks_.share(control);
    c.nextData = clocks_.share(data);
    advance(c);
  }
  clocks_.release(control);
  clocks_.release(data);
  edges_ += blocks.size();
}

void Order::meetRank(std::uint32_t rank) {
  scratch_.resize(index_.block(rank + 1, 0) - index_.block(rank, 0));
  std::iota(scratch_.begin(), scratch_.end(), index_.block(rank, 0));
  meet(scratch_);
}

void Order::beginLaunch(std::uint32_t rank) {
  const std::uint32_t first = index_.block(rank, 0), end = index_.block(rank + 1, 0);
  const std::uint32_t launch = numLaunches_[rank]++;
  if (launch == launchPhases_.size())
    launchPhases_.emplace_back(index_.numBlocks(), 0);
  for (std::uint32_t b = first; b < end; ++b)
    launchPhases_[launch][b] = launchPhase_[b] = blocks_[b].phase;
  clocks_.release(launchData_[rank]);
  launchData_[rank] = clocks_.share(blocks_[first].data);
}

std::uint32_t Order::launchOf(std::uint32_t block, std::uint32_t phase) const {
  std::uint32_t launch = 0;
  const std::uint32_t begun = numLaunches_[index_.rankOf(block)];
  while (launch + 1 < begun && launchPhases_[launch + 1][block] <= phase)
    ++launch;
  return launch;
}

std::uint32_t Order::addPut(std::uint32_t channel, std::uint32_t block, std::uint32_t op) {
  if (ports_.empty())
    ports_.resize(index_.numChannels());
  PortState &port = ports_[channel];
  const auto id = static_cast<std::uint32_t>(puts_.size());
  puts_.push_back({channel, static_cast<std::uint32_t>(port.puts.size()), block, blocks_[block].phase, op});
  port.puts.push_back(id);
  return id;
}

std::uint32_t Order::putsCovered(std::uint32_t channel, std::uint32_t block, std::uint32_t own) const {
  if (ports_.empty())
    return 0;
  const PortState &port = ports_[channel];
  auto covered = static_cast<std::uint32_t>(port.puts.size());
  const View from = view(block);
  while (covered != 0) {
    const Put &put = puts_[port.puts[covered - 1]];
    const bool self = own != none && put.block == block && put.op == own && put.phase == from.phase;
    if (self || known(put.block, put.phase, from, Need::Control))
      break;
    --covered;
  }
  return covered;
}

void Order::completed(std::uint32_t channel, std::uint32_t upTo, std::uint32_t waiter) {
  auto &events = ports_.empty() ? noPort_.completed : ports_[channel].completed;
  if (upTo > (events.empty() ? 0 : events.back().upTo)) // the first event that covers a put is the one that counts
    events.push_back({upTo, waiter, blocks_[waiter].phase});
}

void Order::flushed(std::uint32_t channel, std::uint32_t upTo, std::uint32_t block) {
  auto &events = ports_.empty() ? noPort_.flushed : ports_[channel].flushed;
  if (upTo > (events.empty() ? 0 : events.back().upTo))
    events.push_back({upTo, block, blocks_[block].phase});
}

bool Order::putBefore(const Record &record, bool write, const View &view, Need need) const {
  const Put &put = puts_[record.agent & ~Record::putBit];
  if (view.putChannel == put.channel)
    return true; // one queue, in order
  const PortState &port = ports_[put.channel];
  const auto done = [&](const std::vector<Done> &events) {
    const auto first = std::upper_bound(events.begin(), events.end(), put.number,
                                        [](std::uint32_t number, const Done &d) { return number < d.upTo; });
    return first != events.end() && known(first->block, first->phase, view, need);
  };
  return done(port.completed) || (!write && done(port.flushed));
}

std::uint64_t Order::numPhases() const {
  return std::accumulate(blocks_.begin(), blocks_.end(), std::uint64_t{0},
                         [](std::uint64_t n, const BlockClock &c) { return n + c.phase; });
}

} // namespace mscclc::passes::proof
