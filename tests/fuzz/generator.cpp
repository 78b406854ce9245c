#include "generator.h"

#include "passes/pass_manager.h"
#include "random_program.h"

#include <algorithm>

namespace fuzz {

using namespace mscclc::ir;

Generator::Generator(std::uint64_t seed) : random_(seed), plan_(makePlan()) {
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r)
    for (std::uint32_t b = 0; b < blocks_; ++b)
      plan_.on(r, b);
  states_.resize(plan_.numRanks() * blocks_);
  plan_.program.protocol = usesPackets_ ? Protocol::LL : Protocol::Simple;
  for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
    const Rank &rank = plan_.program.ranks[r];
    const std::uint32_t shared = std::max(rank.inputChunks, rank.outputChunks);
    const auto make = [&](BufferKind buffer, std::uint32_t chunks) {
      for (std::uint32_t c = 0; c < chunks; ++c) {
        Cell &cell = cells_[{r, buffer, c}];
        cell.owner = below(blocks_);
        if (buffer == BufferKind::Input && c < rank.inputChunks)
          cell.value = {{r, c}};
      }
    };
    make(BufferKind::Input, inplace_ ? shared : rank.inputChunks);
    make(BufferKind::Output, inplace_ ? 0 : rank.outputChunks);
    make(BufferKind::Scratch, plainScratch_);
  }
}

Program Generator::make() {
  const std::uint32_t steps = oneIn(2) ? 1 + below(4) : 3 + below(14);
  for (std::uint32_t s = 0; s < steps; ++s)
    step();
  if (oneSize_)
    plan_.program.minMessageSize = plan_.program.maxMessageSize = oneChunk * messageChunks();
  else
    takeAllPackets();
  for (const auto &[at, cell] : cells_) {
    flush(at);
    const bool isOutput = at.buffer == (inplace_ ? BufferKind::Input : BufferKind::Output) &&
                          at.chunk < plan_.program.ranks[at.rank].outputChunks;
    if (isOutput && !cell.value.empty())
      plan_.program.collective.expectations.push_back({at.rank, at.chunk, cell.value, noLoc});
  }
  // Chunks of different sizes cannot be divided among instances.
  const bool limited = leastChunk_ != 0 || mostChunk_ != ~std::uint64_t{0};
  if (!wide_ && !limited && oneIn(4))
    plan_.program.instances = 2 + below(2);
  else if (!oneSize_ && (limited || oneIn(3)))
    limitSizes();
  if (oneIn(4))
    applyHook();
  return std::move(plan_.program);
}

/// Applies a hook to all outputs that end with something.
void Generator::applyHook() {
  Program &program = plan_.program;
  Hook hook{.name = "hook", .granularity = oneIn(3) ? Granularity::Element : Granularity::Row, .reads = {"a"}};
  (oneIn(2) ? hook.writes : hook.equal) = {"a"};
  program.hooks.push_back(std::move(hook));
  program.collective.then = "hook";
  for (const Expectation &e : program.collective.expectations) {
    const Where at{e.rank, inplace_ ? BufferKind::Input : BufferKind::Output, e.outputChunk};
    const Chunk chunk{ChunkSpace::Output, at.chunk, 1, 0};
    const Doer owner = ownerOf(at);
    touch(owner, {at}, {at});
    program.ranks[at.rank].blocks[owner.block].append({.kind = OpKind::Apply}, {&chunk, 1}, {&chunk, 1});
  }
}

/// Limits messages to the sizes for which the program is right, or to fewer of them.
void Generator::limitSizes() {
  const std::uint64_t step = std::uint64_t{16} * messageChunks(), most = mostChunk_ / 16;
  std::uint64_t from = leastChunk_ / 16, to = most;
  if (oneIn(3) || most > 1000)
    to = std::min(most, from + 1 + below(20));
  if (leastChunk_ == 0 && oneIn(2))
    from = below(std::min<std::uint64_t>(4, to + 1));
  plan_.program.minMessageSize = from * step;
  plan_.program.maxMessageSize = to * step;
}

/// Limits chunks to `chunkBytes` bytes. Returns false if that is not possible.
bool Generator::lastsFor(std::uint64_t chunkBytes) {
  if (chunkBytes < leastChunk_ || (oneSize_ && chunkBytes < oneChunk))
    return false;
  mostChunk_ = std::min(mostChunk_, chunkBytes);
  return true;
}

plan::Plan Generator::makePlan() {
  blocks_ = 1 + below(3);
  usesPackets_ = oneIn(2);
  oneSize_ = oneIn(3);
  inplace_ = oneIn(3);
  wide_ = oneIn(3);
  mayBeUnusual_ = oneIn(4);
  reduceOp_ = static_cast<ReduceOp>(below(mscclc::ir::reduceOpCount));
  // With another size, plain chunks would be at places where packets are read.
  plainScratch_ = usesPackets_ && !oneSize_ ? 0 : 1 + below(3);
  firstSlot_ = (plainScratch_ + 1) / 2;
  const std::uint32_t slots = usesPackets_ ? 16 : 0;
  plan::Plan p(CollectiveKind::Custom, 2 + below(3), 1 + below(3), 1 + below(3), inplace_,
               std::max(plainScratch_, slots == 0 ? 0 : firstSlot_ + slots));
  p.program.collective.name = "random";
  p.program.doubleScratch = oneIn(3);
  nextSlot_.assign(p.numRanks(), firstSlot_);
  return p;
}

void Generator::nop(Doer d) {
  on(d).nop();
  ended(d);
}

/// To be called before a data operation. Begins a new phase if the operation conflicts with the current one, or if
/// there was a wait in it.
void Generator::touch(Doer d, const Wheres &reads, const Wheres &writes) {
  BlockState &s = state(d);
  bool split = s.waited || oneIn(8);
  for (const Where &w : writes)
    split |= s.reads.contains(w) || s.writes.contains(w);
  for (const Where &r : reads)
    split |= s.writes.contains(r);
  if (split)
    nop(d);
  s.reads.insert(reads.begin(), reads.end());
  s.writes.insert(writes.begin(), writes.end());
}

/// To be called before a signal or release, which publishes everything that the block did. Begins a new phase if
/// needed.
void Generator::settle(Doer d) {
  const BlockState &s = state(d);
  if (s.waited || !s.reads.empty() || !s.writes.empty() || oneIn(8))
    nop(d);
}

/// Returns the two ends of a channel between two blocks: (the channel of `a`, the channel of `b`).
std::pair<std::uint32_t, std::uint32_t> Generator::channels(Doer a, Doer b, ChannelType type) {
  if (a > b) {
    const auto [second, first] = channels(b, a, type);
    return {first, second};
  }
  const auto [it, isNew] = channels_.try_emplace({a, b, type});
  if (isNew)
    it->second = {plan_.channel(a.rank, b.rank, type), plan_.channel(b.rank, a.rank, type)};
  return it->second;
}

/// In each phase only one thread may signal a channel, and only one may wait on it. Begins a new phase where another
/// thread would do so.
void Generator::keepPositions(Doer d, bool tells, ChannelType type, const plan::Ids &ids, bool relaxed) {
  const auto another = [&] {
    const BlockState &s = state(d);
    for (std::uint32_t i = 0; i < ids.size(); ++i)
      if (const auto it = (tells ? s.told : s.heard).find({type, ids[i]});
          it != (tells ? s.told : s.heard).end() && it->second != std::pair(i, relaxed))
        return true;
    return false;
  };
  if (another())
    nop(d);
  for (std::uint32_t i = 0; i < ids.size(); ++i)
    (tells ? state(d).told : state(d).heard)[{type, ids[i]}] = {i, relaxed};
}

void Generator::tell(Doer d, const plan::Ids &ids, ChannelType type, bool relaxed) {
  settle(d);
  keepPositions(d, true, type, ids, relaxed);
  relaxed ? on(d).relaxedSignal(ids) : on(d).signal(ids, type);
}

void Generator::hear(Doer d, const plan::Ids &ids, ChannelType type, bool relaxed) {
  keepPositions(d, false, type, ids, relaxed);
  relaxed ? on(d).relaxedWait(ids) : on(d).wait(ids, type);
  state(d).waited = true;
}

void Generator::message(Doer a, Doer b, bool relaxed) {
  const ChannelType type = !relaxed && oneIn(4) ? ChannelType::Port : ChannelType::Memory;
  const auto [from, to] = channels(a, b, type);
  tell(a, {from}, type, relaxed);
  hear(b, {to}, type, relaxed);
}

/// One signal operation on several channels, in random order; each receiver waits.
void Generator::messageToAll(Doer from, const std::vector<Doer> &to) {
  if (to.empty())
    return;
  const ChannelType type = oneIn(4) ? ChannelType::Port : ChannelType::Memory;
  plan::Ids ids;
  for (const Doer d : to)
    ids.push_back(channels(from, d, type).first);
  shuffle(ids);
  tell(from, ids, type);
  for (const Doer d : to)
    hear(d, {channels(from, d, type).second}, type);
}

/// One wait operation on several channels, in random order, for signals of blocks of different ranks.
void Generator::messageFromAll(const std::vector<Doer> &from, Doer to, bool relaxed) {
  const ChannelType type = !relaxed && oneIn(4) ? ChannelType::Port : ChannelType::Memory;
  plan::Ids ids;
  for (const Doer d : from) {
    ids.push_back(channels(d, to, type).second);
    tell(d, {channels(d, to, type).first}, type, relaxed);
  }
  shuffle(ids);
  hear(to, ids, type, relaxed);
}

/// All blocks of a rank meet at a barrier.
void Generator::meetAll(std::uint32_t rank) {
  for (std::uint32_t b = 0; b < blocks_; ++b) {
    on({rank, b}).barrier(0, blocks_);
    ended({rank, b});
  }
}

void Generator::flush(const Where &at) {
  const Cell &cell = cells_.at(at);
  if (!cell.sending)
    return;
  const Doer owner = ownerOf(at);
  const std::uint32_t channel = *cell.sending; // the flush completes everything that this block sends on it
  const auto sent = [&](const auto &entry) {
    return entry.first.rank == at.rank && entry.second.sending == channel && entry.second.owner == owner.block;
  };
  if (std::any_of(cells_.begin(), cells_.end(),
                  [&](const auto &entry) { return sent(entry) && state(owner).reads.contains(entry.first); }))
    nop(owner);
  on(owner).flush({channel});
  state(owner).waited = true;
  for (auto &entry : cells_)
    if (sent(entry))
      entry.second.sending.reset();
}

/// Orders everything that `from` did before everything that `to` (of the same rank) does next.
void Generator::handOver(Doer from, Doer to) {
  if (oneIn(3)) { // barrier 0 is for all blocks, each other barrier for two
    const auto [low, high] = std::minmax(from.block, to.block);
    const std::uint32_t id = blocks_ == 2 ? 0 : 1 + low * blocks_ + high;
    for (const Doer d : {from, to}) {
      on(d).barrier(id, 2);
      ended(d);
    }
  } else {
    const auto [it, isNew] = semaphores_.try_emplace({from.rank, from.block, to.block});
    if (isNew)
      it->second = plan_.semaphore(from.rank);
    settle(from);
    on(from).release({it->second});
    on(to).acquire({it->second});
    state(to).waited = true;
  }
}

/// Makes `block` the owner of `at`.
void Generator::take(const Where &at, std::uint32_t block) {
  Cell &cell = cells_.at(at);
  if (cell.owner == block)
    return;
  flush(at);
  handOver({at.rank, cell.owner}, {at.rank, block});
  cell.owner = block;
}

Generator::Where Generator::any(std::uint32_t rank, bool writable) {
  for (;;) {
    auto it = cells_.begin();
    std::advance(it, below(cells_.size()));
    if (it->first.rank == rank && (!writable || inplace_ || it->first.buffer != BufferKind::Input || oneIn(4)))
      return it->first;
  }
}

std::optional<Generator::Where> Generator::defined(std::uint32_t rank) {
  return disjointFrom(rank, {});
}

/// Returns a place whose value has no contribution in common with `value`. Does not always find one.
std::optional<Generator::Where> Generator::disjointFrom(std::uint32_t rank, const Value &value) {
  for (int tries = 0; tries < 20; ++tries)
    if (const Where at = any(rank, false); !valueAt(at).empty() && disjoint(valueAt(at), value))
      return at;
  return std::nullopt;
}

bool Generator::disjoint(const Value &a, const Value &b) {
  return std::none_of(a.begin(), a.end(),
                      [&](const Contribution &c) { return std::binary_search(b.begin(), b.end(), c); });
}

Generator::Value Generator::joined(const Value &a, const Value &b) {
  Value both;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

void Generator::write(const Where &at, Value value) {
  Cell &cell = cells_.at(at);
  cell.value = std::move(value);
  cell.written = true;
}

std::uint32_t Generator::otherRank(std::uint32_t rank) {
  return (rank + 1 + below(plan_.numRanks() - 1)) % plan_.numRanks();
}

/// Returns the buffer of the place; a random one of two if they share memory.
BufferKind Generator::nameOf(const Where &at) {
  const Rank &rank = plan_.program.ranks[at.rank];
  if (!inplace_ || at.buffer != BufferKind::Input || at.chunk >= rank.outputChunks)
    return at.buffer;
  return at.chunk >= rank.inputChunks || oneIn(2) ? BufferKind::Output : BufferKind::Input;
}

Chunk Generator::local(const Where &at, std::uint32_t size) {
  const Where last{at.rank, at.buffer, at.chunk + size - 1};
  return {spaceOf(size == 1 ? nameOf(at) : nameOf(last)), at.chunk, size, 0};
}

Chunk Generator::remote(Doer by, const Where &at, std::uint32_t size, ChannelType type) {
  const Where last{at.rank, at.buffer, at.chunk + size - 1};
  return on(by).of(at.rank, nameOf(last), at.chunk, size, type);
}

/// Returns 2 if both places have a next chunk that the operation may handle, too; otherwise 1.
std::uint32_t Generator::widthOf(const Where &a, const Where &b) {
  if (!wide_ || oneIn(2) || !cells_.contains(behind(a)) || !cells_.contains(behind(b)))
    return 1;
  return behind(a) == b || a == behind(b) ? 1 : 2;
}

void Generator::step() {
  const Doer a{below(plan_.numRanks()), below(blocks_)};
  const auto source = defined(a.rank);
  if (!source)
    return;
  take(*source, a.block);
  switch (below(usesPackets_ ? 46 : 28)) {
  case 0:
    return localStep(a, *source);
  case 1:
    return groupStep(a.rank, *source);
  case 2:
  case 3:
    return reduceStep(a, *source);
  case 4:
    return put(a, *source);
  case 5:
    return putMany(a, *source);
  case 6:
    return get(a);
  case 7:
  case 8:
    return portPut(a, *source);
  case 9:
    return portPutForAnother(a, *source);
  case 10:
    return loopPut(a, *source);
  case 11:
  case 12:
    return credits(a, *source);
  case 13:
    return share(a, *source);
  case 14:
  case 15:
    return switchStep(a, *source);
  case 16:
  case 17:
  case 18:
    return portPutMany(a, *source);
  case 19:
  case 20:
    return sliceStep(a.rank, *source);
  case 21:
    return chainStep(a, *source);
  case 22:
    return relayStep(a, *source);
  case 23:
    return turnsStep(a, *source);
  case 24:
    return leadingPut(a, *source);
  case 25:
  case 26:
    return lateReleases(a, *source);
  case 27:
    return lateWrite(a, *source);
  case 28:
  case 29:
    return sendPackets(a, *source);
  case 30:
    return sendPacketsByPort(a, *source);
  case 31:
    return copyPackets(a, *source);
  case 32:
    return unpack(a);
  case 33:
    return forwardPackets(a);
  case 34:
  case 35:
  case 36:
  case 37:
    return reducePackets(a, *source);
  case 38:
    return broadcastPackets(a);
  case 39:
  case 40:
    return exchange();
  case 41:
  case 42:
    return acknowledged(a, *source);
  case 43:
  case 44:
    return packetCredits(a, *source);
  default:
    return loopPackets(a, *source);
  }
}

RandomProgram randomProgram(std::uint64_t seed) {
  Generator generator(seed);
  RandomProgram made{generator.make(), generator.unusual()};
  if (made.program.instances == 1)
    return made;
  mscclc::passes::PassManager passes({}, mscclc::passes::propertiesOf(made.program));
  passes.add("replicate-instances");
  DiagnosticEngine diags;
  passes.run(made.program, diags);
  return made;
}

} // namespace fuzz
