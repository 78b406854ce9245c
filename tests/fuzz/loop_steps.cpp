// Steps in pipelines, and steps in which two blocks pass a buffer back and forth with semaphores that start above zero.
#include "generator.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

/// For each slice: the owner signals that it is ready, the slice is put, and the owner may copy it on at once.
void Generator::loopPut(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true), next = any(to.rank, true);
  const Doer far = ownerOf(to);
  flush(to);
  const bool goesOn = next != to && cells_.at(next).owner == far.block && !cells_.at(next).sending;
  const auto [channel, back] = channels(a, far, ChannelType::Memory);
  const std::uint64_t bytes = unit();
  nop(a);
  nop(far);
  plan::Block sender = on(a), owner = on(far);
  const bool relaxed = mayRelax(to);
  sender.pipeline(bytes, 1, 5);
  relaxed ? sender.relaxedWait({channel}) : sender.wait({channel});
  sender.nop().remote(OpKind::Put, {remote(a, to)}, {local(from)}).nop().signal({channel});
  const bool between = goesOn && oneIn(2); // otherwise the next slice's signal is in the phase of this slice's copy
  owner.pipeline(bytes, 1, 2 + 2 * goesOn + between);
  relaxed ? owner.relaxedSignal({back}) : owner.signal({back});
  owner.wait({back});
  if (goesOn)
    owner.nop().copy(local(next), local(to));
  if (between)
    owner.nop();
  write(to, valueAt(from));
  if (goesOn)
    write(next, valueAt(from));
  const std::pair here{ChannelType::Memory, channel}, there{ChannelType::Memory, back};
  const std::pair used{0u, relaxed};
  state(far) = {{to, next}, {to, next}, true, {{there, used}}, {{there, {0, false}}}};
  state(a) = {{from}, {to}, true, {{here, {0, false}}}, {{here, used}}};
}

/// Slice by slice, where the owner allows `credits` slices in advance, before it waits for the first one.
void Generator::leadingPut(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  flush(to);
  const auto [channel, back] = channels(a, far, ChannelType::Memory);
  const std::uint64_t bytes = unit();
  const std::uint32_t credits = 1 + below(5);
  nop(a);
  nop(far);
  plan::Block sender = on(a), owner = on(far);
  for (std::uint32_t i = 0; i < credits; ++i)
    owner.signal({back});
  sender.pipeline(bytes, 1, 5).wait({channel}).nop().remote(OpKind::Put, {remote(a, to)}, {local(from)});
  sender.nop().signal({channel});
  owner.pipeline(bytes, 1, 3).wait({back}).nop().signal({back});
  for (std::uint32_t i = 0; i < credits; ++i)
    sender.wait({channel});
  write(to, valueAt(from));
  const std::pair here{ChannelType::Memory, channel}, there{ChannelType::Memory, back};
  const std::pair used{0u, false};
  state(far) = {{}, {to}, true, {{there, used}}, {{there, used}}};
  state(a) = {{from}, {to}, true, {{here, used}}, {{here, used}}};
}

/// Another block copies a place slice by slice. Before its pipeline it acquires releases that come after the pipeline
/// of `a`. Or it acquires twice for each slice, and two pipelines of `a` release.
void Generator::lateReleases(Doer a, const Where &from) {
  const Where to = any(a.rank, true);
  if (blocks_ == 1 || to == from)
    return;
  const Doer b{a.rank, otherBlock(a.block)};
  takeToWrite(to, b.block);
  take(from, a.block);
  const std::uint32_t semaphore = plan_.semaphore(a.rank), ahead = below(5);
  const std::uint64_t bytes = unit();
  nop(a);
  nop(b);
  plan::Block writer = on(a), reader = on(b);
  writer.pipeline(bytes, 1, 1).release({semaphore});
  if (oneIn(3)) {
    writer.pipeline(bytes, 1, 1).release({semaphore});
    reader.pipeline(bytes, 1, 4).acquire({semaphore}).acquire({semaphore}).nop().copy(local(to), local(from));
  } else {
    for (std::uint32_t i = 0; i < ahead; ++i) {
      writer.release({semaphore});
      reader.acquire({semaphore});
    }
    reader.pipeline(bytes, 1, 3).acquire({semaphore}).nop().copy(local(to), local(from));
  }
  write(to, valueAt(from));
  cells_.at(from).owner = b.block;
  state(a) = {{}, {}, true, {}, {}};
  state(b) = {{from}, {to}, true, {}, {}};
}

/// Another block copies a place slice by slice. The place is written after the pipeline of the writer, which releases
/// `ahead` times afterwards. The program is right only for messages of at most `ahead` slices.
void Generator::lateWrite(Doer a, const Where &from) {
  const Where through = any(a.rank, true), to = any(a.rank, true);
  const std::uint32_t ahead = 1 + below(6);
  const std::uint64_t bytes = unit();
  if (blocks_ == 1 || through == from || through == to || to == from || !lastsFor(bytes * ahead))
    return;
  const Doer b{a.rank, otherBlock(a.block)};
  takeToWrite(through, a.block);
  takeToWrite(to, b.block);
  take(from, a.block);
  const std::uint32_t semaphore = plan_.semaphore(a.rank);
  nop(a);
  nop(b);
  plan::Block writer = on(a), reader = on(b);
  writer.pipeline(bytes, 1, 1).release({semaphore});
  writer.copy(local(through), local(from)).nop();
  for (std::uint32_t i = 0; i < ahead; ++i) {
    writer.release({semaphore});
    reader.acquire({semaphore});
  }
  reader.pipeline(bytes, 1, 3).acquire({semaphore}).nop().copy(local(to), local(through));
  write(through, valueAt(from));
  write(to, valueAt(from));
  cells_.at(through).owner = b.block;
  state(a) = {{}, {}, true, {}, {}};
  state(b) = {{through}, {to}, true, {}, {}};
}

/// Packets are sent slice by slice, each for a credit. The taker gives a credit when it has all packets of a slice. The
/// program is right only for messages with at most as many slices as there are credits in advance.
void Generator::packetCredits(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  const std::uint32_t credits = 1 + below(6);
  const std::uint64_t bytes = unit();
  const auto slot = freshSlot(to.rank);
  if (!slot || !lastsFor(bytes * credits))
    return;
  flush(to);
  const auto [channel, back] = channels(a, far, ChannelType::Memory);
  nop(a);
  nop(far);
  plan::Block sender = on(a), taker = on(far);
  for (std::uint32_t i = 0; i < credits; ++i)
    taker.signal({back});
  taker.remote(OpKind::UnpackPacket, {local(to)}, {plan::scratch(slot->index)}, ChannelType::None).nop();
  taker.pipeline(bytes, 1, 1).signal({back});
  sender.pipeline(bytes, 1, 3).wait({channel}).nop().remote(OpKind::PutPacket, {remoteSlot(a, *slot)}, {local(from)});
  for (std::uint32_t i = 0; i < credits; ++i)
    sender.wait({channel});
  slots_[*slot] = valueAt(from);
  write(to, valueAt(from));
  state(far) = {{}, {to}, true, {{{ChannelType::Memory, back}, {0, false}}}, {}};
  state(a) = {{from}, {}, true, {}, {{{ChannelType::Memory, channel}, {0, false}}}};
}

/// Packets of one slice at a time, which are taken as they arrive.
void Generator::loopPackets(Doer a, const Where &from) {
  const Where to = any(otherRank(a.rank), true);
  const Doer far = ownerOf(to);
  const auto slot = freshSlot(to.rank);
  if (!slot)
    return;
  flush(to);
  askForSlot(a, to.rank);
  touch(a, {from}, {});
  touch(far, {}, {to});
  const std::uint64_t bytes = unit();
  on(a).pipeline(bytes, 1, 1).remote(OpKind::PutPacket, {remoteSlot(a, *slot)}, {local(from)});
  on(far)
      .pipeline(bytes, 1, 1)
      .remote(OpKind::UnpackPacket, {local(to)}, {plan::scratch(slot->index)}, ChannelType::None);
  slots_[*slot] = valueAt(from);
  write(to, valueAt(from));
}

/// One block passes chunks to another one through a few places. It may fill a place again when the other block says
/// that it is free.
void Generator::credits(Doer a, const Where &from) {
  const Where through = any(a.rank, true), second = any(a.rank, true), to = any(a.rank, true);
  const std::uint32_t depth = second != through && second != from && second != to ? 1 + below(2) : 1;
  if (blocks_ == 1 || through == from || through == to || to == from)
    return;
  const Doer b{a.rank, otherBlock(a.block)};
  takeToWrite(through, a.block);
  if (depth == 2)
    takeToWrite(second, a.block);
  takeToWrite(to, b.block);
  take(from, a.block);
  if (oneIn(3))
    return loopCredits(a, from, through, to);
  const auto [empty, full] = creditSemaphores(a, b.block, depth);
  const std::uint32_t rounds = 1 + below(4);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const Where &at = i % depth == 0 ? through : second;
    on(a).acquire({empty});
    state(a).waited = true;
    touch(a, {from}, {at});
    on(a).copy(local(at), local(from));
    nop(a);
    on(a).release({full});
    on(b).acquire({full});
    state(b).waited = true;
    touch(b, {at}, {to});
    on(b).copy(local(to), local(at));
    nop(b);
    on(b).release({empty});
    write(at, valueAt(from));
    cells_.at(at).owner = b.block;
  }
  write(to, valueAt(from));
}

/// As credits(), slice by slice.
void Generator::loopCredits(Doer a, const Where &from, const Where &through, const Where &to) {
  const Doer b = ownerOf(to);
  const std::uint32_t depth = 1 + below(3);
  const auto [empty, full] = creditSemaphores(a, b.block, depth);
  const std::uint64_t bytes = unit();
  nop(a);
  nop(b);
  on(a).pipeline(bytes, 1, 5).acquire({empty}).nop().copy(local(through), local(from)).nop().release({full});
  on(b).pipeline(bytes, 1, 5).acquire({full}).nop().copy(local(to), local(through)).nop().release({empty});
  write(through, valueAt(from));
  write(to, valueAt(from));
  cells_.at(through).owner = b.block;
  state(a) = {{from}, {through}, true, {}, {}};
  state(b) = {{through}, {to}, true, {}, {}};
}

/// Returns the semaphores (free places, full places) of places that `a` fills and `block` empties.
std::pair<std::uint32_t, std::uint32_t> Generator::creditSemaphores(Doer a, std::uint32_t block, std::uint32_t depth) {
  const auto [it, isNew] = credits_.try_emplace({a, block, depth});
  if (isNew)
    it->second = {plan_.semaphore(a.rank, depth), plan_.semaphore(a.rank)};
  return it->second;
}

} // namespace fuzz
