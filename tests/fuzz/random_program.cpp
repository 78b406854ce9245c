#include "random_program.h"

#include "../unit/passes-verify/plan.h"
#include "passes/pass_manager.h"

#include <map>
#include <random>
#include <set>

namespace fuzz {

using namespace mscclc::ir;

namespace {

/// What a place holds, and who may touch it.
struct Cell {
  std::vector<Contribution> value;      ///< sorted; empty: undefined
  std::uint32_t owner = 0;              ///< block
  bool written = false;                 ///< by an operation of this launch
  std::optional<std::uint32_t> sending; ///< port channel whose put may still read it
};

struct Where {
  std::uint32_t rank = 0;
  BufferKind buffer = BufferKind::Input;
  std::uint32_t chunk = 0;
  auto operator<=>(const Where &) const = default;
};

struct BlockState {
  std::set<Where> reads, writes; ///< in the present phase
  bool waited = false;           ///< something was waited for in the present phase
};

class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed), plan_(makePlan()) {
    for (std::uint32_t r = 0; r < plan_.numRanks(); ++r)
      for (std::uint32_t b = 0; b < blocks_; ++b)
        plan_.on(r, b);
    states_.resize(plan_.numRanks() * blocks_);
    plan_.program.protocol = usesPackets_ ? Protocol::LL : Protocol::Simple;
    for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
      const Rank &rank = plan_.program.ranks[r];
      for (const auto buffer : {BufferKind::Input, BufferKind::Output, BufferKind::Scratch})
        for (std::uint32_t c = 0; c < (buffer == BufferKind::Scratch ? plainScratch_ : rank.chunksOf(buffer)); ++c) {
          Cell &cell = cells_[{r, buffer, c}];
          cell.owner = below(blocks_);
          if (buffer == BufferKind::Input)
            cell.value = {{r, c}};
        }
    }
  }

  Program make() {
    const std::uint32_t steps = 3 + below(10);
    for (std::uint32_t s = 0; s < steps; ++s)
      step();
    for (auto &[at, cell] : cells_) {
      flush(at, cell);
      if (at.buffer == BufferKind::Output && !cell.value.empty())
        plan_.program.collective.expectations.push_back({at.rank, at.chunk, cell.value, noLoc});
    }
    return std::move(plan_.program);
  }

private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  bool oneIn(std::uint32_t n) { return below(n) == 0; }

  plan::Plan makePlan() {
    blocks_ = 1 + below(2);
    usesPackets_ = oneIn(2);
    plainScratch_ = 1 + below(3);
    firstSlot_ = (plainScratch_ + 1) / 2;
    const std::uint32_t slots = usesPackets_ ? 12 : 0;
    plan::Plan p(CollectiveKind::Custom, 2 + below(3), 1 + below(3), 1 + below(3), false,
                 std::max(plainScratch_, slots == 0 ? 0 : firstSlot_ + slots));
    p.program.collective.name = "random";
    p.program.doubleScratch = oneIn(3);
    nextSlot_.assign(p.numRanks(), firstSlot_);
    return p;
  }

  BlockState &state(std::uint32_t rank, std::uint32_t block) { return states_[rank * blocks_ + block]; }
  plan::Block on(std::uint32_t rank, std::uint32_t block) { return plan_.on(rank, block); }

  void nop(std::uint32_t rank, std::uint32_t block) {
    on(rank, block).nop();
    ended(rank, block);
  }
  void ended(std::uint32_t rank, std::uint32_t block) { state(rank, block) = {}; }

  /// Before a data operation: a new phase where this one conflicts or has waited.
  void touch(std::uint32_t rank, std::uint32_t block, const std::vector<Where> &reads,
             const std::vector<Where> &writes) {
    BlockState &s = state(rank, block);
    bool split = s.waited || oneIn(8);
    for (const Where &w : writes)
      split |= s.reads.contains(w) || s.writes.contains(w);
    for (const Where &r : reads)
      split |= s.writes.contains(r);
    if (split)
      nop(rank, block);
    state(rank, block).reads.insert(reads.begin(), reads.end());
    state(rank, block).writes.insert(writes.begin(), writes.end());
  }
  /// Before something that carries what the block did.
  void settle(std::uint32_t rank, std::uint32_t block) {
    const BlockState &s = state(rank, block);
    if (s.waited || !s.reads.empty() || !s.writes.empty() || oneIn(8))
      nop(rank, block);
  }

  /// A pair of channels between two blocks: (channel of the first, channel of the second).
  std::pair<std::uint32_t, std::uint32_t> channels(std::uint32_t a, std::uint32_t x, std::uint32_t b, std::uint32_t y,
                                                   ChannelType type) {
    const bool swap = std::pair(a, x) > std::pair(b, y);
    if (swap) {
      const auto [second, first] = channels(b, y, a, x, type);
      return {first, second};
    }
    const auto [it, isNew] = channels_.try_emplace({a, x, b, y, type});
    if (isNew)
      it->second = {plan_.channel(a, b, type), plan_.channel(b, a, type)};
    return it->second;
  }

  void message(std::uint32_t a, std::uint32_t x, std::uint32_t b, std::uint32_t y, bool relaxed) {
    settle(a, x);
    const ChannelType type = !relaxed && oneIn(4) ? ChannelType::Port : ChannelType::Memory;
    const auto [from, to] = channels(a, x, b, y, type);
    if (relaxed) {
      on(a, x).relaxedSignal({from});
      on(b, y).relaxedWait({to});
    } else {
      on(a, x).signal({from}, type);
      on(b, y).wait({to}, type);
    }
    state(b, y).waited = true;
  }

  void flush(const Where &at, Cell &cell) {
    if (!cell.sending)
      return;
    const std::uint32_t channel = *cell.sending; // and all that is still sent on it
    const auto sent = [&](const auto &entry) { return entry.first.rank == at.rank && entry.second.sending == channel; };
    if (std::any_of(cells_.begin(), cells_.end(), [&](const auto &entry) {
          return sent(entry) && state(at.rank, cell.owner).reads.contains(entry.first);
        }))
      nop(at.rank, cell.owner);
    on(at.rank, cell.owner).flush({channel});
    state(at.rank, cell.owner).waited = true;
    for (auto &entry : cells_)
      if (sent(entry))
        entry.second.sending.reset();
  }

  /// Makes `block` the owner of a place.
  void take(const Where &at, std::uint32_t block) {
    Cell &cell = cells_.at(at);
    if (cell.owner == block)
      return;
    flush(at, cell);
    const std::uint32_t from = cell.owner;
    if (oneIn(3)) {
      on(at.rank, from).barrier(0, blocks_);
      on(at.rank, block).barrier(0, blocks_);
      ended(at.rank, from);
      ended(at.rank, block);
    } else {
      const auto [it, isNew] = semaphores_.try_emplace({at.rank, from, block});
      if (isNew)
        it->second = plan_.semaphore(at.rank);
      settle(at.rank, from);
      on(at.rank, from).release({it->second});
      on(at.rank, block).acquire({it->second});
      state(at.rank, block).waited = true;
    }
    cell.owner = block;
  }

  Where any(std::uint32_t rank, bool writable) {
    for (;;) {
      auto it = cells_.begin();
      std::advance(it, below(static_cast<std::uint32_t>(cells_.size())));
      if (it->first.rank == rank && (!writable || it->first.buffer != BufferKind::Input || oneIn(4)))
        return it->first;
    }
  }
  std::optional<Where> defined(std::uint32_t rank) {
    for (int tries = 0; tries < 20; ++tries)
      if (const Where at = any(rank, false); !cells_.at(at).value.empty())
        return at;
    return std::nullopt;
  }
  static Chunk local(const Where &at) { return {spaceOf(at.buffer), at.chunk, 1, 0}; }

  void write(const Where &at, std::vector<Contribution> value) {
    Cell &cell = cells_.at(at);
    cell.value = std::move(value);
    cell.written = true;
  }

  void step() {
    const std::uint32_t a = below(plan_.numRanks()), x = below(blocks_);
    const auto source = defined(a);
    if (!source)
      return;
    take(*source, x);
    const std::uint32_t kind = below(usesPackets_ ? 12 : 11);
    if (kind >= 8 && kind < 11)
      return switchStep(a, x, *source, kind - 8);
    if (kind < 2) {
      const Where to = any(a, true);
      if (to == *source)
        return;
      take(to, x);
      flush(to, cells_.at(to));
      kind == 0 || blocks_ == 1 ? localStep(a, x, *source, to) : groupStep(a, *source, to);
      return;
    }
    const std::uint32_t b = (a + 1 + below(plan_.numRanks() - 1)) % plan_.numRanks();
    const Where far = any(b, kind != 4);
    const std::uint32_t y = cells_.at(far).owner;
    flush(far, cells_.at(far));
    switch (kind) {
    case 2:
    case 3:
      return put(a, x, y, *source, far);
    case 4:
      return get(a, x, y, far);
    case 5:
    case 6:
      return portPut(a, x, y, *source, far);
    case 7:
      return loopPut(a, x, y, *source, far);
    default:
      return packets(a, x, y, *source, far);
    }
  }

  void localStep(std::uint32_t a, std::uint32_t x, const Where &from, const Where &to) {
    const auto &mine = cells_.at(to).value, &other = cells_.at(from).value;
    std::vector<Contribution> sum;
    std::merge(mine.begin(), mine.end(), other.begin(), other.end(), std::back_inserter(sum));
    const bool disjoint = std::adjacent_find(sum.begin(), sum.end()) == sum.end();
    if (!mine.empty() && disjoint && !oneIn(3)) {
      touch(a, x, {from, to}, {to});
      on(a, x).reduce(local(to), {local(to), local(from)});
      write(to, sum);
    } else {
      touch(a, x, {from}, {to});
      on(a, x).copy(local(to), local(from));
      write(to, other);
    }
  }

  void groupStep(std::uint32_t a, const Where &from, const Where &to) {
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t b = 0; b < blocks_; ++b) {
        on(a, b).barrier(0, blocks_);
        ended(a, b);
      }
      for (std::uint32_t b = 0; round == 0 && b < blocks_; ++b)
        on(a, b).copy(local(to), local(from)).slice(b, blocks_);
    }
    write(to, cells_.at(from).value);
  }

  void put(std::uint32_t a, std::uint32_t x, std::uint32_t y, const Where &from, const Where &to) {
    message(to.rank, y, a, x, !cells_.at(to).written && oneIn(2));
    touch(a, x, {from}, {to});
    plan::Block block = on(a, x);
    block.remote(OpKind::Put, {block.of(to.rank, to.buffer, to.chunk)}, {local(from)});
    write(to, cells_.at(from).value);
    message(a, x, to.rank, y, false);
  }

  void get(std::uint32_t a, std::uint32_t x, std::uint32_t y, const Where &from) {
    if (cells_.at(from).value.empty())
      return;
    const Where to = any(a, true);
    take(to, x);
    flush(to, cells_.at(to));
    message(from.rank, y, a, x, !cells_.at(from).written && oneIn(2));
    touch(a, x, {from}, {to});
    const auto [channel, back] = channels(a, x, from.rank, y, ChannelType::Memory);
    plan::Block block = on(a, x);
    block.remote(OpKind::Get, {local(to)}, {block.of(from.rank, from.buffer, from.chunk)}, ChannelType::Memory,
                 {channel});
    write(to, cells_.at(from).value);
    message(a, x, from.rank, y, oneIn(2));
  }

  void portPut(std::uint32_t a, std::uint32_t x, std::uint32_t y, const Where &from, const Where &to) {
    message(to.rank, y, a, x, !cells_.at(to).written && oneIn(2));
    touch(a, x, {from}, {to});
    const auto [channel, back] = channels(a, x, to.rank, y, ChannelType::Port);
    plan::Block block = on(a, x);
    const Chunk there = block.of(to.rank, to.buffer, to.chunk, 1, ChannelType::Port);
    const std::uint32_t form = below(3);
    const OpKind kinds[] = {OpKind::Put, OpKind::PutWithSignal, OpKind::PutWithSignalAndFlush};
    block.remote(kinds[form], {there}, {local(from)}, ChannelType::Port, {channel});
    write(to, cells_.at(from).value);
    if (form == 0) {
      nop(a, x);
      on(a, x).signal({channel}, ChannelType::Port);
    }
    on(to.rank, y).wait({back}, ChannelType::Port);
    state(to.rank, y).waited = true;
    if (form == 2) {
      state(a, x).waited = true; // what the flush says counts from the next phase on
    } else {
      Cell &cell = cells_.at(from);
      if (cell.sending && *cell.sending != channel)
        flush(from, cell);
      cell.sending = channel;
      if (oneIn(2))
        flush(from, cell);
    }
  }

  /// Slice by slice: the owner is ready, the slice comes, and may be copied on at once.
  void loopPut(std::uint32_t a, std::uint32_t x, std::uint32_t y, const Where &from, const Where &to) {
    const Where next = any(to.rank, true);
    const bool goesOn = next != to && cells_.at(next).owner == y && !cells_.at(next).sending;
    const auto [channel, back] = channels(a, x, to.rank, y, ChannelType::Memory);
    const std::uint64_t unit = std::uint64_t{16} << below(4);
    nop(a, x);
    nop(to.rank, y);
    plan::Block sender = on(a, x), owner = on(to.rank, y);
    const bool relaxed = !cells_.at(to).written && oneIn(2);
    sender.pipeline(unit, 1, 5);
    relaxed ? sender.relaxedWait({channel}) : sender.wait({channel});
    sender.nop().remote(OpKind::Put, {sender.of(to.rank, to.buffer, to.chunk)}, {local(from)}).nop().signal({channel});
    const bool between = goesOn && oneIn(2); // or the next slice's signal comes in the phase of this slice's copy
    owner.pipeline(unit, 1, 2 + 2 * goesOn + between);
    relaxed ? owner.relaxedSignal({back}) : owner.signal({back});
    owner.wait({back});
    if (goesOn)
      owner.nop().copy(local(next), local(to));
    if (between)
      owner.nop();
    write(to, cells_.at(from).value);
    if (goesOn)
      write(next, cells_.at(from).value);
    ended(a, x);
    state(to.rank, y) = {{to, next}, {to, next}, true};
    state(a, x) = {{from}, {to}, true};
  }

  /// All ranks' chunks at one place: written from here, reduced to here, or reduced and written to all.
  void switchStep(std::uint32_t a, std::uint32_t x, const Where &from, std::uint32_t form) {
    const Where at = any(a, form != 1);
    std::vector<Contribution> sum;
    for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
      const auto &value = cells_.at({r, at.buffer, at.chunk}).value;
      if (form != 0 && value.empty())
        return;
      sum.insert(sum.end(), value.begin(), value.end());
    }
    std::sort(sum.begin(), sum.end());
    if (form != 0 && std::adjacent_find(sum.begin(), sum.end()) != sum.end())
      return;
    const Where to = form == 1 ? any(a, true) : at;
    if (form == 0 ? at == from : form == 1 && to == at)
      return;
    take(to, x);
    flush(to, cells_.at(to));
    take(at, x);
    if (form == 0)
      take(from, x);
    for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
      const Where there{r, at.buffer, at.chunk};
      Cell &cell = cells_.at(there);
      flush(there, cell);
      if (r != a)
        message(r, cell.owner, a, x, !cell.written && oneIn(2));
    }
    const auto [it, isNew] = switches_.try_emplace(at.buffer, static_cast<std::uint32_t>(switches_.size()));
    if (isNew)
      plan_.switchChannel(at.buffer);
    const Chunk all = plan::onSwitch(it->second, at.chunk);
    plan::Block block = on(a, x);
    touch(a, x, {form == 0 ? from : at}, {to});
    if (form == 0)
      block.remote(OpKind::SwitchBroadcast, {all}, {local(from)}, ChannelType::Switch, {it->second});
    else if (form == 1)
      block.remote(OpKind::SwitchReduce, {local(to)}, {all}, ChannelType::Switch, {it->second});
    else
      block.remote(OpKind::SwitchReduceBroadcast, {all}, {all}, ChannelType::Switch, {it->second});
    const auto value = form == 0 ? cells_.at(from).value : sum;
    if (form == 1)
      write(to, value);
    for (std::uint32_t r = 0; r < plan_.numRanks(); ++r) {
      const Where there{r, at.buffer, at.chunk};
      if (form != 1)
        write(there, value);
      if (r != a)
        message(a, x, r, cells_.at(there).owner, form == 1 && oneIn(2));
    }
  }

  void packets(std::uint32_t a, std::uint32_t x, std::uint32_t y, const Where &from, const Where &to) {
    const std::uint32_t slot = nextSlot_[to.rank]++;
    if (slot >= plan_.program.ranks[to.rank].scratchChunks)
      return;
    message(to.rank, y, a, x, oneIn(2));
    touch(a, x, {from}, {});
    plan::Block block = on(a, x);
    block.remote(OpKind::PutPacket, {block.of(to.rank, BufferKind::Scratch, slot)}, {local(from)});
    touch(to.rank, y, {}, {to});
    on(to.rank, y).remote(OpKind::UnpackPacket, {local(to)}, {plan::scratch(slot)}, ChannelType::None);
    write(to, cells_.at(from).value);
  }

  std::mt19937_64 random_;
  std::uint32_t blocks_ = 1, plainScratch_ = 1, firstSlot_ = 0;
  bool usesPackets_ = false;
  std::vector<std::uint32_t> nextSlot_;
  plan::Plan plan_;
  std::vector<BlockState> states_;
  std::map<Where, Cell> cells_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, ChannelType>,
           std::pair<std::uint32_t, std::uint32_t>>
      channels_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> semaphores_;
  std::map<BufferKind, std::uint32_t> switches_;
};

} // namespace

Program randomProgram(std::uint64_t seed) {
  Program program = Generator(seed).make();
  if (seed % 4 != 0)
    return program;
  program.instances = 2 + seed % 8 / 4;
  mscclc::passes::PassManager passes({});
  passes.add("replicate-instances");
  DiagnosticEngine diags;
  passes.run(program, diags);
  return program;
}

} // namespace fuzz
