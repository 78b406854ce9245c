#include "passes/verify/replay.h"

#include "ir/collectives.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

Replay::Replay(const ProgramIndex &index, const Geometry &geometry, const Memory &memory)
    : index_(index), geometry_(geometry), memory_(memory), held_(index.numQueues()), states_(index.numBlocks()),
      traces_(index.numBlocks()), queues_(index), numSent_(index.numQueues()), arrivals_(index),
      rounds_(index.numBarriers()) {
  for (std::uint32_t queue = 0; queue < index.numQueues(); ++queue)
    numSent_[queue] = queues_.initial(queue);
}

bool Replay::run(std::uint32_t launches) {
  const bool user = ir::hasUser(index_.program.collective.kind);
  for (State &s : states_)
    s.phase = user; // the user writes inputs
  for (launch_ = 0; launch_ < launches; ++launch_) {
    beginLaunch();
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t b = 0; b < states_.size(); ++b)
        while (advance(b))
          moved = true;
      if (instances_ > mostInstances)
        return false;
    }
    bool whole = true;
    for (std::uint32_t b = 0; b < states_.size(); ++b) {
      whole &= states_[b].at.atEnd(index_.ops(b));
      traces_[b].ends.push_back(static_cast<std::uint32_t>(traces_[b].ops.size()));
      states_[b].phase += user ? 3 : 1; // outputs are read, inputs written
    }
    if (!whole)
      return false;
  }
  return true;
}

/// A launch of a rank begins when its last one has ended.
void Replay::beginLaunch() {
  slots_.clear();
  for (State &s : states_)
    s.at = {};
  for (std::uint32_t rank = 0; launch_ != 0 && rank < index_.numRanks(); ++rank) {
    const auto meeting = static_cast<std::uint32_t>(members_.size());
    std::vector<Sent> &members = members_.emplace_back();
    for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b) {
      members.push_back({b, traces_[b].ends.back()});
      traces_[b].needs.push_back({traces_[b].ends.back(), none, meeting});
    }
  }
}

bool Replay::advance(std::uint32_t b) {
  State &s = states_[b];
  const ir::ThreadBlock &code = index_.ops(b);
  if (!s.at.settle(code, [&](const ir::Op &header) { return geometry_.iterations(header); }))
    return false;
  const ir::Op &op = code.ops[s.at.op()];
  if (!tryOp(b, op))
    return false;
  Trace &trace = traces_[b];
  s.phase += ir::has(op.sync, ir::DataSync::Before);
  trace.ops.push_back(s.at.op());
  trace.phases.push_back(s.phase);
  ++instances_;
  s.phase += ir::isBlockSync(op.kind);
  s.phase += ir::has(op.sync, ir::DataSync::After);
  s.step = 0;
  s.ticket.reset();
  s.at.next(code);
  return true;
}

bool Replay::tryOp(std::uint32_t b, const ir::Op &op) {
  State &s = states_[b];
  const ir::ThreadBlock &code = index_.ops(b);
  const std::uint32_t rank = index_.rankOf(b);
  const auto here = static_cast<std::uint32_t>(traces_[b].ops.size());
  const auto ids = code.idsOf(op);
  if (ir::takes(op.kind)) {
    for (; s.step < ids.size(); ++s.step)
      if (!take(b, index_.queue(rank, op, ids[s.step])))
        return false;
    return true;
  }
  if (op.kind == ir::OpKind::Barrier)
    return meet(b, index_.barrierOf(rank, op.imm));
  if (!packets(b, op, false))
    return false;
  packets(b, op, true);
  if (ir::sends(op.kind))
    for (const std::uint32_t id : ids) {
      const std::uint32_t queue = index_.queue(rank, op, id);
      queues_.give(queue, {b, here + 1});
      ++numSent_[queue];
    }
  return true;
}

/// Nobody comes to the next round before all have left this one, so one round of each barrier is enough.
bool Replay::meet(std::uint32_t b, std::uint32_t barrier) {
  State &s = states_[b];
  const auto here = static_cast<std::uint32_t>(traces_[b].ops.size());
  if (!s.ticket)
    s.ticket = arrivals_.arrive(barrier, {b, here});
  const auto met = arrivals_.met(barrier, *s.ticket);
  if (met.empty())
    return false;
  Round &round = rounds_[barrier];
  if (const std::uint64_t number = *s.ticket / met.size(); round.number != number) {
    round = {number, static_cast<std::uint32_t>(members_.size())};
    members_.emplace_back(met.begin(), met.end());
  }
  traces_[b].needs.push_back({here, none, round.meeting});
  return true;
}

bool Replay::take(std::uint32_t b, std::uint32_t queue) {
  if (held_[queue] || queues_.isEmpty(queue))
    return false;
  const Sent from = *queues_.take(queue);
  if (from.block != none)
    traces_[b].needs.push_back({static_cast<std::uint32_t>(traces_[b].ops.size()), from.block, from.count});
  return true;
}

bool Replay::packets(std::uint32_t b, const ir::Op &op, bool write) {
  if (!(write ? ir::isPacketOp(op.kind) : ir::awaitsPackets(op.kind)))
    return true;
  const ir::ThreadBlock &code = index_.ops(b);
  const std::uint32_t rank = index_.rankOf(b);
  const State &s = states_[b];
  const auto here = static_cast<std::uint32_t>(traces_[b].ops.size());
  const auto had = traces_[b].needs.size();
  LoopSlice slice;
  if (s.at.inLoop())
    slice = geometry_.slice(code.ops[s.at.header()], static_cast<std::uint32_t>(s.at.iteration()));
  bool there = true;
  ir::forEachMemory(index_.program, rank, code, op, [&](const ir::MemoryPiece &piece) {
    if (!piece.isPacket() || (piece.access == ir::Access::Write) != write)
      return;
    const ir::Chunk &chunk = code.chunks[op.firstChunk + piece.operand];
    const UnitSpan span = geometry_.span(chunk, op, s.at.inLoop() ? &slice : nullptr, true);
    for (std::uint32_t u = 0; there && u < span.count; ++u) {
      const auto cell = static_cast<CellId>(memory_.base(piece.rank, ir::BufferKind::Scratch, true) + span.first + u);
      if (write) {
        slots_[cell] = {b, here + 1};
      } else if (const auto it = slots_.find(cell); it != slots_.end()) {
        traces_[b].needs.push_back({here, it->second.block, it->second.count});
      } else {
        there = false;
      }
    }
  });
  if (!there)
    traces_[b].needs.resize(had);
  return there;
}

std::uint32_t Replay::find(std::uint32_t block, std::uint32_t phase, std::uint32_t op, std::uint32_t launch) const {
  const Trace &trace = traces_[block];
  if (op == none)
    return launch < trace.ends.size() ? trace.ends[launch] : static_cast<std::uint32_t>(trace.ops.size());
  const auto from = std::lower_bound(trace.phases.begin(), trace.phases.end(), phase);
  for (auto i = static_cast<std::size_t>(from - trace.phases.begin()); i < trace.ops.size(); ++i)
    if (trace.ops[i] == op)
      return static_cast<std::uint32_t>(i);
  return static_cast<std::uint32_t>(trace.ops.size());
}

void Replay::need(std::uint32_t block, std::uint32_t count, Wanted &wanted) const {
  std::vector<Sent> open{{block, count}};
  while (!open.empty()) {
    const auto [b, n] = open.back();
    open.pop_back();
    if (wanted.counts[b] >= n)
      continue;
    const auto &needs = traces_[b].needs;
    auto it = std::lower_bound(needs.begin(), needs.end(), wanted.counts[b],
                               [](const Dependency &d, std::uint32_t i) { return d.instance < i; });
    wanted.counts[b] = n;
    for (; it != needs.end() && it->instance < n; ++it) {
      if (!it->isMeeting()) {
        open.push_back({it->block, it->before});
      } else if (!wanted.met[it->before]) {
        wanted.met[it->before] = true;
        open.insert(open.end(), members_[it->before].begin(), members_[it->before].end());
      }
    }
  }
}

std::vector<Replay::Step> Replay::schedule(std::vector<std::uint32_t> &done, const Wanted &wanted) const {
  std::vector<std::uint32_t> missing; // [meeting]: members that have not come
  for (const std::vector<Sent> &members : members_)
    missing.push_back(static_cast<std::uint32_t>(
        std::ranges::count_if(members, [&](const Sent &member) { return done[member.block] < member.count; })));
  const auto isMet = [&](std::uint32_t b, const Dependency &d) {
    return d.isMeeting() ? missing[d.before] == (done[b] < d.instance) : done[d.block] >= d.before;
  };
  std::vector<Step> steps;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t b = 0; b < done.size(); ++b) {
      const std::uint32_t end = wanted.counts[b];
      if (done[b] >= end)
        continue;
      const auto &needs = traces_[b].needs;
      const auto first = std::lower_bound(needs.begin(), needs.end(), done[b],
                                          [](const Dependency &d, std::uint32_t i) { return d.instance < i; });
      auto it = first;
      while (it != needs.end() && it->instance < end && isMet(b, *it))
        ++it;
      const std::uint32_t to = it != needs.end() && it->instance < end ? it->instance : end;
      if (to == done[b])
        continue;
      for (auto come = first; come != needs.end() && come->instance <= to; ++come)
        if (come->isMeeting() && come->instance > done[b])
          --missing[come->before];
      steps.push_back({b, done[b], to});
      done[b] = to;
      moved = true;
    }
  }
  return steps;
}

} // namespace mscclc::passes::proof
