#include "passes/analysis/thread_order.h"

#include "ir/containers.h"
#include "passes/phases.h"

#include <algorithm>

namespace mscclc::passes {

using ir::Op;
using ir::OpKind;

namespace {

bool putsThroughPort(const Op &op) {
  return op.channelType == ir::ChannelType::Port && op.numDsts != 0;
}

} // namespace

bool ThreadOrder::matters(const ir::ThreadBlock &after) {
  PhaseCount count(1);
  std::uint64_t phase = 0;
  bool waited = false, sent = false, flushed = false, moved = false;
  for (const Op &op : after.ops) {
    if (op.kind == OpKind::Pipeline || putsThroughPort(op))
      return true;
    if (const std::uint64_t in = count.enter(op); in != phase) {
      phase = in;
      waited = sent = flushed = moved = false;
    }
    count.leave(op);
    const bool flushes = op.kind == OpKind::Flush, moves = op.numChunks() != 0;
    if ((ir::takes(op.kind) && waited) || (ir::sends(op.kind) && (waited || sent || flushed || moved)) ||
        (moves && (waited || flushed)))
      return true;
    waited |= ir::takes(op.kind);
    sent |= ir::sends(op.kind);
    flushed |= flushes;
    moved |= moves;
  }
  return false;
}

/// Starts a search in the current block.
void ThreadOrder::start() {
  outOf_.resize(before_->ops.size());
  phasesIn_.assign(before_->ops.size(), 0);
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < before_->ops.size(); ++i)
    outOf_[i] = into_[i].leader != i ? outOf_[into_[i].leader] : into_[i].dropped ? next : next++;
  phaseOut_ = phaseIn_ = 0;
  waitsNow_ = {};
  blamed_.reset();
  lost_.clear();
}

std::span<const std::uint32_t> ThreadOrder::lost(std::uint32_t rank, const ir::ThreadBlock &before,
                                                 std::span<const MergedInto> into, const ir::ThreadBlock &after) {
  rank_ = rank;
  before_ = &before;
  after_ = &after;
  into_ = into;
  start();
  PhaseCount in(1), out(1);
  std::uint32_t nextOut = 0; // the first operation of `after` that was not entered yet
  std::uint64_t phaseOut = 1;
  PhaseCount all(1);
  std::uint64_t lastPhase = 1;
  bool anyLoop = false;
  for (const Op &op : after.ops) {
    lastPhase = all.enter(op);
    all.leave(op);
    anyLoop |= op.kind == OpKind::Pipeline;
  }
  // After a loss, the rest of its phase is not searched.
  const auto isOver = [&] { return blamed_ && phaseOut == lastPhase && !anyLoop; };
  const auto step = [&](std::uint32_t i) {
    const Op &op = before.ops[i];
    const std::uint64_t phaseIn = in.enter(op);
    in.leave(op);
    if (into_[i].dropped)
      return;
    if (into_[i].leader == i) {
      if (nextOut != 0)
        out.leave(after.ops[nextOut - 1]);
      nextOut = outOf_[i] + 1;
      phaseOut = out.enter(after.ops[outOf_[i]]);
    }
    visit(i, {phaseIn, phaseOut});
  };
  for (std::uint32_t i = 0; i < before.ops.size() && !isOver(); ++i) {
    step(i);
    if (before.ops[i].kind != OpKind::Pipeline)
      continue;
    // The body is walked twice, because the end of an iteration may be in the phase in which the next one begins.
    for (int time = 0; time < 2; ++time)
      for (std::uint32_t k = i + 1; k <= i + before.ops[i].bodySize; ++k)
        step(k);
    i += before.ops[i].bodySize;
  }
  if (blamed_)
    lost_.push_back(*blamed_);
  ir::sortUnique(lost_);
  return lost_;
}

std::uint32_t ThreadOrder::threadAfter(std::uint32_t i, std::uint32_t thread) const {
  const Op &op = before_->ops[i];
  if (op.kind != OpKind::Flush)
    return into_[i].offset + thread;
  const auto merged = after_->idsOf(after_->ops[outOf_[i]]); // names each channel once
  return static_cast<std::uint32_t>(std::ranges::find(merged, before_->idsOf(op)[thread]) - merged.begin());
}

void ThreadOrder::visit(std::uint32_t i, const Phases &phases) {
  if (phases.phaseOut != phaseOut_) {
    phaseOut_ = phases.phaseOut;
    data_ = flush_ = {};
    waits_.clear();
    puts_.clear();
    sends_.clear();
    beginPhaseIn(phases.phaseIn);
    waitsEarlier_ = {};
    if (blamed_)
      lost_.push_back(*blamed_);
    blamed_.reset();
  } else if (phases.phaseIn != phaseIn_) {
    beginPhaseIn(phases.phaseIn);
  }
  phasesIn_[i] = phases.phaseIn;
  if (blamed_)
    return; // this phase has its result already
  const Op &op = before_->ops[i];
  const auto ids = before_->idsOf(op);
  const bool puts = putsThroughPort(op);
  const std::uint32_t threads = puts ? op.numDsts : op.numIds;
  const bool byThreads = ir::sends(op.kind) || ir::takes(op.kind) || puts || op.kind == OpKind::Flush;
  for (std::uint32_t t = 0; byThreads && t < threads; ++t) {
    // Identifies a channel of one type, or a semaphore. Waits, puts and sends are kept apart.
    const std::uint32_t counter = ids[ids.size() == 1 ? 0 : t] * 4 + static_cast<std::uint32_t>(op.channelType);
    visitAct(op, {i, counter, t, threadAfter(i, t), phases.phaseIn, puts ? destination(op, t) : ir::MemoryRange()});
  }
  if (op.numChunks() != 0 && !puts) { // all threads move data, so an earlier sync matters
    if (waitsEarlier_.first)
      blameSync(waitsEarlier_.first->op);
    if (flush_.before(phases.phaseIn))
      blameSync(flush_.op);
  }
  if (op.numChunks() != 0 && data_.phaseIn == 0)
    data_ = {phases.phaseIn, i};
  if (op.kind == OpKind::Flush && flush_.phaseIn == 0)
    flush_ = {phases.phaseIn, i};
}

/// Returns the memory that a put writes. Different names may mean the same memory: a peer's input and output in place,
/// or its packets and plain chunks.
ir::MemoryRange ThreadOrder::destination(const Op &op, std::uint32_t index) const {
  return ir::memoryOf(program_, ir::pieceOf(program_, rank_, op, op.numSrcs + index, before_->dsts(op)[index]));
}

void ThreadOrder::beginPhaseIn(std::uint64_t phase) {
  phaseIn_ = phase;
  waitsOfThread_.clear();
  for (const auto &wait : {waitsNow_.first, waitsNow_.other})
    if (wait)
      waitsEarlier_.add(*wait);
  waitsNow_ = {};
}

/// Checks that earlier acts on the counter of `later` stay before it, if `matters` is true for them.
template <typename Matters> void ThreadOrder::check(const ByCounter &earlier, const Act &later, Matters matters) {
  const auto acts = earlier.find(later.counter);
  if (blamed_ || acts == earlier.end())
    return;
  const auto lost = std::ranges::find_if(acts->second, [&](const Act &act) {
    return act.op != later.op && act.related(later) && act.threadOut != later.threadOut && matters(act);
  });
  if (lost != acts->second.end())
    blame(lost->op, later.op);
}

void ThreadOrder::visitAct(const Op &op, const Act &act) {
  if (ir::takes(op.kind)) {
    // A semaphore counts correctly whichever thread acquires it. So within one merged acquire, the order does not
    // matter.
    check(waits_, act, [&](const Act &earlier) {
      return op.kind != OpKind::SemAcquire || into_[earlier.op].leader != into_[act.op].leader;
    });
    waits_[act.counter].push_back(act);
    if (act.threadIn >= waitsOfThread_.size())
      waitsOfThread_.resize(act.threadIn + 1);
    waitsOfThread_[act.threadIn].add(act);
    waitsNow_.add(act);
    return;
  }
  if (op.kind != OpKind::Flush) { // a send or put: its receiver sees what the sender has waited for
    checkWaits(waitsEarlier_, act);
    if (act.threadIn < waitsOfThread_.size())
      checkWaits(waitsOfThread_[act.threadIn], act);
    // A send also makes visible what the block did before its last sync.
    for (const First &first : {data_, flush_})
      if (ir::sends(op.kind) && first.before(act.phaseIn))
        blame(first.op, act.op);
  }
  const bool port = op.channelType == ir::ChannelType::Port;
  const bool ordersPuts = ir::sends(op.kind) || op.kind == OpKind::Flush; // such an act completes after earlier puts
  if (port)
    check(puts_, act, [&](const Act &earlier) { return ordersPuts || earlier.to.overlaps(act.to); });
  if (putsThroughPort(op))
    puts_[act.counter].push_back(act);
  if (!ir::sends(op.kind))
    return;
  // A wait may be satisfied by the send of any of several threads.
  const bool relays =
      waitsEarlier_.first || (act.threadIn < waitsOfThread_.size() && waitsOfThread_[act.threadIn].first);
  check(sends_, act, [&](const Act &earlier) { return relays || port || before_->ops[earlier.op].kind != op.kind; });
  sends_[act.counter].push_back(act);
}

void ThreadOrder::checkWaits(const Waits &earlier, const Act &later) {
  for (const auto &wait : {earlier.first, earlier.other})
    if (wait && wait->threadOut != later.threadOut)
      return blame(wait->op, later.op);
}

void ThreadOrder::blame(std::uint32_t earlier, std::uint32_t later) {
  if (blamed_)
    return;
  if (into_[later].leader != later)
    blamed_ = later;
  else if (into_[earlier].leader != earlier)
    blamed_ = earlier;
  else
    blameSync(earlier);
}

/// Blames the first operation that was merged with `earlier` across a sync: the merge moved this sync to the front.
void ThreadOrder::blameSync(std::uint32_t earlier) {
  const std::uint32_t leader = into_[earlier].leader;
  for (std::uint32_t i = earlier + 1; !blamed_ && i < into_.size() && into_[i].leader == leader; ++i)
    if (phasesIn_[i] > phasesIn_[earlier])
      blamed_ = i;
}

} // namespace mscclc::passes
