// Steps in which several blocks use one semaphore or one port channel.
#include "generator.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

/// One block passes a place to all others, which copy it and give it back. All of them use one semaphore in each
/// direction.
void Generator::share(Doer a, const Where &from) {
  if (blocks_ == 1)
    return;
  const std::uint32_t out = plan_.semaphore(a.rank), back = plan_.semaphore(a.rank);
  const auto others = static_cast<std::size_t>(blocks_ - 1);
  Wheres targets;
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    const Where to = any(a.rank, true);
    const bool isNew = to != from && std::find(targets.begin(), targets.end(), to) == targets.end();
    targets.push_back(b == a.block || !isNew ? from : to); // from: nothing to copy
    if (targets.back() != from)
      takeToWrite(to, b);
  }
  settle(a);
  on(a).release(plan::Ids(others, out));
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    if (b == a.block)
      continue;
    const Doer other{a.rank, b};
    on(other).acquire({out});
    state(other).waited = true;
    if (targets[b] != from) {
      touch(other, {from}, {targets[b]});
      on(other).copy(local(targets[b]), local(from));
      write(targets[b], valueAt(from));
    }
    settle(other);
    on(other).release({back});
  }
  on(a).acquire(plan::Ids(others, back));
  state(a).waited = true;
}

/// A put through a channel on which another block signals.
void Generator::portPutForAnother(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  if (blocks_ == 1)
    return;
  const Doer signaller{a.rank, otherBlock(a.block)};
  flush(to);
  message(far, a, mayRelax(to));
  touch(a, {from}, {});
  const auto [channel, back] = channels(signaller, far, ChannelType::Port);
  on(a).remote(OpKind::Put, {remote(a, to, 1, ChannelType::Port)}, {local(from)}, ChannelType::Port, {channel});
  write(to, valueAt(from));
  handOver(a, signaller);
  tell(signaller, {channel}, ChannelType::Port);
  hear(far, {back}, ChannelType::Port);
  sending(from, channel);
}

} // namespace fuzz
