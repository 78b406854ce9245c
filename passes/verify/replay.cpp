#include "passes/verify/replay.h"

#include "ir/collectives.h"
#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::proof {

Replay::Replay(const ProgramIndex &index, const Geometry &geometry, const Premises &premises, const Memory &memory)
    : index_(index), geometry_(geometry), premises_(premises), memory_(memory),
      held_(index.numChannels() + index.numSemaphores()), states_(index.numBlocks()), traces_(index.numBlocks()),
      queues_(index.numChannels() + index.numSemaphores()), numSent_(queues_.size()), numTaken_(queues_.size()),
      initial_(queues_.size()), barriers_(premises.barriers().size()) {
  for (std::uint32_t r = 0; r < index.numRanks(); ++r)
    for (std::uint32_t id = 0; id < index.program.ranks[r].semaphores.size(); ++id) {
      const std::uint32_t queue = index.numChannels() + index.semaphore(r, id);
      numSent_[queue] = initial_[queue] = index.program.ranks[r].semaphores[id].initialValue;
    }
}

bool Replay::run(std::uint32_t launches) {
  const bool user = ir::hasUser(index_.program.collective.kind);
  for (State &s : states_)
    s.phase = user; // the user writes inputs
  for (launch_ = 0; launch_ < launches; ++launch_) {
    slots_.clear();
    for (std::uint32_t b = 0; b < states_.size(); ++b) {
      states_[b] = {0, 0, none, 0, states_[b].phase, none};
      if (launch_ == 0)
        continue;
      const std::uint32_t rank = index_.rankOf(b); // a launch of a rank begins when its last has ended
      const auto at = static_cast<std::uint32_t>(traces_[b].ops.size());
      for (std::uint32_t other = index_.block(rank, 0); other < index_.block(rank + 1, 0); ++other)
        if (other != b)
          traces_[b].needs.push_back({at, other, traces_[other].ends.back()});
    }
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
      whole &= states_[b].pc == index_.ops(b).ops.size();
      traces_[b].ends.push_back(static_cast<std::uint32_t>(traces_[b].ops.size()));
      states_[b].phase += user ? 3 : 1; // outputs are read, inputs written
    }
    if (!whole)
      return false;
  }
  return true;
}

bool Replay::advance(std::uint32_t b) {
  State &s = states_[b];
  const auto &ops = index_.ops(b).ops;
  if (s.pc == ops.size())
    return false;
  const ir::Op &op = ops[s.pc];
  if (op.kind == ir::OpKind::Pipeline) {
    if (geometry_.iterations(op) == 0 || op.bodySize == 0) {
      s.pc += 1 + op.bodySize;
    } else {
      s.loop = s.pc++;
      s.iteration = 0;
    }
    return true;
  }
  if (!tryOp(b, op))
    return false;
  Trace &trace = traces_[b];
  s.phase += ir::has(op.sync, ir::DataSync::Before);
  trace.ops.push_back(s.pc);
  trace.phases.push_back(s.phase);
  ++instances_;
  s.phase += ir::isBlockSync(op.kind);
  s.phase += ir::has(op.sync, ir::DataSync::After);
  s.step = 0;
  s.arrived = none;
  ++s.pc;
  if (s.loop != none && s.pc == s.loop + 1 + ops[s.loop].bodySize) {
    if (++s.iteration < geometry_.iterations(ops[s.loop]))
      s.pc = s.loop + 1;
    else
      s.loop = none;
  }
  return true;
}

bool Replay::tryOp(std::uint32_t b, const ir::Op &op) {
  State &s = states_[b];
  const ir::ThreadBlock &code = index_.ops(b);
  const std::uint32_t rank = index_.rankOf(b);
  const auto here = static_cast<std::uint32_t>(traces_[b].ops.size());
  const auto send = [&](std::uint32_t queue) {
    queues_[queue].push_back({b, here + 1});
    ++numSent_[queue];
  };
  const bool semaphore = ir::isSemaphoreOp(op.kind);
  const auto queueOf = [&](std::uint32_t id) {
    return semaphore ? index_.numChannels() + index_.semaphore(rank, id) : index_.channel(op.channelType, rank, id);
  };
  if (ir::takes(op.kind)) {
    const auto ids = code.idsOf(op);
    for (; s.step < ids.size(); ++s.step)
      if (!take(b, queueOf(ids[s.step])))
        return false;
    return true;
  }
  if (op.kind == ir::OpKind::Barrier) {
    const std::uint32_t number = premises_.barrier(rank, op.imm);
    auto &arrived = barriers_[number];
    const auto size = premises_.barriers()[number].blocks.size();
    if (s.arrived == none) {
      s.arrived = static_cast<std::uint32_t>(arrived.size());
      arrived.push_back({b, here});
    }
    const std::size_t round = s.arrived / size * size; // all arrive once before any arrives again
    if (arrived.size() < round + size)
      return false;
    for (std::size_t i = round; i < round + size; ++i)
      if (arrived[i].block != b)
        traces_[b].needs.push_back({here, arrived[i].block, arrived[i].count});
    return true;
  }
  if (!packets(b, op, false))
    return false;
  packets(b, op, true);
  if (ir::sends(op.kind))
    for (const std::uint32_t id : code.idsOf(op))
      send(semaphore ? queueOf(id) : index_.pairOf(queueOf(id)));
  return true;
}

bool Replay::take(std::uint32_t b, std::uint32_t queue) {
  if (held_[queue] || numTaken_[queue] == numSent_[queue])
    return false;
  const std::uint64_t number = numTaken_[queue]++;
  if (number >= initial_[queue]) {
    const Sent &from = queues_[queue][number - initial_[queue]];
    traces_[b].needs.push_back({static_cast<std::uint32_t>(traces_[b].ops.size()), from.block, from.count});
  }
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
  if (s.loop != none)
    slice = geometry_.slice(code.ops[s.loop], s.iteration);
  for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
    const ir::OperandRole role = ir::roleOf(op, i);
    if (role.form != ir::DataForm::Packet || (role.access == ir::Access::Write) != write)
      continue;
    const ir::Chunk &chunk = code.chunks[op.firstChunk + i];
    const UnitSpan span = geometry_.span(chunk, op, s.loop != none ? &slice : nullptr, true);
    std::vector<std::uint32_t> owners{rank};
    if (chunk.space == ir::ChunkSpace::Remote)
      owners[0] = index_.program.ranks[rank].remoteBuffers[chunk.id].rank;
    else if (chunk.space == ir::ChunkSpace::Switch)
      owners = index_.program.ranks[rank].switchChannels[chunk.id].ranks;
    for (const std::uint32_t owner : owners)
      for (std::uint32_t u = 0; u < span.count; ++u) {
        const auto cell = static_cast<CellId>(memory_.base(owner, ir::BufferKind::Scratch, true) + span.first + u);
        if (write) {
          slots_[cell] = {b, here + 1};
          continue;
        }
        const auto it = slots_.find(cell);
        if (it == slots_.end()) {
          traces_[b].needs.resize(had);
          return false;
        }
        traces_[b].needs.push_back({here, it->second.block, it->second.count});
      }
  }
  return true;
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

void Replay::need(std::uint32_t block, std::uint32_t count, std::vector<std::uint32_t> &wanted) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{block, count}};
  while (!open.empty()) {
    const auto [b, n] = open.back();
    open.pop_back();
    if (wanted[b] >= n)
      continue;
    const auto &needs = traces_[b].needs;
    auto it = std::lower_bound(needs.begin(), needs.end(), wanted[b],
                               [](const Dependency &d, std::uint32_t i) { return d.instance < i; });
    wanted[b] = n;
    for (; it != needs.end() && it->instance < n; ++it)
      open.emplace_back(it->block, it->before);
  }
}

std::vector<Replay::Step> Replay::schedule(std::vector<std::uint32_t> &done,
                                           const std::vector<std::uint32_t> &wanted) const {
  std::vector<Step> steps;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::uint32_t b = 0; b < done.size(); ++b) {
      if (done[b] >= wanted[b])
        continue;
      const auto &needs = traces_[b].needs;
      auto it = std::lower_bound(needs.begin(), needs.end(), done[b],
                                 [](const Dependency &d, std::uint32_t i) { return d.instance < i; });
      while (it != needs.end() && it->instance < wanted[b] && done[it->block] >= it->before)
        ++it;
      const std::uint32_t to = it != needs.end() && it->instance < wanted[b] ? it->instance : wanted[b];
      if (to == done[b])
        continue;
      steps.push_back({b, done[b], to});
      done[b] = to;
      moved = true;
    }
  }
  return steps;
}

} // namespace mscclc::passes::proof
