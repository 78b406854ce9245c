#include "passes/time/walk.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

Walk::Walk(const ir::Program &program, const Costs &costs, FluidNetwork &network, const MessageBytes &bytes,
           WalkOptions options)
    : index_(program), costs_(costs), network_(network), bytes_(bytes), options_(options), packets_(program),
      credits_(index_), waiting_(index_.numQueues()), meetings_(index_), proxies_(index_.numRanks()),
      connections_(index_.numChannels()) {
  for (std::uint32_t number = 0; number < index_.numBlocks(); ++number) {
    Block block;
    block.number = number;
    block.stores.at = -1;
    blocks_.push_back(std::move(block));
  }
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
  span.rank = rankOf(block);
  span.block = index_.idOf(block.number);
  span.op = block.cursor.op();
  span.iteration = static_cast<std::uint32_t>(block.cursor.iteration());
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
  return block.cursor.inLoop() ? &code(block).ops[block.cursor.header()] : nullptr;
}

std::uint64_t Walk::iterations(const ir::Op &header) const {
  return std::min(bytes_.iterations(header), options_.mostIterations);
}

void Walk::advance(Block &block) {
  block.cursor.next(code(block));
  if (costs_.runner() == Runner::Executor)
    block.issue.at += Costs::us(costs_.parameters().decode);
}

void Walk::step(std::uint32_t number) {
  Block &block = blocks_[number];
  const ir::ThreadBlock &code = this->code(block);
  block.state = Block::Running;
  for (;;) {
    if (!block.cursor.settle(code, [&](const ir::Op &header) { return iterations(header); })) {
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
    const ir::Op &op = code.ops[block.cursor.op()];
    switch (ir::info(op.kind).step) {
    case ir::OpStep::BlockSync:
    case ir::OpStep::Barrier:
      if (!join(block, op))
        return;
      break;
    case ir::OpStep::Give:
    case ir::OpStep::Take:
    case ir::OpStep::Drain:
      synchronise(block, op);
      advance(block);
      break;
    case ir::OpStep::Data:
      if (op.channelType != ir::ChannelType::Port) {
        move(block, op);
        return;
      }
      push(block, op);
      advance(block);
      break;
    case ir::OpStep::Loop:
      throw ir::InternalError("a pipeline's header does not run");
    }
    if (block.issue.at > now_) {
      at(block.issue.at, EventKind::Step, number);
      return;
    }
  }
}

/// All threads meet. True if the block goes on at once; else it is stepped again.
bool Walk::join(Block &block, const ir::Op &op) {
  if (block.open != 0) {
    block.state = Block::Joining;
    return false;
  }
  Moment from = block.issue;
  from.raise(block.phase);
  if (from.at > now_) {
    at(from.at, EventKind::Step, block.number);
    return false;
  }
  const std::uint32_t span = begin(block, from.at, from.span);
  timeline_.spans[span].bound = Cause::Sync;
  const Time end = from.at + Costs::us(costs_.parameters().blockSync);
  this->end(span, end);
  if (ir::info(op.kind).step == ir::OpStep::Barrier) {
    meet(block, op, span);
    return false;
  }
  newPhase(block, {end, span});
  advance(block);
  return true;
}

void Walk::meet(Block &block, const ir::Op &op, std::uint32_t span) {
  const std::uint32_t barrier = index_.barrierOf(rankOf(block), op.imm);
  block.state = Block::AtBarrier;
  const std::uint64_t ticket = meetings_.arrive(barrier, {block.number, span});
  const std::span<const Arrival> all = meetings_.met(barrier, ticket);
  Moment last;
  for (const Arrival &arrival : all)
    last.raise({timeline_.spans[arrival.span].end, arrival.span});
  const Time end = last.at + Costs::us(costs_.parameters().barrier);
  for (const Arrival &arrival : all) {
    Block &waiting = blocks_[arrival.block];
    this->end(arrival.span, end);
    if (arrival.span != last.span)
      timeline_.spans[arrival.span].awaited = last.span;
    newPhase(waiting, {end, arrival.span});
    advance(waiting);
    at(end, EventKind::Step, arrival.block);
  }
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
void Walk::synchroniseAt(Block &block, const ir::Op &op, std::uint32_t span, std::uint32_t position, Time from) {
  const MachineParameters &p = costs_.parameters();
  const std::uint32_t rank = rankOf(block), id = code(block).idsOf(op)[position];
  const Waiter waiter{span, position, from};
  const auto done = [&](Time at) { answer(waiter, {at, Span::none}); };
  switch (ir::info(op.kind).step) {
  case ir::OpStep::Take:
    take(index_.queue(rank, op, id), waiter);
    return;
  case ir::OpStep::Give: {
    if (ir::isSemaphoreOp(op.kind)) {
      done(from);
      post(index_.queue(rank, op, id), {from + Costs::us(p.barrier), span});
      return;
    }
    if (op.channelType == ir::ChannelType::Port) {
      const Time pushed = from + Costs::us(p.portPush);
      ask(rank, {.span = span, .channel = id, .signal = true, .pushed = pushed});
      done(pushed);
      return;
    }
    // A relaxed signal does not wait for what was stored.
    const bool fences = op.kind == ir::OpKind::Signal && block.stores.at >= 0;
    const Time sent = fences ? std::max(from, block.stores.at + Costs::us(p.fence)) : from;
    done(sent);
    post(index_.queue(rank, op, id), {sent + Costs::us(p.storeVisible), span});
    return;
  }
  case ir::OpStep::Drain:
    ask(rank,
        {.span = span, .channel = id, .position = position, .flush = true, .pushed = from + Costs::us(p.portPush)});
    return;
  case ir::OpStep::BlockSync:
  case ir::OpStep::Barrier:
  case ir::OpStep::Data:
  case ir::OpStep::Loop:
    throw ir::InternalError("an operation that no single thread does");
  }
}

void Walk::take(std::uint32_t queue, const Waiter &waiter) {
  if (const std::optional<Moment> credit = credits_.take(queue))
    answer(waiter, *credit);
  else
    waiting_[queue].push(waiter);
}

/// Nothing through a channel without a pair, which nobody waits on.
void Walk::post(std::uint32_t queue, Moment moment) {
  if (queue == ir::none)
    return;
  if (waiting_[queue].empty())
    credits_.give(queue, moment);
  else
    answer(waiting_[queue].pop(), moment);
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
    at(std::max(now_, block.phase.at), EventKind::Step, block.number);
}

Cause Walk::boundOf(FluidNetwork::Resource resource) const {
  return resource == FluidNetwork::noResource ? Cause::Issue : costs_.meaning(resource).kind;
}

} // namespace mscclc::passes::time
