#include "passes/analysis/thread_order.h"

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

ThreadOrder::ThreadOrder(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &before,
                         const std::vector<MergedInto> &into, const ir::ThreadBlock &after)
    : program_(program), rank_(rank), before_(before), after_(after), into_(into), outOf_(before.ops.size()),
      phasesIn_(before.ops.size()) {
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < before.ops.size(); ++i)
    outOf_[i] = into[i].leader != i ? outOf_[into[i].leader] : into[i].dropped ? next : next++;
}

std::vector<std::uint32_t> ThreadOrder::lost() {
  PhaseCount in(1), out(1);
  std::uint32_t nextOut = 0; // the first operation after that has not been entered
  std::uint64_t phaseOut = 1;
  const auto step = [&](std::uint32_t i) {
    const Op &op = before_.ops[i];
    const std::uint64_t phaseIn = in.enter(op);
    in.leave(op);
    if (into_[i].dropped)
      return;
    if (into_[i].leader == i) {
      if (nextOut != 0)
        out.leave(after_.ops[nextOut - 1]);
      nextOut = outOf_[i] + 1;
      phaseOut = out.enter(after_.ops[outOf_[i]]);
    }
    visit(i, {phaseIn, phaseOut});
  };
  for (std::uint32_t i = 0; i < before_.ops.size(); ++i) {
    step(i);
    if (before_.ops[i].kind != OpKind::Pipeline)
      continue;
    // Twice over: an iteration may end in the phase in which the next one begins.
    for (int time = 0; time < 2; ++time)
      for (std::uint32_t k = i + 1; k <= i + before_.ops[i].bodySize; ++k)
        step(k);
    i += before_.ops[i].bodySize;
  }
  if (blamed_)
    lost_.push_back(*blamed_);
  std::sort(lost_.begin(), lost_.end());
  lost_.erase(std::unique(lost_.begin(), lost_.end()), lost_.end());
  return std::move(lost_);
}

std::uint32_t ThreadOrder::threadAfter(std::uint32_t i, std::uint32_t thread) const {
  const Op &op = before_.ops[i];
  if (op.kind != OpKind::Flush)
    return into_[i].offset + thread;
  const auto merged = after_.idsOf(after_.ops[outOf_[i]]); // each channel once
  return static_cast<std::uint32_t>(std::ranges::find(merged, before_.idsOf(op)[thread]) - merged.begin());
}

/// A number for a channel end, by direction, or a semaphore.
std::uint32_t ThreadOrder::queueOf(const Op &op, std::uint32_t id) {
  const std::uint32_t counter = id * 4 + static_cast<std::uint32_t>(op.channelType);
  return queues_.try_emplace(counter, static_cast<std::uint32_t>(queues_.size())).first->second;
}

std::vector<ThreadOrder::Act> &ThreadOrder::ByQueue::operator[](std::uint32_t queue) {
  if (queue >= lists_.size())
    lists_.resize(queue + 1);
  List &list = lists_[queue];
  if (list.generation != generation_) {
    list.generation = generation_;
    list.acts.clear();
  }
  return list.acts;
}

void ThreadOrder::visit(std::uint32_t i, const Place &place) {
  if (place.phaseOut != phaseOut_) {
    phaseOut_ = place.phaseOut;
    data_ = flush_ = {};
    waits_.clear();
    puts_.clear();
    sends_.clear();
    beginPhaseIn(place.phaseIn);
    waitsEarlier_ = {};
    if (blamed_)
      lost_.push_back(*blamed_);
    blamed_.reset();
  } else if (place.phaseIn != phaseIn_) {
    beginPhaseIn(place.phaseIn);
  }
  phasesIn_[i] = place.phaseIn;
  const Op &op = before_.ops[i];
  const auto ids = before_.idsOf(op);
  const std::uint32_t threads = putsThroughPort(op) ? op.numDsts : op.numIds;
  const bool byThreads = ir::sends(op.kind) || ir::takes(op.kind) || putsThroughPort(op) || op.kind == OpKind::Flush;
  for (std::uint32_t t = 0; byThreads && t < threads; ++t)
    visitAct(op, {i, queueOf(op, ids[ids.size() == 1 ? 0 : t]), t, threadAfter(i, t), place.phaseIn,
                  putsThroughPort(op) ? std::optional(destination(op, t)) : std::nullopt});
  if (op.numChunks() != 0 && !putsThroughPort(op)) { // all threads do it, after the sync that stood between
    if (waitsEarlier_.first)
      blameSync(waitsEarlier_.first->op);
    if (flush_.before(place.phaseIn))
      blameSync(flush_.op);
  }
  if (op.numChunks() != 0 && data_.phaseIn == 0)
    data_ = {place.phaseIn, i};
  if (op.kind == OpKind::Flush && flush_.phaseIn == 0)
    flush_ = {place.phaseIn, i};
}

/// Two names may stand for one memory: a peer's input and output in place, its packets and plain chunks.
ir::MemoryRange ThreadOrder::destination(const Op &op, std::uint32_t index) const {
  return ir::memoryOf(program_, ir::pieceOf(program_, rank_, op, op.numSrcs + index, before_.dsts(op)[index]));
}

void ThreadOrder::beginPhaseIn(std::uint64_t phase) {
  phaseIn_ = phase;
  waitsOfThread_.clear();
  for (const auto &wait : {waitsNow_.first, waitsNow_.other})
    if (wait)
      waitsEarlier_.add(*wait);
  waitsNow_ = {};
}

/// Of acts on one counter those that `matters` is true of must stay before `later`.
template <typename Matters> void ThreadOrder::check(std::vector<Act> &earlier, const Act &later, Matters matters) {
  for (const Act &act : earlier)
    if (act.op != later.op && act.related(later) && act.threadOut != later.threadOut && matters(act))
      return blame(act.op, later.op);
}

void ThreadOrder::visitAct(const Op &op, const Act &act) {
  if (ir::takes(op.kind)) {
    // A semaphore counts right whoever acquires it: only what a thread does in between can make it matter.
    check(waits_[act.queue], act, [&](const Act &earlier) {
      return op.kind != OpKind::SemAcquire || into_[earlier.op].leader != into_[act.op].leader;
    });
    waits_[act.queue].push_back(act);
    if (act.threadIn >= waitsOfThread_.size())
      waitsOfThread_.resize(act.threadIn + 1);
    waitsOfThread_[act.threadIn].add(act);
    waitsNow_.add(act);
    return;
  }
  if (op.kind != OpKind::Flush) { // what was waited for goes along
    checkWaits(waitsEarlier_, act);
    if (act.threadIn < waitsOfThread_.size())
      checkWaits(waitsOfThread_[act.threadIn], act);
    // So does what the block did before a sync that stood between.
    for (const First &first : {data_, flush_})
      if (ir::sends(op.kind) && first.before(act.phaseIn))
        blame(first.op, act.op);
  }
  const bool port = op.channelType == ir::ChannelType::Port;
  const bool tells = ir::sends(op.kind) || op.kind == OpKind::Flush; // of puts before it
  if (port)
    check(puts_[act.queue], act, [&](const Act &earlier) { return tells || earlier.to->overlaps(*act.to); });
  if (putsThroughPort(op))
    puts_[act.queue].push_back(act);
  if (!ir::sends(op.kind))
    return;
  // Whoever waits for it may take any of several threads' sends for this one.
  const bool relays =
      waitsEarlier_.first || (act.threadIn < waitsOfThread_.size() && waitsOfThread_[act.threadIn].first);
  check(sends_[act.queue], act,
        [&](const Act &earlier) { return relays || port || before_.ops[earlier.op].kind != op.kind; });
  sends_[act.queue].push_back(act);
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

/// Blames what was merged into `earlier` and took the sync between them to the front.
void ThreadOrder::blameSync(std::uint32_t earlier) {
  const std::uint32_t leader = into_[earlier].leader;
  for (std::uint32_t i = earlier + 1; !blamed_ && i < into_.size() && into_[i].leader == leader; ++i)
    if (phasesIn_[i] > phasesIn_[earlier])
      blamed_ = i;
}

} // namespace mscclc::passes
