#include "passes/verify/checked_run.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

CheckedRun::CheckedRun(const ProgramIndex &index, const Geometry &geometry, const Premises &premises,
                       const ThreadRoles &roles, Memory &memory, Order &order, Values &values, RunListener &listener)
    : CellChecks(index, geometry, memory), premises_(premises), roles_(roles), elements_(index, geometry, memory),
      order_(order), values_(values), listener_(listener), operandIndex_(index.numBlocks()) {}

void CheckedRun::launchBegins() {
  for (const auto &[queue, parties] : premises_.allShared()) {
    SharedQueue &shared = shared_[queue];
    if (control_.launch() == 0)
      shared.initial = control_.initial(queue);
    shared.sent.assign(parties.signallers.size(), {});
    shared.taken.assign(parties.waiters.size(), 0);
    shared.numTaken = 0;
    shared.lastBlock = shared.lastSender = none;
    shared.inTurn.clear();
    shared.received.assign(parties.waiters.size(), 0);
  }
  for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
    forgetThreadWaits(b);
  packetClocks_.clear();
  data_.beginLaunch();
  if (control_.launch() == 0)
    writeInputs();
  order_.beginLaunch();
}

void CheckedRun::endsPhase(std::uint32_t b) {
  order_.endPhase(b);
  forgetThreadWaits(b);
}

void CheckedRun::meet(std::span<const std::uint32_t> blocks) {
  order_.barrier(blocks);
  for (const std::uint32_t b : blocks)
    forgetThreadWaits(b);
}

void CheckedRun::forgetThreadWaits(std::uint32_t b) {
  if (roles_.relays(b))
    threadWaits_[b].clear();
}

/// Returns the waits of `thread` in its block's current phase. Returns null if there are none, or if no thread of the
/// block relays (ThreadRoles).
CheckedRun::ThreadWaits *CheckedRun::waitsOf(std::uint32_t b, std::uint32_t thread) {
  if (!roles_.relays(b))
    return nullptr;
  std::vector<ThreadWaits> &all = threadWaits_[b];
  const auto it = std::ranges::find(all, thread, &ThreadWaits::thread);
  return it == all.end() ? nullptr : &*it;
}

/// Returns the knowledge of `thread` in the current phase: that of its block, and that from the thread's own `waits`.
View CheckedRun::threadView(std::uint32_t b, std::uint32_t thread, const ThreadWaits *waits) const {
  View view = order_.view(b);
  view.thread = thread;
  if (waits)
    view.besides = waits->clocks;
  return view;
}

std::uint32_t CheckedRun::gives(std::uint32_t b, const ir::Op &op, std::uint32_t thread, std::uint32_t queue) {
  const bool isPort = op.channelType == ir::ChannelType::Port;
  const std::uint32_t port =
      isPort ? index_.channel(op.channelType, index_.rankOf(b), index_.ops(b).idsOf(op)[thread]) : none;
  const Sent sent = sendOf(b, thread, kindOf(op.kind == ir::OpKind::RelaxedSignal), port);
  if (const SharedSync *parties = premises_.shared(queue)) {
    giveShared(b, queue, *parties, sent);
    return none;
  }
  if (freeSent_.empty()) {
    sent_.push_back(sent);
    return static_cast<std::uint32_t>(sent_.size() - 1);
  }
  const std::uint32_t message = freeSent_.back();
  freeSent_.pop_back();
  sent_[message] = sent;
  return message;
}

/// Returns the message that `thread` sends in its block's current operation. `portChannel` is the channel if it is a
/// port's, else `none`.
CheckedRun::Sent CheckedRun::sendOf(std::uint32_t b, std::uint32_t thread, MessageKind kind,
                                    std::uint32_t portChannel) {
  const ThreadRoles::Turn *turn = roles_.turn(b, control_.at(b).op(), thread);
  if (!turn) {
    ThreadWaits *waits = waitsOf(b, thread);
    const View view = threadView(b, thread, waits);
    if (waits && waits->inNode != waits->clocks.size()) {
      waits->node = order_.nodeOf(std::span(waits->clocks).subspan(waits->inNode), waits->node);
      waits->inNode = static_cast<std::uint32_t>(waits->clocks.size());
    }
    Sent sent{order_.send(b, kind, view.besides, waits ? waits->node : none)};
    if (portChannel != none)
      sent.covers = order_.putsCovered(portChannel, view);
    if (waits)
      sent.relayed = waits->covers;
    return sent;
  }
  // Several threads send to one counter in this phase, in any order. Only the last send shows that all of them were
  // made. Before it, only the contents that all sends have in common are certain.
  const bool last = turn->number == turn->of;
  Sent sent{order_.send(b, kindOf(last ? turn->allRelaxed : turn->anyRelaxed))};
  if (portChannel == none)
    return sent;
  if (!last)
    sent.covers = order_.putsCovered(portChannel, order_.view(b));
  else
    for (const std::uint32_t each : turn->threads)
      sent.covers = order_.putsCovered(portChannel, threadView(b, each), sent.covers);
  return sent;
}

void CheckedRun::flushes(std::uint32_t b, const ir::Op &op) {
  const auto ids = index_.ops(b).idsOf(op);
  for (std::uint32_t thread = 0; thread < ids.size(); ++thread) {
    const std::uint32_t channel = index_.channel(op.channelType, index_.rankOf(b), ids[thread]);
    order_.flushed(order_.putsCovered(channel, threadView(b, thread)), b);
  }
}

namespace {
std::size_t partyOf(const std::vector<SharedSync::Party> &parties, std::uint32_t block) {
  const auto it = std::ranges::find(parties, block, &SharedSync::Party::block);
  return static_cast<std::size_t>(it - parties.begin());
}
} // namespace

void CheckedRun::giveShared(std::uint32_t b, std::uint32_t queue, const SharedSync &parties, const Sent &sent) {
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
}

void CheckedRun::takes(std::uint32_t b, const ir::Op &op, std::uint32_t thread, std::uint32_t queue,
                       std::uint32_t message) {
  const MessageKind kind = kindOf(op.kind == ir::OpKind::RelaxedWait);
  if (const SharedSync *parties = premises_.shared(queue))
    return takeShared(b, queue, *parties, [&](const Sent &sent) { takeOne(b, thread, queue, kind, sent); });
  takeOne(b, thread, queue, kind, message == none ? Sent() : sent_[message]);
  if (message != none)
    freeSent_.push_back(message);
}

void CheckedRun::takeOne(std::uint32_t b, std::uint32_t thread, std::uint32_t queue, MessageKind kind,
                         const Sent &sent) {
  order_.receive(b, sent.clock, kind);
  order_.completed(sent.covers, b, thread);
  order_.relayed(sent.relayed, b, thread);
  if (!roles_.relays(b) || sent.clock.agent == none || roles_.acquiredTogether(b, queue))
    return;
  MessageClock clock = sent.clock;
  clock.kind = std::max<MessageKind>(clock.kind, kind);
  ThreadWaits *waits = waitsOf(b, thread);
  if (!waits)
    waits = &threadWaits_[b].emplace_back(thread);
  waits->clocks.push_back(clock);
  waits->covers = waits->covers == none ? sent.relayed : order_.joinCovers(sent.relayed, waits->covers);
  waits->covers = order_.joinCovers(sent.covers, waits->covers);
}

/// Lets a wait take signals from a shared queue. Wait n passes after n signals. If blocks signal in turn, these are the
/// first n signals. Otherwise they may be the signals of any sender. Then a sender's signals are certain only if all
/// other senders together have too few signals to replace them. Blocks wait on a channel in turn, so all their waits
/// are counted together. On a semaphore, any block may be the first, so each block counts only its own acquires.
template <typename Take>
void CheckedRun::takeShared(std::uint32_t b, std::uint32_t queue, const SharedSync &parties, const Take &take) {
  SharedQueue &shared = shared_[queue];
  const std::uint64_t initial = shared.initial;
  ++shared.numTaken;
  if (queue < index_.numChannels())
    checkTurn(b, shared, queue);
  const std::size_t waiter = partyOf(parties.waiters, b);
  const std::uint64_t own = ++shared.taken[waiter];
  const std::uint64_t number = queue < index_.numChannels() ? shared.numTaken : own;
  if (!noTurns_.contains(queue)) {
    for (std::uint64_t &received = shared.received[waiter]; received + initial < number; ++received) {
      const SharedQueue::Signal &signal = shared.inTurn[received];
      take(shared.sent[signal.signaller][signal.number]);
    }
    return;
  }
  std::uint64_t total = 0;
  for (const SharedSync::Party &p : parties.signallers)
    total += p.count;
  for (std::size_t i = 0; i < parties.signallers.size(); ++i) {
    const std::uint64_t others = total - parties.signallers[i].count + initial;
    if (number > others)
      take(shared.sent[i][number - others - 1]);
  }
}

/// Checks that the blocks that wait on a channel take turns. They must do so, because a block counts its own waits
/// there, and does not see those of another block.
void CheckedRun::checkTurn(std::uint32_t b, SharedQueue &shared, std::uint32_t queue) {
  const View now = order_.view(b);
  if (shared.lastBlock != none && shared.lastBlock != b &&
      !order_.known(shared.lastBlock, shared.lastPhase, now, Relation::HappensBefore))
    listener_.waitsNotOrdered(queue, index_.place(shared.lastBlock, shared.lastOp),
                              index_.place(b, control_.at(b).op()));
  shared.lastBlock = b;
  shared.lastPhase = now.phase;
  shared.lastOp = control_.at(b).op();
}

} // namespace mscclc::passes::proof
