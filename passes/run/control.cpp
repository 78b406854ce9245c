#include "passes/run/control.h"

#include "ir/collectives.h"
#include "ir/internal_error.h"
#include "ir/op_semantics.h"
#include "passes/phases.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes::proof {

Control::Control(const ProgramIndex &index, const Geometry &geometry, ControlEvents &events)
    : index_(index), geometry_(geometry), events_(events), blocks_(index.numBlocks()), queues_(index),
      waiters_(index.numQueues(), none), isHeld_(index.numQueues()), meetings_(index), begun_(index.numRanks()) {
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].code = &index.ops(b);
    blocks_[b].rank = index.rankOf(b);
  }
}

void Control::beginLaunch() {
  for (std::uint32_t r = 0; ir::hasUser(index_.program.collective.kind) && r < index_.numRanks(); ++r) {
    if (launch_ <= 1)
      events_.userOverwrites(r);
    events_.meetRank(r);
  }
  events_.launchBegins();
}

void Control::endLaunch() {
  for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
    events_.meetRank(r);
    events_.launchEnds(r);
    if (!ir::hasUser(index_.program.collective.kind))
      continue;
    if (launch_ == 0)
      events_.userReads(r);
    events_.meetRank(r);
  }
  ++launch_;
}

bool Control::runLaunch() {
  ready_.clear();
  firstReady_ = 0;
  for (BlockState &s : blocks_)
    s.at = {};
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank) {
    begun_[rank] = 0;
    for (std::uint64_t slot = 0; slot < std::min<std::uint64_t>(heldAtOnce_, index_.numBlocks(rank)); ++slot)
      beginNext(rank);
  }
  return runReady();
}

bool Control::runTheRest() {
  for (std::uint32_t rank = 0; rank < index_.numRanks(); ++rank)
    while (begun_[rank] < index_.numBlocks(rank))
      beginNext(rank);
  return runReady();
}

void Control::beginNext(std::uint32_t rank) {
  ready_.push_back(index_.block(rank, begun_[rank]++));
}

bool Control::runReady() {
  while (!isStopped_ && firstReady_ < ready_.size()) {
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
  return true;
}

void Control::run(std::uint32_t b) {
  BlockState &s = blocks_[b];
  while (s.at.settle(*s.code, [&](const ir::Op &header) { return geometry_.iterations(header); })) {
    const ir::Op &op = s.code->ops[s.at.op()];
    if (!s.entered) {
      s.entered = true;
      s.step = 0;
      if (s.at.inLoop() && s.at.op() == s.at.header() + 1)
        s.slice = geometry_.slice(s.code->ops[s.at.header()], static_cast<std::uint32_t>(s.at.iteration()));
      if (beginsPhase(op))
        events_.endsPhase(b);
    }
    if (!execute(b, op))
      return;
    events_.done(b);
    if (endsPhase(op))
      events_.endsPhase(b);
    s.entered = false;
    s.waiting = {};
    s.at.next(*s.code);
  }
  if (begun_[s.rank] < index_.numBlocks(s.rank))
    beginNext(s.rank);
}

bool Control::execute(std::uint32_t b, const ir::Op &op) {
  switch (ir::info(op.kind).step) {
  case ir::OpStep::BlockSync: // run() ends the phase
    return true;
  case ir::OpStep::Barrier:
    return barrier(b, op);
  case ir::OpStep::Take:
    return takeAll(b, op);
  case ir::OpStep::Give:
    giveAll(b, op);
    return true;
  case ir::OpStep::Drain:
    events_.flushes(b, op);
    return true;
  case ir::OpStep::Data:
    if (!events_.data(b, op))
      return false;
    if (ir::putsAndSignals(op.kind))
      giveAll(b, op);
    if (ir::flushes(op.kind))
      events_.flushes(b, op);
    return true;
  case ir::OpStep::Loop:
    break; // run() handles the begin and the end of a pipeline
  }
  throw ir::InternalError("an operation that no block can do: " + std::string(ir::toString(op.kind)));
}

void Control::giveAll(std::uint32_t b, const ir::Op &op) {
  const BlockState &s = blocks_[b];
  const auto ids = s.code->idsOf(op);
  for (std::uint32_t thread = 0; thread < ids.size(); ++thread) {
    const std::uint32_t queue = index_.queue(s.rank, op, ids[thread]);
    if (queue == none) // a channel without a pair: no block waits at its other end
      continue;
    queues_.give(queue, {events_.gives(b, op, thread, queue)});
    wake(waiters_[queue]);
  }
}

bool Control::takeAll(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  const auto ids = s.code->idsOf(op);
  for (; s.step < ids.size(); ++s.step) {
    const std::uint32_t queue = index_.queue(s.rank, op, ids[s.step]);
    const std::optional<Credit> credit = isHeld_[queue] ? std::nullopt : queues_.take(queue);
    if (!credit) {
      const bool semaphore = ir::isSemaphoreOp(op.kind);
      wait(b, waiters_[queue], semaphore ? Waiting::Semaphore : Waiting::Channel,
           semaphore ? index_.semaphore(s.rank, ids[s.step]) : queue);
      return false;
    }
    events_.takes(b, op, s.step, queue, credit->message);
  }
  return true;
}

bool Control::barrier(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  const std::uint32_t number = index_.barrierOf(s.rank, op.imm);
  if (s.waiting.kind == Waiting::Barrier) // the last block to arrive has released this one
    return true;
  s.waiting = {Waiting::Barrier, number};
  const std::span<const std::uint32_t> met = meetings_.met(number, meetings_.arrive(number, b));
  if (met.empty())
    return false;
  events_.meet(met);
  for (const std::uint32_t other : met)
    if (other != b)
      ready_.push_back(other);
  return true;
}

void Control::wait(std::uint32_t b, std::uint32_t &waiters, Waiting::Kind kind, std::uint32_t id) {
  blocks_[b].waiting = {kind, id};
  std::uint32_t *last = &waiters;
  while (*last != none)
    last = &blocks_[*last].nextWaiter;
  *last = b;
}

void Control::wake(std::uint32_t &waiters) {
  while (waiters != none) {
    const std::uint32_t b = waiters;
    waiters = std::exchange(blocks_[b].nextWaiter, none);
    ready_.push_back(b);
  }
}

} // namespace mscclc::passes::proof
