#include "passes/prune/sync_run.h"

#include "ir/collectives.h"
#include "ir/internal_error.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace mscclc::passes::prune {

using ir::Op;
using ir::OpKind;

SyncRun::SyncRun(const ProgramIndex &index, const proof::Geometry &geometry, const SyncPieces &pieces,
                 SyncOrbits &orbits, bool sizesChange, bool ofFirstRank)
    : index_(index), geometry_(geometry), pieces_(pieces), orbits_(orbits), memory_(index, geometry),
      elements_(index, geometry, memory_), sizesChange_(sizesChange),
      scope_(index, geometry, memory_, ofFirstRank && memory_.fits(), sizesChange), clock_(index.numBlocks(), 0),
      blocks_(index.numBlocks()), queues_(index), meetings_(index), queueOf_(pieces.count(), none),
      waiters_(index.numQueues(), none), previousWait_(index.numChannels(), none), numMet_(index.numRanks(), 0),
      lastPlain_(index.numBlocks(), none), heard_(index.numBlocks()), ends_(index.numRanks()),
      began_(index.numRanks(), none) {
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

bool SyncRun::run() {
  if (!memory_.fits())
    return false;
  const bool user = ir::hasUser(index_.program.collective.kind);
  const std::uint32_t launches = index_.program.doubleScratch ? 3 : 2;
  findQueues();
  keepShared();
  reserve(launches);
  for (launch_ = 0; launch_ < launches; ++launch_) {
    for (std::uint32_t r = 0; user && r < index_.numRanks(); ++r) {
      if (launch_ <= 1)
        userOverwrites(r);
      meetRank(r);
    }
    if (!launch())
      return false;
    for (std::uint32_t r = 0; launch_ + 1 < launches && r < index_.numRanks(); ++r) {
      meetRank(r);
      if (launch_ == 0)
        noteEnd(r);
      if (user && launch_ == 0)
        userReads(r);
    }
  }
  finish();
  return true;
}

void SyncRun::findQueues() {
  for (Piece p = 0; p < pieces_.count(); ++p) {
    const auto &[b, o, i] = pieces_.place(p);
    const ir::ThreadBlock &code = index_.ops(b);
    const Op &op = code.ops[o];
    if (op.kind == OpKind::Barrier)
      queueOf_[p] = index_.barrierOf(index_.rankOf(b), op.imm);
    else if (ir::sends(op.kind) || ir::takes(op.kind))
      queueOf_[p] = index_.queue(index_.rankOf(b), op, code.idsOf(op)[i]);
  }
}

/// Who takes what is certain where one block sends and one takes. Elsewhere nothing is dropped, and where something was
/// there from the start.
void SyncRun::keepShared() {
  std::vector<std::uint32_t> ends[2];
  for (auto &side : ends)
    side.assign(index_.numQueues(), none);
  shared_.assign(index_.numQueues(), false);
  const auto forQueues = [&](const auto &visit) {
    for (Piece p = 0; p < pieces_.count(); ++p)
      if (const OpKind kind = pieces_.kind(p); queueOf_[p] != none && kind != OpKind::Barrier)
        visit(p, kind, queueOf_[p]);
  };
  forQueues([&](Piece piece, OpKind kind, std::uint32_t queue) {
    std::uint32_t &end = ends[ir::takes(kind)][queue];
    const std::uint32_t b = pieces_.place(piece).block;
    shared_[queue] = shared_[queue] || (end != none && end != b) || queues_.initial(queue) != 0;
    end = b;
  });
  if (std::ranges::find(shared_, true) == shared_.end())
    return;
  forQueues([&](Piece piece, OpKind, std::uint32_t queue) {
    if (shared_[queue])
      orbits_.keep(piece);
  });
}

/// Room for what is certain to be written down.
void SyncRun::reserve(std::uint32_t launches) {
  std::vector<std::uint32_t> bounds(index_.numBlocks()), receipts(index_.numBlocks());
  std::size_t messages = 0;
  for (Piece p = 0; p < pieces_.count(); ++p) {
    const OpKind kind = pieces_.kind(p);
    const std::uint32_t b = pieces_.place(p).block;
    messages += ir::sends(kind);
    receipts[b] += ir::takes(kind);
    bounds[b] += kind == OpKind::Nop || kind == OpKind::Barrier;
  }
  record_.messages.reserve(messages * launches);
  for (std::uint32_t b = 0; b < index_.numBlocks(); ++b) {
    record_.receipts[b].reserve(std::size_t{receipts[b]} * launches);
    record_.bounds[b].reserve((std::size_t{bounds[b]} + 2) * launches);
    record_.begun[b].reserve((std::size_t{bounds[b]} + 2) * launches);
  }
}

bool SyncRun::launch() {
  lastWait_.clear();
  ready_.clear();
  for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].at = {};
    ready_.push_back(b);
  }
  for (std::size_t i = 0; i < ready_.size(); ++i)
    advance(ready_[i]);
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    if (!blocks_[b].at.atEnd(index_.ops(b)))
      return false;
  return true;
}

void SyncRun::advance(std::uint32_t b) {
  BlockState &s = blocks_[b];
  const ir::ThreadBlock &code = index_.ops(b);
  while (s.at.settle(code, [&](const Op &header) { return geometry_.iterations(header); })) {
    if (s.at.inLoop() && s.at.op() == s.at.header() + 1)
      s.slice = geometry_.slice(code.ops[s.at.header()], static_cast<std::uint32_t>(s.at.iteration()));
    if (!execute(b, code.ops[s.at.op()]))
      return;
    s.step = 0;
    s.at.next(code);
  }
}

bool SyncRun::execute(std::uint32_t b, const Op &op) {
  switch (ir::info(op.kind).step) {
  case ir::OpStep::BlockSync:
    tick(b);
    endPhase(b, pieces_.of(b, blocks_[b].at.op()));
    return true;
  case ir::OpStep::Barrier:
    return meet(b);
  case ir::OpStep::Take:
    return takeAll(b, op);
  case ir::OpStep::Give:
    sendAll(b, op);
    return true;
  case ir::OpStep::Drain:
    flushAll(b, op);
    return true;
  case ir::OpStep::Data:
    return data(b, op);
  case ir::OpStep::Loop:
    break; // advance() enters and leaves it
  }
  throw ir::InternalError("an operation that no block can do: " + std::string(ir::toString(op.kind)));
}

/// `blocks` wait for each other.
template <typename Blocks> void SyncRun::tickTogether(const Blocks &blocks) {
  std::uint32_t last = 0;
  for (const std::uint32_t b : blocks)
    last = std::max(last, clock_[b]);
  for (const std::uint32_t b : blocks)
    clock_[b] = last + 1;
}

void SyncRun::endPhase(std::uint32_t b, Piece piece) {
  ++blocks_[b].phase;
  record_.bounds[b].push_back(piece);
  record_.begun[b].push_back(clock_[b]);
}

bool SyncRun::meet(std::uint32_t b) {
  BlockState &s = blocks_[b];
  if (s.comes) { // let through by the last one
    s.comes = false;
    return true;
  }
  const Piece piece = pieces_.of(b, s.at.op());
  const std::uint32_t number = queueOf_[piece];
  const std::span<const std::uint32_t> met = meetings_.met(number, meetings_.arrive(number, b));
  s.comes = true;
  if (met.empty())
    return false;
  tickTogether(met);
  const auto first = static_cast<std::uint32_t>(record_.members.size());
  for (const std::uint32_t other : met) {
    const Piece part = pieces_.of(other, blocks_[other].at.op());
    if (launch_ == 0) // in others the same meet
      orbits_.join(piece, part);
    endPhase(other, part);
    record_.met[other].emplace_back(blocks_[other].phase, record_.meetings.size());
    record_.members.push_back({other, blocks_[other].phase});
    if (other != b)
      ready_.push_back(other);
  }
  record_.meetings.push_back({piece, first, static_cast<std::uint32_t>(met.size())});
  s.comes = false;
  return true;
}

void SyncRun::meetRank(std::uint32_t rank) {
  const auto first = static_cast<std::uint32_t>(record_.members.size());
  began_[rank] = static_cast<std::uint32_t>(record_.meetings.size());
  ++numMet_[rank];
  tickTogether(std::views::iota(index_.block(rank, 0), index_.block(rank + 1, 0)));
  for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b) {
    endPhase(b, none);
    record_.launches[b].push_back(blocks_[b].phase);
    record_.met[b].emplace_back(blocks_[b].phase, began_[rank]);
    record_.members.push_back({b, blocks_[b].phase});
  }
  record_.meetings.push_back({none, first, static_cast<std::uint32_t>(record_.members.size()) - first});
}

void SyncRun::sendAll(std::uint32_t b, const Op &op) {
  const BlockState &s = blocks_[b];
  const std::uint32_t rank = index_.rankOf(b);
  const auto ids = index_.ops(b).idsOf(op);
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    Message m;
    m.from = {b, s.phase};
    m.time = tick(b);
    m.thread = i;
    m.piece = pieces_.of(b, s.at.op(), i);
    m.begin = began_[rank];
    m.weak = op.kind == OpKind::RelaxedSignal;
    m.heard = heardBy(b, i);
    if (op.channelType == ir::ChannelType::Port)
      m.port = index_.channel(op.channelType, rank, ids[i]);
    const std::uint32_t queue = queueOf_[m.piece];
    if (queue == none)
      continue;
    queues_.give(queue, {static_cast<std::uint32_t>(record_.messages.size())});
    record_.messages.push_back(m);
    wake(waiters_[queue]);
  }
}

bool SyncRun::takeAll(std::uint32_t b, const Op &op) {
  BlockState &s = blocks_[b];
  const Piece firstPiece = pieces_.of(b, s.at.op());
  for (; s.step < op.numIds; ++s.step) {
    const Piece piece = firstPiece + s.step;
    const std::uint32_t queue = queueOf_[piece];
    const std::optional<Credit> credit = queues_.take(queue);
    if (!credit) {
      wait(b, waiters_[queue]);
      return false;
    }
    if (queue < index_.numChannels() && scope_.asksOf(index_.rankOf(b))) {
      if (shared_[queue])
        takeTurn(b, queue);
      else if (launch_ == 0)
        noteWait(b, queue, piece);
    }
    if (credit->message == none)
      continue;
    if (launch_ == 0) // in others it takes the same one's
      orbits_.join(piece, record_.messages[credit->message].piece);
    receive(b, credit->message, s.step, op.kind == OpKind::RelaxedWait);
  }
  return true;
}

/// Blocks that wait on one channel have to take turns.
void SyncRun::takeTurn(std::uint32_t b, std::uint32_t queue) {
  const std::uint32_t now = newAccess(b, blocks_[b].at.op());
  if (const auto last = lastWait_.find(queue); last != lastWait_.end() && record_.accesses[last->second].at.block != b)
    record_.pairs.push_back({record_.accesses[last->second].like, record_.accesses[now].like, false, false});
  lastWait_[queue] = now;
}

/// Of a channel on which one block waits.
void SyncRun::noteWait(std::uint32_t b, std::uint32_t queue, Piece piece) {
  const std::uint32_t previous = std::exchange(previousWait_[queue], static_cast<std::uint32_t>(record_.waits.size()));
  record_.waits.push_back({{b, blocks_[b].phase}, piece, piece - blocks_[b].step, previous});
}

void SyncRun::receive(std::uint32_t b, std::uint32_t message, std::uint32_t thread, bool weak) {
  auto &receipts = record_.receipts[b];
  catchUp(b, message);
  Receipt receipt{message, blocks_[b].phase, tick(b), thread, weak};
  receipt.previous = static_cast<std::uint32_t>(receipts.size());
  if (!receipts.empty()) { // what a thread tells later holds what it told before
    const Receipt &last = receipts.back();
    const Message &now = record_.messages[receipt.message], &before = record_.messages[last.message];
    if (now.piece != none && before.piece != none && now.from.block == before.from.block &&
        now.thread == before.thread && now.time > before.time && now.port == before.port && now.weak <= before.weak &&
        receipt.weak <= last.weak)
      receipt.previous = last.previous;
  }
  if (receipt.thread != none) {
    std::uint32_t &heard = heardBy(b, receipt.thread);
    receipt.heard = heard;
    heard = static_cast<std::uint32_t>(receipts.size() + 1);
  }
  receipts.push_back(receipt);
}

std::uint32_t &SyncRun::heardBy(std::uint32_t b, std::uint32_t thread) {
  if (heard_[b].size() <= thread)
    heard_[b].resize(thread + 1);
  return heard_[b][thread];
}

void SyncRun::flushAll(std::uint32_t b, const Op &op) {
  const BlockState &s = blocks_[b];
  const auto ids = index_.ops(b).idsOf(op);
  const Piece piece = op.kind == OpKind::Flush ? pieces_.of(b, s.at.op()) : none;
  for (std::uint32_t i = 0; i < ids.size(); ++i)
    record_.flushes[b].push_back(
        {s.phase, tick(b), i, index_.channel(op.channelType, index_.rankOf(b), ids[i]), piece});
}

/// Behind those that have come before.
void SyncRun::wait(std::uint32_t b, std::uint32_t &waiters) {
  std::uint32_t *last = &waiters;
  while (*last != none)
    last = &blocks_[*last].nextWaiter;
  *last = b;
}

void SyncRun::wake(std::uint32_t &waiters) {
  while (waiters != none) {
    const std::uint32_t b = waiters;
    waiters = std::exchange(blocks_[b].nextWaiter, none);
    ready_.push_back(b);
  }
}

std::optional<SyncRecord> recordSync(const ProgramIndex &index, const proof::Geometry &geometry,
                                     const SyncPieces &pieces, SyncOrbits &orbits, bool sizesChange, bool ofFirstRank) {
  SyncRun run(index, geometry, pieces, orbits, sizesChange, ofFirstRank);
  if (!run.run())
    return std::nullopt;
  return run.take();
}

} // namespace mscclc::passes::prune
