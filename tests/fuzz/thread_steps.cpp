// Steps that depend on which thread does which part: operations on several ports in any order; slices that do not meet;
// and the order of one thread within a phase.
#include "generator.h"

namespace fuzz {

using namespace mscclc::ir;

/// One or two port operations to several ranks. Each names its channels in its own order.
void Generator::portPutMany(Doer a, const Where &from) {
  std::map<std::uint32_t, Doer> owners;    // by channel
  std::map<std::uint32_t, Wheres> targets; // the second place is for the second operation
  std::vector<Doer> all;
  plan::Ids ids;
  bool two = oneIn(2), relaxed = true;
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
    if (r == a.rank || oneIn(4))
      continue;
    const Where first = any(r, true), second = any(r, true);
    const Doer far = ownerOf(first);
    take(second, far.block);
    flush(first);
    flush(second);
    ids.push_back(channels(a, far, ChannelType::Port).first);
    owners[ids.back()] = far;
    targets[ids.back()] = {first, second};
    two = two && first != second;
    relaxed = relaxed && mayRelax(first) && !cells_.at(second).written;
    all.push_back(far);
  }
  if (ids.empty())
    return;
  messageFromAll(all, a, relaxed);
  touch(a, {from}, {});
  shuffle(ids);
  const auto send = [&](OpKind kind, std::size_t which) {
    plan::Chunks there;
    for (const std::uint32_t id : ids) {
      there.push_back(remote(a, targets[id][which], 1, ChannelType::Port));
      write(targets[id][which], valueAt(from));
    }
    on(a).remote(kind, there, plan::Chunks(ids.size(), local(from)), ChannelType::Port, ids);
  };
  const std::uint32_t form = below(4);
  // The operation that signals is in a later phase than the operations that it publishes, or each thread signals after
  // its own part.
  const bool sameThreads = mayBeUnusual_ && oneIn(2);
  if (two) {
    send(OpKind::Put, 0);
    unusual_ |= sameThreads;
    if (!sameThreads) {
      shuffle(ids);
      if (form >= 2)
        nop(a);
    }
  }
  if (form >= 2) {
    if (!sameThreads || !two)
      keepPositions(a, true, ChannelType::Port, ids, false);
    send(form == 2 ? OpKind::PutWithSignal : OpKind::PutWithSignalAndFlush, two);
  } else {
    send(OpKind::Put, two);
    unusual_ |= sameThreads;
    if (!sameThreads) {
      nop(a);
      shuffle(ids);
    }
    on(a).signal(ids, ChannelType::Port);
  }
  for (const auto &[id, far] : owners)
    hear(far, {channels(a, far, ChannelType::Port).second}, ChannelType::Port);
  nop(a);
  if (form != 3) {
    shuffle(ids);
    on(a).flush(ids);
  }
  state(a).waited = true;
}

/// Each of `readers` waits for all writers; or, if there are as many readers as writers, only for the writer of its own
/// slice.
void Generator::sliceTo(const std::vector<Doer> &writers, const std::vector<Doer> &readers) {
  for (std::size_t r = 0; r < readers.size(); ++r) {
    plan::Ids heard;
    for (std::size_t w = 0; w < writers.size(); ++w) {
      if (writers[w] == readers[r] || (writers.size() == readers.size() && w != r))
        continue;
      if (writers[w].rank != readers[r].rank) {
        message(writers[w], readers[r], false);
        continue;
      }
      heard.push_back(plan_.semaphore(writers[w].rank));
      settle(writers[w]);
      on(writers[w]).release({heard.back()});
    }
    shuffle(heard);
    if (!heard.empty())
      on(readers[r]).acquire(heard);
    nop(readers[r]);
  }
}

/// Some blocks copy slices of a place, or put them to another rank. Other blocks copy the result, as a whole or in
/// slices of their own.
void Generator::sliceStep(std::uint32_t rank, const Where &from) {
  const std::uint32_t far = oneIn(2) ? otherRank(rank) : rank;
  const Where to = any(far, true), next = any(far, true);
  if (blocks_ == 1 || to == from || next == from || next == to)
    return;
  const std::uint32_t width = widthOf(from, to);
  const Where second = width == 2 ? behind(to) : to, also = width == 2 ? behind(from) : from;
  if (second == next || also == next || second == from || also == to)
    return;
  for (const Where &at : {to, second, next})
    flush(at);
  if (far != rank) {
    meetAll(far);
    message({far, 0}, {rank, 0}, false);
  }
  meetAll(rank);
  const auto some = [&](std::uint32_t r, std::uint32_t n) {
    plan::Ids blocks(blocks_);
    for (std::uint32_t b = 0; b < blocks_; ++b)
      blocks[b] = b;
    shuffle(blocks);
    std::vector<Doer> doers;
    for (std::uint32_t i = 0; i < n; ++i)
      doers.push_back({r, blocks[i]});
    return doers;
  };
  const auto writers = some(rank, 2 + below(blocks_ - 1)), readers = some(far, 1 + below(blocks_));
  // Slices of one chunk and slices of two chunks do not match.
  const bool alike = writers.size() == readers.size() && width == 2;
  for (std::uint32_t i = 0; i < writers.size(); ++i) {
    if (far == rank)
      on(writers[i]).copy(local(to, width), local(from, width));
    else
      on(writers[i]).remote(OpKind::Put, {remote(writers[i], to, width)}, {local(from, width)});
    on(writers[i]).slice(i, static_cast<std::uint32_t>(writers.size()));
    state(writers[i]).reads.insert(from);
  }
  if (alike) {
    for (const Doer d : writers)
      sliceTo({d}, {readers.begin(), readers.end()});
  } else {
    sliceTo(writers, readers);
  }
  const Where &read = oneIn(2) ? second : to;
  for (std::uint32_t i = 0; i < readers.size(); ++i) {
    on(readers[i]).copy(local(next), local(read));
    if (readers.size() > 1)
      on(readers[i]).slice(i, static_cast<std::uint32_t>(readers.size()));
  }
  write(to, valueAt(from));
  if (width == 2)
    write(second, valueAt(also));
  write(next, valueAt(read));
  meetAll(rank);
  if (far != rank)
    meetAll(far);
}

/// Copies of copies within one phase: each thread handles the same elements every time.
void Generator::chainStep(Doer a, const Where &from) {
  const Where to = any(a.rank, true), next = any(a.rank, true);
  if (!mayBeUnusual_ || to == from || next == from || next == to)
    return;
  takeToWrite(to, a.block);
  takeToWrite(next, a.block);
  touch(a, {from}, {to, next});
  on(a).copy(local(to), local(from)).copy(local(next), local(to));
  write(to, valueAt(from));
  write(next, valueAt(from));
  unusual_ = true;
}

/// A thread waits for another rank, and at once signals a block of its own rank.
void Generator::relayStep(Doer a, const Where &from) {
  if (!mayBeUnusual_ || blocks_ == 1)
    return;
  const Doer far{otherRank(a.rank), below(blocks_)}, other{far.rank, otherBlock(far.block)};
  const Where to = any(other.rank, true);
  takeToWrite(to, other.block);
  message(other, a, mayRelax(to));
  touch(a, {from}, {});
  on(a).remote(OpKind::Put, {remote(a, to)}, {local(from)});
  write(to, valueAt(from));
  const auto [channel, back] = channels(a, far, ChannelType::Memory);
  tell(a, {channel}, ChannelType::Memory);
  hear(far, {back}, ChannelType::Memory);
  const std::uint32_t semaphore = plan_.semaphore(far.rank);
  on(far).release({semaphore});
  on(other).acquire({semaphore});
  state(other).waited = true;
  unusual_ = true;
}

/// Two blocks signal on one channel, one after the other.
void Generator::turnsStep(Doer a, const Where &from) {
  if (!mayBeUnusual_ || blocks_ == 1)
    return;
  const Doer other{a.rank, otherBlock(a.block)};
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  flush(to);
  message(far, a, mayRelax(to));
  touch(a, {from}, {});
  on(a).remote(OpKind::Put, {remote(a, to)}, {local(from)});
  write(to, valueAt(from));
  const auto [channel, back] = channels(a, far, ChannelType::Memory);
  tell(a, {channel}, ChannelType::Memory);
  meetAll(a.rank);
  on(other).signal({channel});
  hear(far, {back}, ChannelType::Memory);
  hear(far, {back}, ChannelType::Memory);
  meetAll(a.rank); // before the channel's own block goes on
  unusual_ = true;
}

} // namespace fuzz
