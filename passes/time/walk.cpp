#include "passes/time/walk.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

Walk::Walk(const ir::Program &program, const Costs &costs, FluidNetwork &network, const MessageBytes &bytes,
           WalkOptions options)
    : program_(program), costs_(costs), network_(network), bytes_(bytes), options_(options), pairing_(program),
      packets_(program) {
  std::uint32_t memory = 0, ports = 0, semaphores = 0;
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const ir::Rank &rank = program.ranks[r];
    firstBlock_.push_back(static_cast<std::uint32_t>(blocks_.size()));
    firstMemory_.push_back(memory);
    firstPort_.push_back(ports);
    firstSemaphore_.push_back(semaphores);
    memory += static_cast<std::uint32_t>(rank.memoryPeers.size());
    ports += static_cast<std::uint32_t>(rank.portPeers.size());
    semaphores += static_cast<std::uint32_t>(rank.semaphores.size());
    for (std::uint32_t b = 0; b < rank.blocks.size(); ++b) {
      Block block;
      block.rank = r;
      block.block = b;
      block.stores.at = -1;
      blocks_.push_back(std::move(block));
    }
  }
  memorySignals_.resize(memory);
  portSignals_.resize(ports);
  connections_.resize(ports);
  semaphores_.resize(semaphores);
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t s = 0; s < program.ranks[r].semaphores.size(); ++s)
      for (std::uint32_t n = 0; n < program.ranks[r].semaphores[s].initialValue; ++n)
        semaphores_[firstSemaphore_[r] + s].come.push({});
  barriers_.resize(program.ranks.size());
  proxies_.resize(program.ranks.size());
}

Timeline Walk::run() {
  const MachineParameters &p = costs_.parameters();
  const Time start = Costs::us(p.launch + (costs_.runner() == Runner::Executor ? p.planLoad : 0));
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    newPhase(blocks_[b], {start, Span::none});
    at(start, EventKind::Step, b);
  }
  timeline_.end = start;
  if (options_.record)
    network_.record();
  std::vector<FluidNetwork::Ended> ended;
  for (;;) {
    const Time flows = network_.nextEnd(now_);
    const Time next = events_.empty() ? flows : std::min(flows, events_.top().at);
    if (next == std::numeric_limits<Time>::infinity())
      break;
    now_ = std::max(now_, next);
    ended.clear();
    if (flows <= next) {
      network_.takeEnded(now_, ended);
      for (const FluidNetwork::Ended &flow : ended)
        flowed(static_cast<std::uint32_t>(flow.tag), now_, flow.bound);
    }
    // All of one moment goes before rates are shared out again.
    while (!events_.empty() && events_.top().at <= now_) {
      const Event event = events_.top();
      events_.pop();
      dispatch(event);
    }
  }
  for (const Block &block : blocks_)
    timeline_.complete &= block.state == Block::Ended;
  std::vector<std::uint32_t> trafficOf(network_.numResources());
  for (FluidNetwork::Resource r = 0; r < network_.numResources(); ++r)
    if (network_.traffic(r) > 0) {
      trafficOf[r] = static_cast<std::uint32_t>(timeline_.traffic.size());
      timeline_.traffic.push_back({costs_.meaning(r).kind, costs_.meaning(r).rank, costs_.meaning(r).peer,
                                   network_.traffic(r), network_.capacity(r)});
    }
  for (const FluidNetwork::Load &load : network_.recorded())
    timeline_.rates.push_back({load.at, trafficOf[load.resource], load.rate});
  return std::move(timeline_);
}

void Walk::tell(std::uint32_t from, std::uint32_t to) {
  if (options_.record && from != Span::none)
    timeline_.messages.push_back({from, to});
}

void Walk::dispatch(const Event &event) {
  switch (event.kind) {
  case EventKind::Step:
    return step(event.subject);
  case EventKind::Flow:
    return flow(event.subject);
  case EventKind::Take:
    return takeRequest(event.subject);
  case EventKind::Transfer:
    return transfer(event.subject);
  }
}

/// A new span of the operation that the block is at.
std::uint32_t Walk::begin(const Block &block, Time start, std::uint32_t before) {
  Span span;
  span.rank = block.rank;
  span.block = block.block;
  span.op = block.pc;
  span.iteration = static_cast<std::uint32_t>(block.iteration);
  span.start = span.moving = span.end = start;
  span.before = before;
  timeline_.spans.push_back(span);
  pending_.push_back(0);
  flowed_.push_back(false);
  return static_cast<std::uint32_t>(timeline_.spans.size() - 1);
}

/// Ends a span of a block's phase.
void Walk::end(std::uint32_t number, Time at) {
  Span &span = timeline_.spans[number];
  span.end = at;
  blockOf(span).phase.raise({at, number});
}

void Walk::newPhase(Block &block, Moment from) {
  block.issue = block.phase = from;
  block.threads.clear();
}

const ir::Op *Walk::header(const Block &block) const {
  return block.loop == Span::none ? nullptr : &code(block).ops[block.loop];
}

void Walk::advance(Block &block) {
  ++block.pc;
  if (costs_.runner() == Runner::Executor)
    block.issue.at += Costs::us(costs_.parameters().decode);
  if (block.loop == Span::none)
    return;
  const ir::Op &loop = code(block).ops[block.loop];
  if (block.pc != block.loop + 1 + loop.bodySize)
    return;
  if (++block.iteration < std::min(bytes_.iterations(loop), options_.mostIterations)) {
    block.pc = block.loop + 1;
  } else {
    block.loop = Span::none;
    block.iteration = 0;
  }
}

void Walk::enterPipeline(Block &block, const ir::Op &op) {
  if (bytes_.iterations(op) == 0 || op.bodySize == 0) {
    block.pc += 1 + op.bodySize;
    return;
  }
  block.loop = block.pc++;
  block.iteration = 0;
}

void Walk::step(std::uint32_t number) {
  Block &block = blocks_[number];
  const ir::ThreadBlock &code = this->code(block);
  block.state = Block::Running;
  for (;;) {
    if (block.pc == code.ops.size()) {
      if (block.open != 0) {
        block.state = Block::Joining;
        return;
      }
      block.state = Block::Ended;
      const Time end = std::max(block.phase.at, block.issue.at);
      if (end >= timeline_.end) {
        timeline_.end = end;
        timeline_.last = block.phase.span;
      }
      return;
    }
    const ir::Op &op = code.ops[block.pc];
    switch (ir::info(op.kind).group) {
    case ir::OpGroup::Loop:
      enterPipeline(block, op);
      break;
    case ir::OpGroup::BlockSync:
      if (!join(number, block, op))
        return;
      break;
    case ir::OpGroup::SingleThread:
      if (ir::putsAndSignals(op.kind))
        push(block, op);
      else
        synchronise(block, op);
      advance(block);
      break;
    case ir::OpGroup::Data:
      if (op.channelType == ir::ChannelType::Port) {
        push(block, op);
        advance(block);
        break;
      }
      move(number, block, op);
      return;
    }
    if (block.issue.at > now_) {
      at(block.issue.at, EventKind::Step, number);
      return;
    }
  }
}

/// All threads meet. True if the block goes on at once; else it is stepped again.
bool Walk::join(std::uint32_t number, Block &block, const ir::Op &op) {
  if (block.open != 0) {
    block.state = Block::Joining;
    return false;
  }
  Moment from = block.issue;
  from.raise(block.phase);
  if (from.at > now_) {
    at(from.at, EventKind::Step, number);
    return false;
  }
  const std::uint32_t span = begin(block, from.at, from.span);
  timeline_.spans[span].bound = Cause::Sync;
  const Time end = from.at + Costs::us(costs_.parameters().blockSync);
  this->end(span, end);
  if (op.kind == ir::OpKind::Barrier) {
    meet(number, block, op, span);
    return false;
  }
  newPhase(block, {end, span});
  advance(block);
  return true;
}

void Walk::meet(std::uint32_t number, Block &block, const ir::Op &op, std::uint32_t span) {
  auto &barriers = barriers_[block.rank];
  auto found = std::find_if(barriers.begin(), barriers.end(), [&](const auto &entry) { return entry.first == op.imm; });
  if (found == barriers.end()) {
    barriers.push_back({op.imm, {}});
    found = barriers.end() - 1;
  }
  BarrierState &barrier = found->second;
  barrier.arrived.push_back(number);
  barrier.last.raise({timeline_.spans[span].end, span});
  block.state = Block::AtBarrier;
  if (barrier.arrived.size() < op.count)
    return;
  const Time end = barrier.last.at + Costs::us(costs_.parameters().barrier);
  for (const std::uint32_t other : barrier.arrived) {
    Block &waiting = blocks_[other];
    const std::uint32_t own = waiting.phase.span;
    this->end(own, end);
    if (own != barrier.last.span)
      timeline_.spans[own].awaited = barrier.last.span;
    newPhase(waiting, {end, own});
    advance(waiting);
    at(end, EventKind::Step, other);
  }
  barrier = {};
}

void Walk::synchronise(Block &block, const ir::Op &op) {
  const std::uint32_t span = begin(block, block.issue.at, block.issue.span);
  if (block.threads.size() < op.numIds)
    block.threads.resize(op.numIds);
  pending_[span] = op.numIds;
  ++block.open;
  for (std::uint32_t i = 0; i < op.numIds; ++i) {
    Moment from = block.issue;
    from.raise(block.threads[i]);
    synchroniseAt(block, op, span, i, from.at);
  }
  if (op.numIds == 0)
    settle(span);
}

/// What thread `position` does of the operation.
Time Walk::synchroniseAt(Block &block, const ir::Op &op, std::uint32_t span, std::uint32_t position, Time from) {
  const MachineParameters &p = costs_.parameters();
  const std::uint32_t id = code(block).idsOf(op)[position];
  const Waiter waiter{span, position, from};
  const auto done = [&](Time at) { answer(waiter, {at, Span::none}); };
  switch (op.kind) {
  case ir::OpKind::SemRelease: {
    done(from);
    post(semaphores_[firstSemaphore_[block.rank] + id], {from + Costs::us(p.barrier), span});
    break;
  }
  case ir::OpKind::SemAcquire:
    take(semaphores_[firstSemaphore_[block.rank] + id], waiter);
    break;
  case ir::OpKind::Wait:
  case ir::OpKind::RelaxedWait:
    take(signals(op.channelType, {block.rank, id}), waiter);
    break;
  case ir::OpKind::Signal:
  case ir::OpKind::RelaxedSignal: {
    if (op.channelType == ir::ChannelType::Port) {
      ask(block.rank, {.span = span, .channel = id, .signal = true, .pushed = from + Costs::us(p.portPush)});
      done(from + Costs::us(p.portPush));
      break;
    }
    Time sent = from;
    if (op.kind == ir::OpKind::Signal)
      sent = std::max(from, block.stores.at < 0 ? from : block.stores.at + Costs::us(p.fence));
    done(sent);
    sendSignal(block, op, id, {sent + Costs::us(p.storeVisible), span});
    break;
  }
  case ir::OpKind::Flush:
    ask(block.rank,
        {.span = span, .channel = id, .position = position, .flush = true, .pushed = from + Costs::us(p.portPush)});
    break;
  default:
    throw ir::InternalError("an operation that no single thread does");
  }
  return from;
}

Walk::Counter &Walk::signals(ir::ChannelType type, ir::ChannelEnd end) {
  return type == ir::ChannelType::Port ? portSignals_[firstPort_[end.rank] + end.channel]
                                       : memorySignals_[firstMemory_[end.rank] + end.channel];
}

void Walk::sendSignal(const Block &block, const ir::Op &op, std::uint32_t channel, Moment sent) {
  if (const auto peer = pairing_.peer(op.channelType, {block.rank, channel}))
    post(signals(op.channelType, *peer), sent);
}

void Walk::take(Counter &counter, const Waiter &waiter) {
  if (counter.come.empty())
    counter.waiting.push(waiter);
  else
    answer(waiter, counter.come.pop());
}

void Walk::post(Counter &counter, Moment moment) {
  if (counter.waiting.empty())
    counter.come.push(moment);
  else
    answer(counter.waiting.pop(), moment);
}

/// One position of a span has what it waited for.
void Walk::answer(const Waiter &waiter, Moment moment) {
  tell(moment.span, waiter.span);
  Span &span = timeline_.spans[waiter.span];
  const Time at = std::max(waiter.from, moment.at);
  Block &block = blockOf(span);
  if (waiter.position < block.threads.size())
    block.threads[waiter.position].raise({at, waiter.span});
  if (at >= span.end) {
    span.end = at;
    span.awaited = moment.at > waiter.from ? moment.span : Span::none;
  }
  if (--pending_[waiter.span] == 0)
    settle(waiter.span);
}

/// The last position of a span is done.
void Walk::settle(std::uint32_t number) {
  const Span &span = timeline_.spans[number];
  Block &block = blockOf(span);
  end(number, span.end);
  if (--block.open == 0 && block.state == Block::Joining)
    at(std::max(now_, block.phase.at), EventKind::Step, firstBlock_[span.rank] + span.block);
}

Cause Walk::boundOf(FluidNetwork::Resource resource) const {
  return resource == FluidNetwork::noResource ? Cause::Issue : costs_.meaning(resource).kind;
}

} // namespace mscclc::passes::time
