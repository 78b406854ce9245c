// Steps with packets. A slot of scratch is written once, and any block may read it.
#include "generator.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

std::optional<Generator::Slot> Generator::freshSlot(std::uint32_t rank) {
  if (nextSlot_[rank] >= plan_.program.ranks[rank].scratchChunks)
    return std::nullopt;
  return Slot{rank, nextSlot_[rank]++};
}

/// Returns a slot that is unused on every rank.
std::optional<std::uint32_t> Generator::freshSlotOnAll() {
  const std::uint32_t slot = *std::max_element(nextSlot_.begin(), nextSlot_.end());
  if (slot >= plan_.program.ranks[0].scratchChunks)
    return std::nullopt;
  nextSlot_.assign(nextSlot_.size(), slot + 1);
  return slot;
}

std::optional<Generator::Slot> Generator::filledSlot(std::uint32_t rank) {
  std::vector<Slot> filled;
  for (const auto &[slot, value] : slots_)
    if (slot.rank == rank)
      filled.push_back(slot);
  if (filled.empty())
    return std::nullopt;
  return filled[below(filled.size())];
}

Chunk Generator::remoteSlot(Doer by, Slot slot, ChannelType type) {
  return on(by).of(slot.rank, BufferKind::Scratch, slot.index, 1, type);
}

/// `a` waits for a message of `rank`, which shows that it has begun this launch.
void Generator::askForSlot(Doer a, std::uint32_t rank) {
  message({rank, below(blocks_)}, a, oneIn(2));
}

/// One put of packets to one or several ranks. Each of them may unpack the packets at once.
void Generator::sendPackets(Doer a, const Where &from) {
  std::vector<Slot> slots;
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r)
    if (r != a.rank && (slots.empty() || oneIn(3)))
      if (const auto slot = freshSlot(r)) {
        askForSlot(a, r);
        slots.push_back(*slot);
      }
  if (slots.empty())
    return;
  const bool group = blocks_ > 1 && oneIn(4);
  const Chunk source = local(from);
  if (group)
    meetAll(a.rank);
  else
    touch(a, {from}, {});
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    if (!group && b != a.block)
      continue;
    const Doer doer{a.rank, b};
    plan::Chunks there;
    for (const Slot slot : slots)
      there.push_back(remoteSlot(doer, slot));
    on(doer).remote(OpKind::PutPacket, there, plan::Chunks(there.size(), source));
    if (group)
      on(doer).slice(b, blocks_);
  }
  if (group)
    meetAll(a.rank);
  for (const Slot slot : slots)
    slots_[slot] = valueAt(from);
  unpack({slots[0].rank, below(blocks_)});
}

void Generator::sendPacketsByPort(Doer a, const Where &from) {
  const auto slot = freshSlot(otherRank(a.rank));
  auto source = oneIn(2) ? filledSlot(a.rank) : std::nullopt;
  const bool awaits = source.has_value();
  if (!source)
    source = freshSlot(a.rank);
  if (!slot || !source)
    return;
  askForSlot(a, slot->rank);
  const Doer far{slot->rank, below(blocks_)};
  const std::uint32_t channel = channels(a, far, ChannelType::Port).first;
  const Chunk there = remoteSlot(a, *slot, ChannelType::Port), packets = plan::scratch(source->index);
  if (awaits) {
    touch(a, {}, {});
    on(a).remote(OpKind::ReadPutPacket, {there}, {packets}, ChannelType::Port, {channel});
  } else {
    touch(a, {from}, {});
    on(a).remote(OpKind::CopyPacket, {packets}, {local(from)}, ChannelType::None);
    slots_[*source] = valueAt(from);
    nop(a);
    on(a).remote(OpKind::PutPacket, {there}, {packets}, ChannelType::Port, {channel});
  }
  slots_[*slot] = slots_.at(*source);
  nop(a); // the slot that it is sent from is written again in the next launch
  on(a).flush({channel});
  state(a).waited = true;
}

void Generator::copyPackets(Doer a, const Where &from) {
  const auto slot = freshSlot(a.rank);
  if (!slot)
    return;
  touch(a, {from}, {});
  on(a).remote(OpKind::CopyPacket, {plan::scratch(slot->index)}, {local(from)}, ChannelType::None);
  slots_[*slot] = valueAt(from);
}

void Generator::unpack(Doer a) {
  const auto slot = filledSlot(a.rank);
  if (!slot)
    return;
  const Where to = any(a.rank, true);
  takeToWrite(to, a.block);
  touch(a, {}, {to});
  on(a).remote(OpKind::UnpackPacket, {local(to)}, {plan::scratch(slot->index)}, ChannelType::None);
  write(to, slots_.at(*slot));
}

/// Forwards packets to another rank unchanged.
void Generator::forwardPackets(Doer a) {
  const auto source = filledSlot(a.rank);
  if (!source)
    return;
  const auto slot = freshSlot(otherRank(a.rank));
  if (!slot)
    return;
  askForSlot(a, slot->rank);
  touch(a, {}, {});
  on(a).remote(OpKind::ReadPutPacket, {remoteSlot(a, *slot)}, {plan::scratch(source->index)});
  slots_[*slot] = slots_.at(*source);
  unpack({slot->rank, below(blocks_)});
}

/// Sums a plain chunk and packets. The sum stays here, and may be sent on as packets, here and to other ranks.
void Generator::reducePackets(Doer a, const Where &from) {
  Value sum = valueAt(from);
  plan::Chunks sources{local(from)}, destinations;
  for (std::uint32_t tries = 0; tries < 3; ++tries)
    if (const auto slot = filledSlot(a.rank); slot && disjoint(slots_.at(*slot), sum)) {
      sum = joined(sum, slots_.at(*slot));
      sources.push_back(plan::scratch(slot->index));
    }
  if (sources.size() == 1)
    return;
  const Where to = oneIn(3) ? from : any(a.rank, true);
  takeToWrite(to, a.block);
  destinations.push_back(local(to));
  const auto copy = oneIn(2) ? freshSlot(a.rank) : std::nullopt;
  if (copy) {
    destinations.push_back(plan::scratch(copy->index));
    slots_[*copy] = sum;
  }
  bool sends = false;
  for (std::uint32_t more = below(3); more > 0; --more)
    if (const auto slot = freshSlot(otherRank(a.rank))) {
      askForSlot(a, slot->rank);
      destinations.push_back(remoteSlot(a, *slot));
      slots_[*slot] = sum;
      sends = true;
    }
  touch(a, {from}, {to});
  on(a).remote(copy    ? sends ? OpKind::ReduceCopySendPacket : OpKind::ReduceCopyPacket
               : sends ? OpKind::ReduceSendPacket
                       : OpKind::ReducePacket,
               destinations, sources, sends ? ChannelType::Memory : ChannelType::None);
  Op &op = plan_.program.ranks[a.rank].blocks[a.block].ops.back();
  op.reduceOp = reduceOp_;
  op.firstAfter = oneIn(2) ? below(sources.size()) : 0;
  write(to, sum);
}

void Generator::broadcastPackets(Doer a) {
  const auto source = filledSlot(a.rank);
  if (!source)
    return;
  const auto slot = freshSlotOnAll();
  if (!slot)
    return;
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r)
    if (r != a.rank)
      askForSlot(a, r);
  const std::uint32_t channel = switchOf(BufferKind::Scratch);
  touch(a, {}, {});
  on(a).remote(OpKind::SwitchBroadcastPacket, {plan::onSwitch(channel, *slot)}, {plan::scratch(source->index)},
               ChannelType::Switch, {channel});
  const Value value = slots_.at(*source);
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r)
    slots_[{r, *slot}] = value;
}

/// Each rank unpacks all packets that it was sent, so that none is on its way when the rank ends its launch.
void Generator::takeAllPackets() {
  for (const auto &[slot, value] : slots_) {
    const Where to = any(slot.rank, true);
    const Doer a = ownerOf(to);
    flush(to);
    touch(a, {}, {to});
    on(a).remote(OpKind::UnpackPacket, {local(to)}, {plan::scratch(slot.index)}, ChannelType::None);
    write(to, value);
  }
}

/// Calls make(block) for `a`, or for each block of its rank; then each of them does one slice.
template <typename Do> void Generator::bySlices(Doer a, bool slices, Do &&make) {
  if (!slices)
    return make(a);
  meetAll(a.rank);
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    make({a.rank, b});
    on({a.rank, b}).slice(b, blocks_);
  }
  meetAll(a.rank);
}

/// Sends packets without a request, with double scratch: the answer of the last launch shows that their slots may be
/// written again. One slice of packets is enough as an answer, and its value is not used.
void Generator::acknowledged(Doer a, const Where &from) {
  const std::uint32_t slices = 2 + below(4), slice = below(slices);
  const std::uint64_t least =
      slice == 0 ? 0 : std::uint64_t{16} * (slice + 1); // for smaller chunks the slice would be empty
  const Doer far{otherRank(a.rank), below(blocks_)};
  const auto value = defined(far.rank);
  if (!plan_.program.doubleScratch || !value || least > mostChunk_ || (oneSize_ && least > oneChunk))
    return;
  const auto there = freshSlot(far.rank), here = freshSlot(a.rank);
  if (!there || !here)
    return;
  leastChunk_ = std::max(leastChunk_, least);
  touch(a, {from}, {});
  on(a).remote(OpKind::PutPacket, {remoteSlot(a, *there)}, {local(from)});
  slots_[*there] = valueAt(from);
  take(*value, far.block);
  touch(far, {*value}, {});
  on(far).remote(OpKind::PutPacket, {remoteSlot(far, *here)}, {local(*value)}).slice(slice, slices);
  const Where to = any(a.rank, true), got = any(far.rank, true);
  const Doer hears = ownerOf(to), taker = ownerOf(got);
  flush(to);
  touch(hears, {}, {to});
  const plan::Chunks back{plan::scratch(here->index)}, sent{plan::scratch(there->index)};
  on(hears).remote(OpKind::UnpackPacket, {local(to)}, back, ChannelType::None).slice(slice, slices);
  write(to, {});
  flush(got);
  touch(taker, {}, {got});
  on(taker).remote(OpKind::UnpackPacket, {local(got)}, sent, ChannelType::None);
  write(got, slots_.at(*there));
}

/// Every rank sends packets to every other one, and sums those that it receives. With double scratch no other order is
/// needed: a rank that has received the packets of rank r of the next launch knows that r no longer uses those of this
/// one.
void Generator::exchange() {
  const std::uint32_t n = plan_.numRanks();
  std::vector<Where> sources;
  std::vector<Doer> doers;
  std::vector<std::uint32_t> slots;
  Value sum;
  for (std::uint32_t r = 0; r < n; ++r) {
    const auto at = disjointFrom(r, sum);
    if (!at)
      return;
    sources.push_back(*at);
    sum = joined(sum, valueAt(*at));
  }
  for (std::uint32_t r = 0; r < n; ++r) {
    const auto slot = freshSlotOnAll();
    if (!slot)
      return;
    slots.push_back(*slot);
    doers.push_back(ownerOf(sources[r]));
  }
  const bool slices = blocks_ > 1 && oneIn(2), takeSlices = blocks_ > 1 && oneIn(2);
  for (std::uint32_t r = 0; r < n; ++r) {
    plan::Chunks there;
    for (std::uint32_t to = 0; to < n; ++to) {
      if (to == r)
        continue;
      if (!plan_.program.doubleScratch)
        message(doers[to], doers[r], oneIn(2));
      slots_[{to, slots[r]}] = valueAt(sources[r]);
    }
    touch(doers[r], {sources[r]}, {});
    const Chunk source = local(sources[r]);
    bySlices(doers[r], slices, [&](Doer doer) {
      there.clear();
      for (std::uint32_t to = 0; to < n; ++to)
        if (to != r)
          there.push_back(remoteSlot(doer, {to, slots[r]}));
      on(doer).remote(OpKind::PutPacket, there, plan::Chunks(there.size(), source));
    });
  }
  for (std::uint32_t r = 0; r < n; ++r) {
    const Where to = any(r, true);
    takeToWrite(to, doers[r].block);
    plan::Chunks parts{local(sources[r])};
    for (std::uint32_t from = 0; from < n; ++from)
      if (from != r)
        parts.push_back(plan::scratch(slots[from]));
    touch(doers[r], {sources[r]}, {to});
    const Chunk destination = local(to);
    bySlices(doers[r], takeSlices, [&](Doer doer) {
      on(doer).remote(OpKind::ReducePacket, {destination}, parts, ChannelType::None);
      plan_.program.ranks[r].blocks[doer.block].ops.back().reduceOp = reduceOp_;
    });
    write(to, sum);
  }
}

} // namespace fuzz
