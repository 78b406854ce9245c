#include "passes/verify/machine.h"

#include "ir/internal_error.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

Machine::Machine(const ProgramIndex &index, const Geometry &geometry, const Premises &premises,
                 const ThreadRoles &roles, Memory &memory, Order &order, Values &values, MachineListener &listener)
    : index_(index), geometry_(geometry), premises_(premises), roles_(roles), memory_(memory),
      elements_(index, geometry, memory), order_(order), values_(values), listener_(listener),
      blocks_(index.numBlocks()), queues_(index), waiters_(index.numQueues(), none), meetings_(index),
      begun_(index.numRanks()), operandIndex_(index.numBlocks()) {
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].code = &index.ops(b);
    blocks_[b].rank = index.rankOf(b);
  }
}

bool Machine::runLaunch() {
  for (const auto &[queue, parties] : premises_.allShared()) {
    SharedQueue &shared = shared_[queue];
    shared.sent.assign(parties.signallers.size(), {});
    shared.taken.assign(parties.waiters.size(), 0);
    shared.numSent = shared.numTaken = 0;
    shared.lastBlock = shared.lastSender = none;
    shared.inTurn.clear();
    shared.told.assign(parties.waiters.size(), 0);
  }
  ready_.clear();
  firstReady_ = 0;
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].at = {};
    forgetThreadWaits(b);
  }
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank) {
    begun_[rank] = 0;
    for (std::uint64_t slot = 0; slot < std::min<std::uint64_t>(heldAtOnce_, index_.numBlocks(rank)); ++slot)
      beginNext(rank);
  }
  return runReady();
}

bool Machine::runTheRest() {
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank)
    while (begun_[rank] < index_.numBlocks(rank))
      beginNext(rank);
  return runReady();
}

void Machine::beginNext(std::uint32_t rank) {
  ready_.push_back(index_.block(rank, begun_[rank]++));
}

bool Machine::runReady() {
  while (firstReady_ < ready_.size()) {
    const std::uint32_t b = ready_[firstReady_++];
    if (firstReady_ == ready_.size()) {
      ready_.clear();
      firstReady_ = 0;
    }
    run(b);
  }
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    if (!finished(b))
      return false;
  packetClocks_.clear();
  return true;
}

void Machine::run(std::uint32_t b) {
  BlockState &s = blocks_[b];
  while (s.at.settle(*s.code, [&](const ir::Op &header) { return geometry_.iterations(header); })) {
    const ir::Op &op = s.code->ops[s.at.op()];
    if (!s.entered) {
      s.entered = true;
      s.step = 0;
      if (s.at.inLoop() && s.at.op() == s.at.header() + 1)
        s.slice = geometry_.slice(s.code->ops[s.at.header()], static_cast<std::uint32_t>(s.at.iteration()));
      if (ir::has(op.sync, ir::DataSync::Before))
        endPhase(b);
    }
    if (!execute(b, op))
      return;
    ++counts_.operations;
    if (ir::has(op.sync, ir::DataSync::After))
      endPhase(b);
    s.entered = false;
    s.waiting = {};
    s.at.next(*s.code);
  }
  if (begun_[s.rank] < index_.numBlocks(s.rank))
    beginNext(s.rank);
}

bool Machine::execute(std::uint32_t b, const ir::Op &op) {
  switch (ir::info(op.kind).step) {
  case ir::OpStep::BlockSync:
    endPhase(b);
    return true;
  case ir::OpStep::Barrier:
    return barrier(b, op);
  case ir::OpStep::Take:
    return waitAll(b, op);
  case ir::OpStep::Give:
    signalAll(b, op, op.kind == ir::OpKind::RelaxedSignal);
    return true;
  case ir::OpStep::Drain:
    flushAll(b, op);
    return true;
  case ir::OpStep::Data:
    return data(b, op);
  case ir::OpStep::Loop:
    break; // run() enters and leaves it
  }
  throw ir::InternalError("an operation that no block can do: " + std::string(ir::toString(op.kind)));
}

void Machine::endPhase(std::uint32_t b) {
  order_.endPhase(b);
  forgetThreadWaits(b);
}

void Machine::forgetThreadWaits(std::uint32_t b) {
  if (roles_.relays(b))
    threadWaits_[b].clear();
}

/// What `thread` of a block that relays has waited for in the present phase; null if nothing.
Machine::ThreadWaits *Machine::waitsOf(std::uint32_t b, std::uint32_t thread) {
  if (!roles_.relays(b))
    return nullptr;
  std::vector<ThreadWaits> &all = threadWaits_[b];
  const auto it = std::ranges::find(all, thread, &ThreadWaits::thread);
  return it == all.end() ? nullptr : &*it;
}

/// What `thread` knows in the present phase: beside what its block does, what it waited for itself, `waits`.
View Machine::threadView(std::uint32_t b, std::uint32_t thread, const ThreadWaits *waits) const {
  View view = order_.view(b);
  view.thread = thread;
  if (waits)
    view.besides = waits->clocks;
  return view;
}

void Machine::signalAll(std::uint32_t b, const ir::Op &op, bool relaxed) {
  BlockState &s = blocks_[b];
  const auto ids = s.code->idsOf(op);
  for (std::uint32_t thread = 0; thread < ids.size(); ++thread) {
    const bool isPort = op.channelType == ir::ChannelType::Port;
    const std::uint32_t port = isPort ? index_.channel(op.channelType, s.rank, ids[thread]) : none;
    signal(b, index_.queue(s.rank, op, ids[thread]), sendOf(b, thread, relaxed, port));
  }
}

/// What `thread` sends in the operation at which its block is. `portChannel`: through it, if it is a port's.
Machine::Sent Machine::sendOf(std::uint32_t b, std::uint32_t thread, bool relaxed, std::uint32_t portChannel) {
  const ThreadRoles::Turn *turn = roles_.turn(b, blocks_[b].at.op(), thread);
  if (!turn) {
    ThreadWaits *waits = waitsOf(b, thread);
    const View view = threadView(b, thread, waits);
    if (waits && waits->inNode != waits->clocks.size()) {
      waits->node = order_.nodeOf(std::span(waits->clocks).subspan(waits->inNode), waits->node);
      waits->inNode = static_cast<std::uint32_t>(waits->clocks.size());
    }
    Sent sent{order_.send(b, relaxed, view.besides, waits ? waits->node : none)};
    if (portChannel != none)
      sent.covers = order_.putsCovered(portChannel, view);
    if (waits)
      sent.relayed = waits->covers;
    return sent;
  }
  // Any of the sends of the phase may come first: until the last has come, only what all of them tell is certain.
  const bool last = turn->number == turn->of;
  Sent sent{order_.send(b, last ? turn->allRelaxed : turn->anyRelaxed)};
  if (portChannel == none)
    return sent;
  if (!last)
    sent.covers = order_.putsCovered(portChannel, order_.view(b));
  else
    for (const std::uint32_t each : turn->threads)
      sent.covers = order_.putsCovered(portChannel, threadView(b, each), sent.covers);
  return sent;
}

void Machine::flushAll(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  const auto ids = s.code->idsOf(op);
  for (std::uint32_t thread = 0; thread < ids.size(); ++thread)
    order_.flushed(order_.putsCovered(index_.channel(op.channelType, s.rank, ids[thread]), threadView(b, thread)), b);
}

void Machine::signal(std::uint32_t b, std::uint32_t queue, const Sent &sent) {
  ++counts_.syncs;
  if (const SharedSync *parties = premises_.shared(queue))
    signalShared(b, queue, *parties, sent);
  else
    queues_.give(queue, sent);
  wake(waiters_[queue]);
}

namespace {
std::size_t partyOf(const std::vector<SharedSync::Party> &parties, std::uint32_t block) {
  const auto it = std::ranges::find(parties, block, &SharedSync::Party::block);
  return static_cast<std::size_t>(it - parties.begin());
}
} // namespace

void Machine::signalShared(std::uint32_t b, std::uint32_t queue, const SharedSync &parties, const Sent &sent) {
  SharedQueue &shared = shared_[queue];
  const std::size_t party = partyOf(parties.signallers, b);
  const View now = order_.view(b);
  if (shared.lastSender != none && shared.lastSender != b &&
      !order_.known(shared.lastSender, shared.lastSendPhase, now, Relation::HappensBefore) && !noTurns_.contains(queue))
    outOfTurn_.insert(queue);
  shared.lastSender = b;
  shared.lastSendPhase = now.phase;
  shared.inTurn.push_back({static_cast<std::uint32_t>(party), static_cast<std::uint32_t>(shared.sent[party].size())});
  shared.sent[party].push_back(sent);
  ++shared.numSent;
}

bool Machine::waitAll(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  const auto ids = s.code->idsOf(op);
  const bool semaphore = op.kind == ir::OpKind::SemAcquire;
  for (; s.step < ids.size(); ++s.step) {
    const std::uint32_t queue = index_.queue(s.rank, op, ids[s.step]);
    if (!wait(b, s.step, queue, op.kind == ir::OpKind::RelaxedWait)) {
      block(b, waiters_[queue], semaphore ? Waiting::Semaphore : Waiting::Channel,
            semaphore ? index_.semaphore(s.rank, ids[s.step]) : queue);
      return false;
    }
  }
  return true;
}

bool Machine::wait(std::uint32_t b, std::uint32_t thread, std::uint32_t queue, bool relaxed) {
  const auto take = [&](const Sent &sent) {
    order_.receive(b, sent.clock, relaxed);
    order_.completed(sent.covers, b, thread);
    order_.relayed(sent.relayed, b, thread);
    if (!roles_.relays(b) || sent.clock.agent == none || roles_.acquiredTogether(b, queue))
      return;
    MessageClock clock = sent.clock;
    clock.weak |= relaxed;
    ThreadWaits *waits = waitsOf(b, thread);
    if (!waits)
      waits = &threadWaits_[b].emplace_back(thread);
    waits->clocks.push_back(clock);
    waits->covers = waits->covers == none ? sent.relayed : order_.joinCovers(sent.relayed, waits->covers);
    waits->covers = order_.joinCovers(sent.covers, waits->covers);
  };
  if (const SharedSync *parties = premises_.shared(queue))
    return waitShared(b, queue, *parties, take);
  const std::optional<Sent> sent = queues_.take(queue);
  if (sent)
    take(*sent);
  return sent.has_value();
}

/// The n-th wait passes once n signals came. Where blocks signal in turns, these are the first n; else, whoever sent
/// them, of each sender only what all others together cannot make up for is certain. Blocks take turns waiting on a
/// channel; of a semaphore any may be the first, and knows only how often it acquired it itself.
template <typename Take>
bool Machine::waitShared(std::uint32_t b, std::uint32_t queue, const SharedSync &parties, const Take &take) {
  SharedQueue &shared = shared_[queue];
  const std::uint64_t initial = queues_.initial(queue);
  if (shared.numSent + initial <= shared.numTaken)
    return false;
  ++shared.numTaken;
  if (queue < index_.numChannels())
    checkTurn(b, shared, queue);
  const std::size_t waiter = partyOf(parties.waiters, b);
  const std::uint64_t own = ++shared.taken[waiter];
  const std::uint64_t number = queue < index_.numChannels() ? shared.numTaken : own;
  if (!noTurns_.contains(queue)) {
    for (std::uint64_t &told = shared.told[waiter]; told + initial < number; ++told) {
      const SharedQueue::Place &place = shared.inTurn[told];
      take(shared.sent[place.signaller][place.number]);
    }
    return true;
  }
  std::uint64_t total = 0;
  for (const SharedSync::Party &p : parties.signallers)
    total += p.count;
  for (std::size_t i = 0; i < parties.signallers.size(); ++i) {
    const std::uint64_t others = total - parties.signallers[i].count + initial;
    if (number > others)
      take(shared.sent[i][number - others - 1]);
  }
  return true;
}

/// A block counts its waits on a channel without looking whether another one does: they must take turns.
void Machine::checkTurn(std::uint32_t b, SharedQueue &shared, std::uint32_t queue) {
  const View now = order_.view(b);
  if (shared.lastBlock != none && shared.lastBlock != b &&
      !order_.known(shared.lastBlock, shared.lastPhase, now, Relation::HappensBefore))
    listener_.waitsNotOrdered(queue, index_.place(shared.lastBlock, shared.lastOp),
                              index_.place(b, blocks_[b].at.op()));
  shared.lastBlock = b;
  shared.lastPhase = now.phase;
  shared.lastOp = blocks_[b].at.op();
}

bool Machine::barrier(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  const std::uint32_t number = index_.barrierOf(s.rank, op.imm);
  if (s.waiting.kind == Waiting::Barrier) // let through by the last one
    return true;
  s.waiting = {Waiting::Barrier, number};
  const std::span<const std::uint32_t> met = meetings_.met(number, meetings_.arrive(number, b));
  if (met.empty())
    return false;
  order_.barrier(met);
  for (const std::uint32_t other : met) {
    forgetThreadWaits(other);
    if (other != b)
      ready_.push_back(other);
  }
  return true;
}

void Machine::block(std::uint32_t b, std::uint32_t &waiters, Waiting::Kind kind, std::uint32_t id) {
  blocks_[b].waiting = {kind, id};
  blocks_[b].nextWaiter = waiters;
  waiters = b;
}

void Machine::wake(std::uint32_t &waiters) {
  while (waiters != none) {
    const std::uint32_t b = waiters;
    waiters = blocks_[b].nextWaiter;
    blocks_[b].nextWaiter = none;
    ready_.push_back(b);
  }
}

} // namespace mscclc::passes::proof
