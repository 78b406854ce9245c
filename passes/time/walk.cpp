#include "passes/time/walk.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

namespace {
/// True if the operation is a port's put of data or packets. Requires: threads do the operation separately. Other such
/// operations have no destinations.
bool putsByPort(const ir::Op &op) {
  return op.numDsts != 0;
}
} // namespace

Walk::Walk(const ir::ProgramIndex &index, const Costs &costs, FluidNetwork &network, const MessageBytes &bytes,
           WalkOptions options)
    : index_(index), costs_(costs), network_(network), bytes_(bytes), options_(options),
      packets_(index.program, options.folding), begun_(index.numRanks()), credits_(index), meetings_(index),
      proxies_(index.numRanks()) {
  for (std::uint32_t number = 0; number < index_.numBlocks(); ++number) {
    Block block;
    block.number = number;
    blocks_.push_back(std::move(block));
  }
}

Timeline Walk::run() {
  beginBlocks();
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
      goOn();
    }
    // All events of this moment are handled before rates are computed again.
    while (!events_.empty() && events_.top().at <= now_) {
      const Event event = events_.top();
      events_.pop();
      dispatch(event);
      goOn();
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

/// Starts the first blocks of each rank, as many as run at the same time.
void Walk::beginBlocks() {
  const Time launch = Costs::us(costs_.parameters().launch);
  timeline_.end = launch;
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank) {
    const Time packed = launch + costs_.packing(rank, true, options_.free ? nullptr : &bytes_);
    if (packed != launch)
      timeline_.packs = launch;
    for (std::uint64_t held = 0; held < options_.heldAtOnce && begun_[rank] < index_.numBlocks(rank); ++held)
      beginNext(rank, {packed, {}});
  }
}

/// Starts the next block of the rank, if there is one. It takes a place that is free from `from` on.
void Walk::beginNext(std::uint32_t rank, Moment from) {
  if (begun_[rank] == index_.numBlocks(rank))
    return;
  Block &block = blocks_[index_.block(rank, begun_[rank]++)];
  if (!walks(block.number)) {
    block.state = Block::Ended;
    return;
  }
  if (costs_.runner() == Runner::Executor)
    from.at += Costs::us(costs_.parameters().planLoad);
  timeline_.end = std::max(timeline_.end, from.at);
  newPhase(block, from);
  at(from.at, EventKind::Step, block.number);
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
  case EventKind::Ask:
    return asked(event.subject);
  case EventKind::Take:
    return takeRequest(event.subject);
  case EventKind::Transfer:
    return transfer(event.subject);
  }
}

/// Begins a span of the block's current operation.
std::uint32_t Walk::begin(const Block &block, Moment from) {
  Span span;
  span.rank = rankOf(block);
  span.block = index_.idOf(block.number);
  span.op = block.cursor.op();
  span.iteration = static_cast<std::uint32_t>(block.cursor.iteration());
  span.start = span.moving = span.end = from.at;
  span.before = from.by;
  timeline_.spans.push_back(span);
  pending_.push_back(0);
  flowed_.push_back(false);
  return static_cast<std::uint32_t>(timeline_.spans.size() - 1);
}

/// Ends a span in the current phase of its block.
void Walk::end(std::uint32_t number, Time at) {
  Span &span = timeline_.spans[number];
  span.end = at;
  blockOf(span).phase.raise({at, {number}});
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
      const Time unpacking = costs_.packing(rankOf(block), false, options_.free ? nullptr : &bytes_);
      if (end + unpacking >= timeline_.end) {
        timeline_.end = end + unpacking;
        timeline_.unpacking = unpacking;
        timeline_.last = block.phase.by.span;
      }
      beginNext(rankOf(block), {end, block.phase.by});
      return;
    }
    const ir::Op &op = code.ops[block.cursor.op()];
    if (index_.program.split && !block.receives && ir::awaitsOthers(op.kind))
      return receive(block);
    switch (ir::info(op.kind).step) {
    case ir::OpStep::BlockSync:
    case ir::OpStep::Barrier:
      if (!join(block, op))
        return;
      break;
    case ir::OpStep::Give:
    case ir::OpStep::Take:
    case ir::OpStep::Drain:
      actAlone(block, op);
      break;
    case ir::OpStep::Data:
      if (op.channelType != ir::ChannelType::Port) {
        move(block, op);
        return;
      }
      actAlone(block, op);
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

/// Lets all threads of a block meet. Returns true if the block continues at once. Otherwise a later event continues it.
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
  const std::uint32_t span = begin(block, from);
  timeline_.spans[span].bound = Cause::Sync;
  const Time end = from.at + Costs::us(costs_.parameters().blockSync);
  this->end(span, end);
  if (ir::info(op.kind).step == ir::OpStep::Barrier) {
    meet(block, op, span);
    return false;
  }
  newPhase(block, {end, {span}});
  advance(block);
  return true;
}

/// Lets a block of a split program continue in the second kernel, which receives. The block begins there after
/// everything that it has sent, and after the time of a launch. It does not wait for the other blocks of its rank,
/// because they are about equally long.
void Walk::receive(Block &block) {
  if (block.open != 0) {
    block.state = Block::Joining;
    return;
  }
  Moment from = block.issue;
  from.raise(block.phase);
  if (from.at > now_)
    return at(from.at, EventKind::Step, block.number);
  block.receives = true;
  const std::uint32_t span = begin(block, from);
  timeline_.spans[span].bound = Cause::Launch;
  const Time end = from.at + Costs::us(costs_.parameters().launch);
  this->end(span, end);
  newPhase(block, {end, {span}});
  at(end, EventKind::Step, block.number);
}

void Walk::meet(Block &block, const ir::Op &op, std::uint32_t span) {
  const std::uint32_t barrier = index_.barrierOf(rankOf(block), op.imm);
  block.state = Block::AtBarrier;
  const std::uint64_t ticket = meetings_.arrive(barrier, {block.number, span});
  const std::span<const Arrival> all = meetings_.met(barrier, ticket);
  Moment last;
  for (const Arrival &arrival : all)
    last.raise({timeline_.spans[arrival.span].end, {arrival.span}});
  const Time end = last.at + Costs::us(costs_.parameters().barrier);
  for (const Arrival &arrival : all) {
    Block &waiting = blocks_[arrival.block];
    this->end(arrival.span, end);
    if (arrival.span != last.by.span)
      timeline_.spans[arrival.span].awaited = last.by;
    newPhase(waiting, {end, {arrival.span}});
    advance(waiting);
    at(end, EventKind::Step, arrival.block);
  }
}

/// Does an operation that threads do separately. The block continues at once.
void Walk::actAlone(Block &block, const ir::Op &op) {
  const std::uint32_t number = begin(block, block.issue);
  if (block.threads.size() < op.numIds)
    block.threads.resize(op.numIds);
  Span &span = timeline_.spans[number];
  span.parts = static_cast<std::uint32_t>(timeline_.parts.size());
  span.numParts = op.numIds;
  timeline_.parts.resize(timeline_.parts.size() + op.numIds);
  pending_[number] = op.numIds;
  ++block.open;
  const Time fenced = block.stored < 0 ? 0 : block.stored + costs_.fence(block.unfenced);
  block.fenced |= op.kind == ir::OpKind::Signal;
  for (std::uint32_t i = 0; i < op.numIds; ++i) {
    Act next{.self = {number, i}, .issue = block.issue, .fenced = fenced, .put = {}};
    // The cost is computed here, because the block may have left its pipeline when the thread or the proxy reaches the
    // operation.
    if (putsByPort(op))
      next.put = costs_.put(rankOf(block), code(block), op, i, header(block), block.cursor.iteration(), bytes_);
    Thread &thread = block.threads[i];
    if (thread.waits || thread.later) {
      block.later[i].push(std::move(next));
      thread.later = true;
    } else {
      act(next);
    }
  }
  if (op.numIds == 0)
    settle(number);
  advance(block);
}

/// Lets a thread do its part of an operation.
void Walk::act(const Act &act) {
  const Span &span = timeline_.spans[act.self.span];
  Block &block = blockOf(span);
  Thread &thread = block.threads[act.self.thread];
  const Moment from = thread.free.at > act.issue.at ? thread.free : act.issue;
  thread.waits = true;
  ThreadPart &part = timeline_.parts[span.parts + act.self.thread];
  part.start = part.end = from.at;
  part.before = from.by;
  const ir::Op &op = code(block).ops[span.op];
  if (putsByPort(op))
    push(act, op, from.at);
  else
    synchronise(act, op, from.at);
}

void Walk::synchronise(const Act &act, const ir::Op &op, Time from) {
  const MachineParameters &p = costs_.parameters();
  const Block &block = blockOf(timeline_.spans[act.self.span]);
  const std::uint32_t rank = rankOf(block), id = code(block).idsOf(op)[act.self.thread];
  switch (ir::info(op.kind).step) {
  case ir::OpStep::Take:
    take(index_.queue(rank, op, id), act.self);
    return;
  case ir::OpStep::Give: {
    if (ir::isSemaphoreOp(op.kind)) {
      answer(act.self, {from, {}});
      post(rank, op, id, {from + Costs::us(p.barrier), act.self});
      return;
    }
    if (op.channelType == ir::ChannelType::Port) {
      const Time pushed = from + Costs::us(p.portPush);
      ask({.asker = act.self, .rank = rank, .channel = id, .signal = true, .pushed = pushed, .cost = {}});
      answer(act.self, {pushed, {}});
      return;
    }
    // A relaxed signal does not wait for earlier stores.
    const Time sent = op.kind == ir::OpKind::Signal ? std::max(from, act.fenced) : from;
    answer(act.self, {sent, {}});
    post(rank, op, id, {sent + Costs::us(p.storeVisible), act.self});
    return;
  }
  case ir::OpStep::Drain:
    ask({.asker = act.self,
         .rank = rank,
         .channel = id,
         .flush = true,
         .pushed = from + Costs::us(p.portPush),
         .cost = {}});
    return;
  case ir::OpStep::BlockSync:
  case ir::OpStep::Barrier:
  case ir::OpStep::Data:
  case ir::OpStep::Loop:
    throw ir::InternalError("an operation that no single thread does");
  }
}

void Walk::take(std::uint32_t queue, SpanPart waiter) {
  if (const std::optional<Moment> credit = credits_.take(queue))
    answer(waiter, *credit);
  else
    waiting_[queue].push(waiter);
}

/// Gives a signal or release to the operation's id `id`. It ends a wait at `moment`, or is added to the queue. Does
/// nothing if the channel has no other end, because then nobody waits.
void Walk::post(std::uint32_t rank, const ir::Op &op, std::uint32_t id, Moment moment) {
  std::uint32_t queue = ir::none;
  if (options_.folding.ranks && !ir::isSemaphoreOp(op.kind)) {
    // By symmetry, when rank 0 signals another rank, some rank signals rank 0. So the signal is delivered to rank 0
    // itself.
    const std::uint32_t end = (*options_.otherEnds)[op.channelType == ir::ChannelType::Port][id];
    if (end != ir::none)
      queue = index_.channel(op.channelType, 0, end);
  } else {
    queue = index_.queue(rank, op, id);
  }
  if (queue == ir::none)
    return;
  const auto waiting = waiting_.find(queue);
  if (waiting == waiting_.end())
    return credits_.give(queue, moment);
  const SpanPart first = pop(waiting->second);
  if (waiting->second.empty())
    waiting_.erase(waiting);
  answer(first, moment);
}

/// Completes a thread's part of a span, at `moment` or when the thread reached the part, whichever is later.
void Walk::answer(SpanPart waiter, Moment moment) {
  tell(moment.by.span, waiter.span);
  const Span &span = timeline_.spans[waiter.span];
  ThreadPart &part = timeline_.parts[span.parts + waiter.thread];
  if (moment.at > part.start) {
    part.end = moment.at;
    part.awaited = moment.by;
  }
  Block &block = blockOf(span);
  Thread &thread = block.threads[waiter.thread];
  thread.waits = false;
  thread.free = {part.end, waiter};
  if (thread.later)
    free_.push({block.number, waiter.thread});
  if (--pending_[waiter.span] == 0)
    settle(waiter.span);
}

/// Lets each thread continue whose part has been completed. answer() leaves this to goOn(), because one completion may
/// lead to the next without end, and recursion would be too deep.
void Walk::goOn() {
  while (!free_.empty()) {
    const FreeThread next = pop(free_);
    Block &block = blocks_[next.block];
    const auto later = block.later.find(next.thread);
    const Act first = pop(later->second);
    if (later->second.empty()) {
      block.later.erase(later);
      block.threads[next.thread].later = false;
    }
    act(first);
  }
}

/// Ends a span when its last part has been completed.
void Walk::settle(std::uint32_t number) {
  Span &span = timeline_.spans[number];
  Block &block = blockOf(span);
  const auto parts = std::span(timeline_.parts).subspan(span.parts, span.numParts);
  for (const ThreadPart &part : parts) {
    const bool first = &part == parts.data();
    span.moving = first ? part.start : std::min(span.moving, part.start);
    span.end = std::max(first ? part.end : span.end, part.end);
  }
  end(number, span.end);
  if (--block.open == 0 && block.state == Block::Joining)
    at(std::max(now_, block.phase.at), EventKind::Step, block.number);
}

Cause Walk::boundOf(FluidNetwork::Resource resource) const {
  return resource == FluidNetwork::noResource ? Cause::Issue : costs_.meaning(resource).kind;
}

} // namespace mscclc::passes::time
