#include "passes/run/run_recorder.h"

#include "ir/op_semantics.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace mscclc::passes::prune {

using ir::Op;
using ir::OpKind;

RunRecorder::RunRecorder(const ProgramIndex &index, const proof::Geometry &geometry, proof::Memory &memory,
                         const SyncPoints &points, SyncClasses &classes, bool sizesChange, bool ofFirstRank)
    : CellChecks(index, geometry, memory), points_(points), classes_(classes), elements_(index, geometry, memory),
      sizesChange_(sizesChange), scope_(index, geometry, memory, ofFirstRank, sizesChange),
      clock_(index.numBlocks(), 0), previousWait_(index.numChannels(), none), numMet_(index.numRanks(), 0),
      lastPlain_(index.numBlocks(), none), heard_(index.numBlocks()), ends_(index.numRanks()),
      began_(index.numRanks(), none), packetsSince_(index.numRanks()) {
  record_.bounds.assign(index.numBlocks(), {none});
  record_.begun.assign(index.numBlocks(), {0});
  record_.receipts.resize(index.numBlocks());
  record_.met.resize(index.numBlocks());
  record_.flushes.resize(index.numBlocks());
  record_.launches.resize(index.numBlocks());
  for (std::uint32_t b = 0; b < index.numBlocks(); ++b)
    record_.rankOf.push_back(index.rankOf(b));
  for (std::uint32_t r = 0; r <= index.numRanks(); ++r)
    record_.firstBlock.push_back(index.block(r, 0));
  record_.scratch.resize(sizesChange ? index.numRanks() : 0);
}

bool RunRecorder::run() {
  const std::uint32_t launches = index_.program.doubleScratch ? 3 : 2;
  keepShared();
  for (;;) {
    control_.beginLaunch();
    if (!control_.runLaunch())
      return false;
    if (control_.launch() + 1 == launches)
      break;
    control_.endLaunch();
  }
  finish();
  return true;
}

void RunRecorder::launchBegins() {
  lastWait_.clear();
  data_.beginLaunch();
}

void RunRecorder::launchEnds(std::uint32_t rank) {
  if (control_.launch() == 0)
    noteEnd(rank);
}

/// Excludes from dropping the sync of queues with an initial value, several senders or several takers. For other
/// queues, it is certain which wait takes which signal.
void RunRecorder::keepShared() {
  std::vector<std::uint32_t> ends[2];
  for (auto &side : ends)
    side.assign(index_.numQueues(), none);
  shared_.assign(index_.numQueues(), false);
  const auto forQueues = [&](const auto &visit) {
    for (SyncPoint p = 0; p < points_.count(); ++p) {
      const auto &[b, o, i] = points_.place(p);
      const Op &op = index_.ops(b).ops[o];
      if (!ir::sends(op.kind) && !ir::takes(op.kind))
        continue;
      const std::uint32_t queue = index_.queue(index_.rankOf(b), op, index_.ops(b).idsOf(op)[i]);
      if (queue != none) // no block waits at the other end
        visit(p, op.kind, queue);
    }
  };
  forQueues([&](SyncPoint point, OpKind kind, std::uint32_t queue) {
    std::uint32_t &end = ends[ir::takes(kind)][queue];
    const std::uint32_t b = points_.place(point).block;
    shared_[queue] = shared_[queue] || (end != none && end != b) || control_.initial(queue) != 0;
    end = b;
  });
  if (std::ranges::find(shared_, true) == shared_.end())
    return;
  forQueues([&](SyncPoint point, OpKind, std::uint32_t queue) {
    if (shared_[queue])
      classes_.keep(point);
  });
}

void RunRecorder::endsPhase(std::uint32_t b) {
  tick(b);
  beginPhase(b, points_.of(b, control_.at(b).op()));
}

/// Lets `blocks` wait for each other: their clocks get the same time.
template <typename Blocks> void RunRecorder::tickTogether(const Blocks &blocks) {
  std::uint32_t last = 0;
  for (const std::uint32_t b : blocks)
    last = std::max(last, clock_[b]);
  for (const std::uint32_t b : blocks)
    clock_[b] = last + 1;
}

void RunRecorder::beginPhase(std::uint32_t b, SyncPoint point) {
  record_.bounds[b].push_back(point);
  record_.begun[b].push_back(clock_[b]);
}

void RunRecorder::meet(std::span<const std::uint32_t> blocks) {
  const auto pointOf = [&](std::uint32_t b) { return points_.of(b, control_.at(b).op()); };
  const SyncPoint point = pointOf(blocks.back());
  tickTogether(blocks);
  const auto first = static_cast<std::uint32_t>(record_.members.size());
  for (const std::uint32_t b : blocks) {
    if (control_.launch() == 0) // in other launches the same blocks meet
      classes_.join(point, pointOf(b));
    beginPhase(b, pointOf(b));
    record_.met[b].emplace_back(phaseOf(b), record_.meetings.size());
    record_.members.push_back({b, phaseOf(b)});
  }
  record_.meetings.push_back({point, first, static_cast<std::uint32_t>(blocks.size())});
}

/// The end of a launch of `rank` acquires what the senders of its packets released at the beginning of that launch.
void RunRecorder::acquirePackets(std::uint32_t rank) {
  for (const std::uint32_t begin : std::exchange(packetsSince_[rank], {})) {
    Message m;
    m.from = record_.membersOf(record_.meetings[begin]).front();
    m.time = record_.begun[m.from.block][m.from.phase];
    m.begin = begin;
    record_.messages.push_back(m);
    receive(index_.block(rank, 0), static_cast<std::uint32_t>(record_.messages.size() - 1), none, MessageKind::Signal);
  }
}

void RunRecorder::meetRank(std::uint32_t rank) {
  acquirePackets(rank);
  const auto first = static_cast<std::uint32_t>(record_.members.size());
  began_[rank] = static_cast<std::uint32_t>(record_.meetings.size());
  ++numMet_[rank];
  tickTogether(std::views::iota(index_.block(rank, 0), index_.block(rank + 1, 0)));
  for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b) {
    beginPhase(b, none);
    record_.launches[b].push_back(phaseOf(b));
    record_.met[b].emplace_back(phaseOf(b), began_[rank]);
    record_.members.push_back({b, phaseOf(b)});
  }
  record_.meetings.push_back({none, first, static_cast<std::uint32_t>(record_.members.size()) - first});
}

std::uint32_t RunRecorder::gives(std::uint32_t b, const Op &op, std::uint32_t thread, std::uint32_t /*queue*/) {
  Message m;
  m.from = {b, phaseOf(b)};
  m.time = tick(b);
  m.thread = thread;
  m.point = points_.of(b, control_.at(b).op(), thread);
  m.begin = began_[index_.rankOf(b)];
  m.kind = proof::kindOf(op.kind == OpKind::RelaxedSignal);
  m.heard = heardBy(b, thread);
  if (op.channelType == ir::ChannelType::Port)
    m.port = index_.channel(op.channelType, index_.rankOf(b), index_.ops(b).idsOf(op)[thread]);
  record_.messages.push_back(m);
  return static_cast<std::uint32_t>(record_.messages.size() - 1);
}

void RunRecorder::takes(std::uint32_t b, const Op &op, std::uint32_t thread, std::uint32_t queue,
                        std::uint32_t message) {
  const SyncPoint point = points_.of(b, control_.at(b).op(), thread);
  if (queue < index_.numChannels() && scope_.asksOf(index_.rankOf(b))) {
    if (shared_[queue])
      takeTurn(b, queue);
    else if (control_.launch() == 0)
      noteWait(b, queue, point, thread);
  }
  if (message == none)
    return;
  if (control_.launch() == 0) // in all launches, a wait takes messages of the same point
    classes_.join(point, record_.messages[message].point);
  receive(b, message, thread, proof::kindOf(op.kind == OpKind::RelaxedWait));
}

/// Records that this wait must come after the last wait on `queue` if another block made that one.
void RunRecorder::takeTurn(std::uint32_t b, std::uint32_t queue) {
  const std::uint32_t now = newAccess(b, control_.at(b).op());
  if (const auto last = lastWait_.find(queue); last != lastWait_.end() && record_.accesses[last->second].at.block != b)
    record_.pairs.push_back(
        {record_.accesses[last->second].like, record_.accesses[now].like, Relation::HappensBefore, false});
  lastWait_[queue] = now;
}

/// Records a wait on a channel. No other block waits on the channel.
void RunRecorder::noteWait(std::uint32_t b, std::uint32_t queue, SyncPoint point, std::uint32_t thread) {
  const std::uint32_t previous = std::exchange(previousWait_[queue], static_cast<std::uint32_t>(record_.waits.size()));
  record_.waits.push_back({{b, phaseOf(b)}, point, point - thread, previous});
}

void RunRecorder::receive(std::uint32_t b, std::uint32_t message, std::uint32_t thread, MessageKind kind) {
  auto &receipts = record_.receipts[b];
  catchUp(b, message);
  Receipt receipt{message, phaseOf(b), tick(b), thread, kind};
  receipt.previous = static_cast<std::uint32_t>(receipts.size());
  if (!receipts.empty()) { // a later message of a thread includes its earlier ones
    const Receipt &last = receipts.back();
    const Message &now = record_.messages[receipt.message], &before = record_.messages[last.message];
    if (now.point != none && before.point != none && now.from.block == before.from.block &&
        now.thread == before.thread && now.time > before.time && now.port == before.port && now.kind <= before.kind &&
        receipt.kind <= last.kind)
      receipt.previous = last.previous;
  }
  if (receipt.thread != none) {
    std::uint32_t &heard = heardBy(b, receipt.thread);
    receipt.heard = heard;
    heard = static_cast<std::uint32_t>(receipts.size() + 1);
  }
  receipts.push_back(receipt);
  if (const std::uint32_t begin = record_.messages[message].begin; kind == MessageKind::Packet && begin != none)
    packetsSince_[index_.rankOf(b)].insert(begin);
}

std::uint32_t &RunRecorder::heardBy(std::uint32_t b, std::uint32_t thread) {
  if (heard_[b].size() <= thread)
    heard_[b].resize(thread + 1);
  return heard_[b][thread];
}

void RunRecorder::flushes(std::uint32_t b, const Op &op) {
  const auto ids = index_.ops(b).idsOf(op);
  const SyncPoint point = op.kind == OpKind::Flush ? points_.of(b, control_.at(b).op()) : none;
  for (std::uint32_t i = 0; i < ids.size(); ++i)
    record_.flushes[b].push_back(
        {phaseOf(b), tick(b), i, index_.channel(op.channelType, index_.rankOf(b), ids[i]), point});
}

std::optional<RunRecord> recordRun(const ProgramIndex &index, const proof::Geometry &geometry, const SyncPoints &points,
                                   SyncClasses &classes, bool sizesChange, bool ofFirstRank) {
  proof::Memory memory(index, geometry);
  if (!memory.fits())
    return std::nullopt;
  RunRecorder recorder(index, geometry, memory, points, classes, sizesChange, ofFirstRank);
  if (!recorder.run())
    return std::nullopt;
  return recorder.take();
}

} // namespace mscclc::passes::prune
