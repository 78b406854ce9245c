// Steps on plain data: within a rank, between two, to several, through ports and switches.
#include "generator.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

void Generator::localStep(Doer a, const Where &from) {
  const Where to = any(a.rank, true);
  if (to == from)
    return;
  takeToWrite(to, a.block);
  if (!valueAt(to).empty() && disjoint(valueAt(to), valueAt(from)) && !oneIn(3)) {
    touch(a, {from, to}, {to});
    on(a).reduce(local(to), {local(to), local(from)}, reduceOp_);
    return write(to, joined(valueAt(to), valueAt(from)));
  }
  if (widthOf(from, to) == 2) {
    take(behind(from), a.block);
    takeToWrite(behind(to), a.block);
    touch(a, {from, behind(from)}, {to, behind(to)});
    on(a).copy(local(to, 2), local(from, 2));
    write(behind(to), valueAt(behind(from)));
  } else {
    touch(a, {from}, {to});
    on(a).copy(local(to), local(from));
  }
  write(to, valueAt(from));
}

/// All blocks of a rank do one slice each of a copy, a reduce or a put.
void Generator::groupStep(std::uint32_t rank, const Where &from) {
  const std::uint32_t form = below(3);
  const Where to = any(form == 2 ? otherRank(rank) : rank, true);
  const bool sums = form == 1 && !valueAt(to).empty() && disjoint(valueAt(to), valueAt(from));
  if (blocks_ == 1 || to == from)
    return;
  const Doer first{rank, cells_.at(from).owner}, far = ownerOf(to);
  flush(to);
  if (to.rank != rank)
    message(far, first, mayRelax(to));
  meetAll(rank);
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    plan::Block block = on({rank, b});
    if (to.rank != rank)
      block.remote(OpKind::Put, {remote({rank, b}, to)}, {local(from)});
    else if (sums)
      block.reduce(local(to), {local(to), local(from)}, reduceOp_);
    else
      block.copy(local(to), local(from));
    block.slice(b, blocks_);
  }
  meetAll(rank);
  write(to, sums ? joined(valueAt(to), valueAt(from)) : valueAt(from));
  if (to.rank != rank)
    message(first, far, false);
}

/// Reduces chunks of this rank and maybe of other ranks. The sum stays here, and maybe goes to other ranks.
void Generator::reduceStep(Doer a, const Where &from) {
  const Where to = any(a.rank, true);
  Value sum = valueAt(from);
  Wheres mine{from}, theirs, targets;
  const bool reads = oneIn(2); // then only one operand is its own chunk
  if (!reads && to != from && oneIn(2) && !valueAt(to).empty() && disjoint(valueAt(to), sum)) {
    sum = joined(sum, valueAt(to));
    mine.insert(mine.begin(), to);
  }
  for (std::uint32_t more = reads ? 0 : below(2) + (mine.size() == 1); more > 0; --more)
    if (const auto at = disjointFrom(a.rank, sum); at && *at != to) {
      sum = joined(sum, valueAt(*at));
      mine.push_back(*at);
    }
  for (std::uint32_t more = reads ? 1 + below(2) : 0; more > 0; --more)
    if (const auto at = disjointFrom(otherRank(a.rank), sum)) {
      sum = joined(sum, valueAt(*at));
      theirs.push_back(*at);
    }
  for (std::uint32_t more = below(3); more > 0; --more) {
    const Where at = any(otherRank(a.rank), true);
    if (std::find(theirs.begin(), theirs.end(), at) == theirs.end() &&
        std::find(targets.begin(), targets.end(), at) == targets.end())
      targets.push_back(at);
  }
  if (mine.size() + theirs.size() < 2)
    return;
  for (const Where &at : mine)
    take(at, a.block);
  takeToWrite(to, a.block);
  for (const Where &at : theirs)
    message(ownerOf(at), a, mayRelax(at));
  for (const Where &at : targets) {
    flush(at);
    message(ownerOf(at), a, mayRelax(at));
  }
  touch(a, mine, {to});
  plan::Chunks sources, destinations{local(to)};
  for (const Where &at : mine)
    sources.push_back(local(at));
  for (const Where &at : theirs)
    sources.push_back(remote(a, at));
  for (const Where &at : targets)
    destinations.push_back(remote(a, at));
  const bool sends = !targets.empty();
  on(a).remote(reads   ? sends ? OpKind::ReadReduceSend : OpKind::ReadReduce
               : sends ? OpKind::ReduceSend
                       : OpKind::Reduce,
               destinations, sources, reads || sends ? ChannelType::Memory : ChannelType::None);
  Op &op = plan_.program.ranks[a.rank].blocks[a.block].ops.back();
  op.reduceOp = reduceOp_;
  op.firstAfter = reads && oneIn(2) ? below(sources.size()) : 0;
  write(to, sum);
  for (const Where &at : theirs)
    message(a, ownerOf(at), oneIn(2));
  for (const Where &at : targets) {
    write(at, sum);
    message(a, ownerOf(at), false);
  }
}

void Generator::put(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  const std::uint32_t width = widthOf(from, to);
  flush(to);
  if (width == 2) {
    take(behind(from), a.block);
    takeToWrite(behind(to), far.block);
  }
  message(far, a, mayRelax(to) && (width == 1 || !cells_.at(behind(to)).written));
  touch(a, width == 2 ? Wheres{from, behind(from)} : Wheres{from}, {});
  on(a).remote(OpKind::Put, {remote(a, to, width)}, {local(from, width)});
  write(to, valueAt(from));
  if (width == 2)
    write(behind(to), valueAt(behind(from)));
  message(a, far, false);
}

/// One put operation to several ranks, and one signal operation to all of them.
void Generator::putMany(Doer a, const Where &from) {
  Wheres sources, targets;
  std::vector<Doer> owners;
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
    if (r == a.rank || oneIn(3))
      continue;
    const auto other = oneIn(2) ? defined(a.rank) : std::nullopt;
    sources.push_back(other.value_or(from));
    take(sources.back(), a.block);
    targets.push_back(any(r, true));
    owners.push_back(ownerOf(targets.back()));
    flush(targets.back());
    message(owners.back(), a, mayRelax(targets.back()));
  }
  if (targets.empty())
    return;
  touch(a, sources, {});
  plan::Chunks here, there;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    here.push_back(local(sources[i]));
    there.push_back(remote(a, targets[i]));
    write(targets[i], valueAt(sources[i]));
  }
  // All sources of a fused put must be in buffers of the same kind.
  if (std::any_of(here.begin(), here.end(), [&](const Chunk &c) { return c.space != here[0].space; }))
    for (std::size_t i = 0; i < targets.size(); ++i)
      on(a).remote(OpKind::Put, {there[i]}, {here[i]});
  else
    on(a).remote(OpKind::Put, there, here);
  messageToAll(a, owners);
}

void Generator::get(Doer a) {
  const auto from = defined(otherRank(a.rank));
  if (!from)
    return;
  const Where to = any(a.rank, true);
  const Doer far = ownerOf(*from);
  const std::uint32_t width = widthOf(*from, to);
  takeToWrite(to, a.block);
  if (width == 2) {
    take(behind(*from), far.block);
    takeToWrite(behind(to), a.block);
  }
  message(far, a, mayRelax(*from) && (width == 1 || !cells_.at(behind(*from)).written));
  touch(a, {}, width == 2 ? Wheres{to, behind(to)} : Wheres{to});
  const auto [channel, back] = channels(a, far, ChannelType::Memory);
  on(a).remote(OpKind::Get, {local(to, width)}, {remote(a, *from, width)}, ChannelType::Memory, {channel});
  write(to, valueAt(*from));
  if (width == 2)
    write(behind(to), valueAt(behind(*from)));
  message(a, far, oneIn(2));
}

void Generator::portPut(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  flush(to);
  message(far, a, mayRelax(to));
  touch(a, {from}, {});
  const auto [channel, back] = channels(a, far, ChannelType::Port);
  const std::uint32_t form = below(3);
  const OpKind kinds[] = {OpKind::Put, OpKind::PutWithSignal, OpKind::PutWithSignalAndFlush};
  if (form != 0)
    keepPositions(a, true, ChannelType::Port, {channel}, false);
  on(a).remote(kinds[form], {remote(a, to, 1, ChannelType::Port)}, {local(from)}, ChannelType::Port, {channel});
  write(to, valueAt(from));
  if (form == 0) {
    nop(a);
    tell(a, {channel}, ChannelType::Port);
  }
  hear(far, {back}, ChannelType::Port);
  if (form == 2)
    state(a).waited = true; // the flush orders only later phases
  else
    sending(from, channel);
}

/// Notes that a port may read the place until its channel is flushed.
void Generator::sending(const Where &from, std::uint32_t channel) {
  Cell &cell = cells_.at(from);
  if (cell.sending && *cell.sending != channel)
    flush(from);
  cell.sending = channel;
  if (oneIn(2))
    flush(from);
}

/// The switch channel over all ranks' buffers of this kind.
std::uint32_t Generator::switchOf(BufferKind buffer) {
  const auto [it, isNew] = switches_.try_emplace(buffer, static_cast<std::uint32_t>(switches_.size()));
  if (isNew)
    plan_.switchChannel(buffer);
  return it->second;
}

/// The chunks of all ranks at one place are written from here, reduced to here, or reduced and written to all ranks.
void Generator::switchStep(Doer a, const Where &from) {
  const Where at = any(a.rank, oneIn(2));
  Value sum;
  bool sums = true;
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
    const Value &value = valueAt({r, at.buffer, at.chunk});
    sums = sums && !value.empty() && disjoint(sum, value);
    sum = joined(sum, value);
  }
  const std::uint32_t form = sums ? below(3) : 0;
  const Where to = form == 1 ? any(a.rank, true) : at;
  if (form == 0 ? at == from : form == 1 && to == at)
    return;
  takeToWrite(to, a.block);
  take(at, a.block);
  if (form == 0)
    take(from, a.block);
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
    const Where there{r, at.buffer, at.chunk};
    flush(there);
    if (r != a.rank)
      message(ownerOf(there), a, mayRelax(there));
  }
  const BufferKind buffer = nameOf(at);
  const std::uint32_t channel = switchOf(buffer);
  const Chunk all = plan::onSwitch(channel, at.chunk);
  plan::Block block = on(a);
  touch(a, {form == 0 ? from : at}, {to});
  if (form == 0)
    block.remote(OpKind::SwitchBroadcast, {all}, {local(from)}, ChannelType::Switch, {channel});
  else if (form == 1)
    block.remote(OpKind::SwitchReduce, {local(to)}, {all}, ChannelType::Switch, {channel});
  else
    block.remote(OpKind::SwitchReduceBroadcast, {all}, {all}, ChannelType::Switch, {channel});
  plan_.program.ranks[a.rank].blocks[a.block].ops.back().reduceOp = form == 0 ? ReduceOp::Sum : reduceOp_;
  const Value value = form == 0 ? valueAt(from) : sum;
  if (form == 1)
    write(to, value);
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
    const Where there{r, at.buffer, at.chunk};
    if (form != 1)
      write(there, value);
    if (r != a.rank)
      message(a, ownerOf(there), form == 1 && oneIn(2));
  }
}

} // namespace fuzz
