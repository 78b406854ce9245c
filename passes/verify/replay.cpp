#include "passes/verify/replay.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

Replay::Replay(const ProgramIndex &index, const Geometry &geometry, const Memory &memory)
    : index_(index), control_(index, geometry, *this), data_(index, geometry, memory, control_, *this),
      phases_(index.numBlocks()), traces_(index.numBlocks()), numSent_(index.numQueues()) {
  for (std::uint32_t queue = 0; queue < index.numQueues(); ++queue)
    numSent_[queue] = control_.initial(queue);
}

bool Replay::run(std::uint32_t launches) {
  while (control_.launch() < launches) {
    control_.beginLaunch();
    const bool whole = control_.runLaunch();
    for (Trace &trace : traces_)
      trace.ends.push_back(static_cast<std::uint32_t>(trace.ops.size()));
    control_.endLaunch();
    if (!whole)
      return false;
  }
  return true;
}

/// Makes each launch of a rank begin after the rank's last launch has ended.
void Replay::launchBegins() {
  data_.beginLaunch();
  for (std::uint32_t rank = 0; control_.launch() != 0 && rank < index_.numRanks(); ++rank) {
    const auto meeting = static_cast<std::uint32_t>(members_.size());
    std::vector<Sent> &members = members_.emplace_back();
    for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b) {
      members.push_back({b, here(b)});
      traces_[b].needs.push_back({here(b), none, meeting});
    }
  }
}

void Replay::done(std::uint32_t b) {
  traces_[b].ops.push_back(control_.at(b).op());
  traces_[b].phases.push_back(phases_[b]);
  if (++instances_ > mostInstances)
    control_.stop();
}

void Replay::meet(std::span<const std::uint32_t> blocks) {
  const auto meeting = static_cast<std::uint32_t>(members_.size());
  std::vector<Sent> &members = members_.emplace_back();
  for (const std::uint32_t b : blocks) {
    members.push_back({b, here(b)});
    traces_[b].needs.push_back({here(b), none, meeting});
    ++phases_[b];
  }
}

void Replay::meetRank(std::uint32_t rank) {
  for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b)
    ++phases_[b];
}

/// Adds a message that the current operation of `b` sends. Returns its number.
std::uint32_t Replay::send(std::uint32_t b) {
  messages_.push_back({b, here(b) + 1});
  return static_cast<std::uint32_t>(messages_.size() - 1);
}

std::uint32_t Replay::gives(std::uint32_t b, const ir::Op & /*op*/, std::uint32_t /*thread*/, std::uint32_t queue) {
  ++numSent_[queue];
  return send(b);
}

void Replay::takes(std::uint32_t b, const ir::Op & /*op*/, std::uint32_t /*thread*/, std::uint32_t /*queue*/,
                   std::uint32_t message) {
  if (message != none)
    traces_[b].needs.push_back({here(b), messages_[message].block, messages_[message].count});
}

bool Replay::begins(const DataStep &step) {
  for (const std::uint32_t message : step.taken)
    traces_[step.block].needs.push_back({here(step.block), messages_[message].block, messages_[message].count});
  return ir::isPacketOp(step.op->kind);
}

void Replay::writes(const DataStep &step, const Operand &part, std::uint32_t /*unit*/,
                    std::span<const std::uint32_t> /*taken*/) {
  if (!part.packet)
    return;
  const std::uint32_t message = send(step.block);
  for (CellId cell = part.first; cell < part.first + part.count; ++cell)
    data_.send(cell, message);
}

void Replay::puts(const DataStep &step, std::uint32_t /*thread*/, std::uint32_t /*channel*/, const Operand & /*source*/,
                  const Operand &destination) {
  writes(step, destination, 0, {});
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
  std::vector<std::uint32_t> missing; // [meeting]: number of its members that have not arrived
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
