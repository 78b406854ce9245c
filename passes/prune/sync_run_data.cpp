// The run's data operations: which cells they touch, and which accesses of them have to come before.
#include "passes/prune/sync_run.h"

#include <algorithm>
#include <tuple>

namespace mscclc::passes::prune {

using ir::Op;
using proof::Cell;
using proof::Epoch;

/// An access of `b` in its present phase. `besides`: it will know more than its block.
std::uint32_t SyncRun::newAccess(std::uint32_t b, std::uint32_t op, bool besides) {
  const auto id = static_cast<std::uint32_t>(record_.accesses.size());
  Access access;
  access.at = {b, blocks_[b].phase};
  access.time = tick(b);
  access.launch = numMet_[index_.rankOf(b)];
  access.op = op;
  access.like = id;
  std::uint32_t &plain = lastPlain_[b];
  if (!besides && plain != none && record_.accesses[plain].at.phase == access.at.phase)
    access.like = plain;
  else if (!besides)
    plain = id;
  record_.accesses.push_back(access);
  return id;
}

void SyncRun::addOperand(std::uint32_t b, const Op &op, std::uint32_t operand) {
  const BlockState &s = blocks_[b];
  const std::uint32_t ref = op.firstChunk + operand;
  const ir::Chunk &chunk = index_.ops(b).chunks[ref];
  auto &list = operand < op.numSrcs ? sources_ : destinations_;
  ir::forEachPiece(index_.program, index_.rankOf(b), op, operand, chunk, [&](const ir::MemoryPiece &piece) {
    const proof::UnitSpan span = geometry_.span(chunk, op, s.at.inLoop() ? &s.slice : nullptr, piece.inScratch());
    const std::uint64_t first = memory_.base(piece.rank, piece.buffer, piece.isPacket()) + span.first;
    list.push_back({piece.rank, static_cast<CellId>(first), span.count, ref, piece.isPacket(), piece.inScratch()});
  });
}

/// False if the block has to wait for a packet. What the operation does is later than the packets that it takes.
bool SyncRun::packetsArrived(std::uint32_t b, const Op &op) {
  const auto now = static_cast<std::uint8_t>(launch_ + 1);
  for (BlockState &s = blocks_[b]; s.step < op.numSrcs; ++s.step) { // what has arrived stays
    if (ir::formOfSource(op, s.step) != ir::DataForm::Packet)
      continue;
    sources_.clear();
    addOperand(b, op, s.step);
    for (const Operand &source : sources_)
      for (CellId cell = source.first; cell < source.first + source.count; ++cell) {
        if (memory_.slotLaunch(cell) != now) {
          wait(b, memory_.slotWaiter(cell));
          return false;
        }
        catchUp(b, memory_.slotClock(cell));
      }
  }
  return true;
}

bool SyncRun::data(std::uint32_t b, const Op &op) {
  if (ir::awaitsPackets(op.kind) && !packetsArrived(b, op))
    return false;
  if (scope_.concerns(b, blocks_[b].at.op()))
    access(b, op);
  if (ir::putsAndSignals(op.kind))
    sendAll(b, op);
  if (ir::flushes(op.kind))
    flushAll(b, op);
  return true;
}

/// What a data operation does to memory.
void SyncRun::access(std::uint32_t b, const Op &op) {
  sources_.clear();
  destinations_.clear();
  for (std::uint32_t i = 0; i < op.numChunks(); ++i)
    addOperand(b, op, i);
  block_ = b;
  mixed_ = false;
  packet_ = none;
  if (op.channelType == ir::ChannelType::Port)
    portPut(b, op);
  else
    move(b, op);
}

void SyncRun::move(std::uint32_t b, const Op &op) {
  const std::uint32_t reads = newAccess(b, blocks_[b].at.op());
  for (const Operand &source : sources_)
    read(source, reads);
  if (!ir::awaitsPackets(op.kind)) {
    for (const Operand &to : destinations_)
      write(to, reads);
    return;
  }
  const std::uint32_t writes = newAccess(b, blocks_[b].at.op(), true);
  record_.accesses[writes].time = record_.accesses[reads].time;
  takePackets(b);
  Access &access = record_.accesses[writes];
  access.numTaken = static_cast<std::uint32_t>(record_.taken.size()) - access.firstTaken;
  for (const Operand &to : destinations_)
    writeComputed(to, writes);
}

/// Of the packets that the operation's sources are, the messages: known to what its newest access writes.
void SyncRun::takePackets(std::uint32_t b) {
  record_.accesses.back().firstTaken = static_cast<std::uint32_t>(record_.taken.size());
  std::uint32_t last = none;
  for (const Operand &source : sources_)
    for (std::uint32_t i = 0; source.packet && i < source.count; ++i) {
      const std::uint32_t message = memory_.slotClock(source.first + i);
      mixed_ = mixed_ || message != memory_.slotClock(source.first);
      if (message == last)
        continue;
      last = message;
      record_.taken.push_back(message);
      receive(b, message, none, true);
    }
}

/// A thread that writes an element has taken that element's packets, and no others.
void SyncRun::writeComputed(const Operand &to, std::uint32_t access) {
  if (!mixed_)
    return write(to, access);
  const auto messageOf = [&](const Operand &source, std::uint32_t u) { return memory_.slotClock(source.first + u); };
  for (std::uint32_t u = 0, end; u < to.count; u = end) {
    const auto alike = [&](const Operand &o) { return !o.packet || messageOf(o, end) == messageOf(o, u); };
    for (end = u + 1; end < to.count && std::ranges::all_of(sources_, alike);)
      ++end;
    const std::uint32_t part = newAccess(block_, blocks_[block_].at.op(), true);
    Access &known = record_.accesses[part];
    known.time = record_.accesses[access].time;
    known.firstTaken = static_cast<std::uint32_t>(record_.taken.size());
    for (const Operand &source : sources_)
      if (source.packet)
        record_.taken.push_back(messageOf(source, u));
    known.numTaken = static_cast<std::uint32_t>(record_.taken.size()) - known.firstTaken;
    packet_ = none;
    Operand piece = to;
    piece.first += u;
    piece.count = end - u;
    write(piece, part);
  }
}

void SyncRun::portPut(std::uint32_t b, const Op &op) {
  const auto ids = index_.ops(b).idsOf(op);
  for (std::uint32_t i = 0; i < destinations_.size(); ++i) { // thread i puts the i-th
    const std::uint32_t put = newAccess(b, blocks_[b].at.op(), true);
    record_.accesses[put].thread = i;
    record_.accesses[put].heard = heardBy(b, i);
    record_.accesses[put].port = index_.channel(op.channelType, index_.rankOf(b), ids[ids.size() == 1 ? 0 : i]);
    packet_ = none;
    read(sources_[sources_.size() == 1 ? 0 : i], put);
    write(destinations_[i], put);
  }
}

void SyncRun::read(const Operand &operand, std::uint32_t access) {
  if (launch_ != 0)
    return checkLater(operand, access, false);
  noteScratch(operand, access, false);
  const Op &op = index_.ops(block_).ops[record_.accesses[access].op];
  const auto [first, end] = cellsOf(operand);
  for (auto id = static_cast<CellId>(first); id < end; ++id) {
    if (!operand.packet || !ir::awaitsPackets(op.kind))
      checkRead(id, access, operand.ref, operand.packet);
    memory_.addRead(memory_[id], {access, 0, operand.ref}, true);
  }
}

void SyncRun::write(const Operand &operand, std::uint32_t access) {
  if (launch_ != 0)
    checkLater(operand, access, true);
  else
    noteScratch(operand, access, true);
  const SyncScope::Cells asked = cellsOf(operand);
  const SyncScope::Cells all{operand.first, std::uint64_t{operand.first} + operand.count};
  const auto [first, end] = operand.packet ? all : asked; // others wait for packets
  for (auto id = static_cast<CellId>(first); id < end; ++id) {
    if (operand.packet && memory_.slotLaunch(id) == launch_ + 1) { // a packet over itself, which nobody awaits
      if (launch_ == 0)
        memory_.setWriteAgain(id, {access, 0, operand.ref});
      continue;
    }
    if (launch_ == 0 && asked.has(id)) {
      checkWrite(id, access, operand.ref, operand.packet);
      memory_.setWrite(memory_[id], {access, 0, operand.ref});
    }
    if (operand.packet)
      sendPacket(id, access);
  }
}

/// An access of a launch after the first, against what the first left there.
void SyncRun::checkLater(const Operand &operand, std::uint32_t access, bool writes) {
  if (index_.program.doubleScratch && operand.scratch != (launch_ == 2))
    return;
  if (writes && operand.scratch)
    noteWrite(operand, access);
  const auto [first, end] = cellsOf(operand);
  for (auto id = static_cast<CellId>(first); id < end; ++id) {
    if (!writes) {
      if (!operand.packet)
        checkRead(id, access, operand.ref, false);
    } else if (memory_[id].write.exists() || memory_[id].read.exists()) {
      checkWrite(id, access, operand.ref, operand.packet);
      memory_.setWrite(memory_[id], {});
    }
  }
}

void SyncRun::checkRead(CellId id, std::uint32_t access, std::uint32_t ref, bool packet) {
  if (asksOf(access) && memory_[id].write.exists())
    pair(memory_[id].write, true, access, ref, packet);
}

void SyncRun::checkWrite(CellId id, std::uint32_t access, std::uint32_t ref, bool packet) {
  if (!asksOf(access))
    return;
  const Cell &cell = memory_[id];
  // Of a packet that has arrived, only readers need to be waited for.
  if (cell.write.exists() && !(packet && memory_.packetArrived(id)))
    pair(cell.write, true, access, ref, false);
  memory_.forReads(cell, [&](const Epoch &reader) { pair(reader, false, access, ref, makesPackets(reader)); });
}

/// True if packets may tell that `reader` has read: see verify/packets.cpp.
bool SyncRun::makesPackets(const Epoch &reader) const {
  if (!memory_.usesPackets() || reader.isUser() || geometry_.mostIterations() != 0)
    return false;
  const Access &access = record_.accesses[reader.agent];
  return ir::mayBePackets(ir::info(index_.ops(access.at.block).ops[access.op].kind).destinations);
}

/// Keeps that `first` has to come before `second`, unless it always does.
void SyncRun::pair(const Epoch &first, bool writes, std::uint32_t second, std::uint32_t ref, bool excusable) {
  const Access &x = record_.accesses[first.agent], &y = record_.accesses[second];
  const bool users = x.op == none && y.op == none;
  const bool meet = index_.rankOf(x.at.block) == index_.rankOf(y.at.block) && x.launch != y.launch && x.port == none;
  const bool one = x.at.block == y.at.block && x.time == y.time;
  if (one || users || meet)
    return;
  if (x.at.block == y.at.block && x.launch == y.launch && x.port == none && y.port == none && x.op != none &&
      y.op != none) {
    const BlockState &s = blocks_[y.at.block];
    if (elements_.sameThread(y.at.block, {x.op, first.ref}, {y.op, ref}, s.at.header(), s.slice))
      return;
  }
  const Pair found{x.like, y.like, writes, excusable};
  if (record_.pairs.empty() || record_.pairs.back() != found)
    record_.pairs.push_back(found);
}

void SyncRun::sendPacket(CellId cell, std::uint32_t access) {
  if (packet_ == none) {
    packet_ = static_cast<std::uint32_t>(record_.messages.size());
    const Access &from = record_.accesses[access];
    Message m;
    m.from = from.at;
    m.time = from.time;
    m.thread = from.thread;
    m.begin = began_[index_.rankOf(block_)];
    m.weak = true;
    m.firstTaken = from.firstTaken;
    m.numTaken = from.numTaken;
    record_.messages.push_back(m);
  }
  memory_.slotLaunch(cell) = static_cast<std::uint8_t>(launch_ + 1);
  memory_.slotClock(cell) = packet_;
  wake(memory_.slotWaiter(cell));
}

void SyncRun::noteScratch(const Operand &operand, std::uint32_t access, bool writes) {
  // Packets that arrived and what computed packets is told by others: see verify/scratch_history.h.
  if (sizesChange_ && operand.scratch && scope_.asksOfScratch(operand.rank) &&
      !(operand.packet && (writes || record_.accesses[access].port != none)))
    record_.scratch[operand.rank].uses.push_back({record_.accesses[access].like, none, writes, false});
}

void SyncRun::noteEnd(std::uint32_t rank) {
  const std::uint32_t b = index_.block(rank, 0);
  ends_[rank] = {newAccess(b, none, true), newAccess(b, none, true)};
  Access &before = record_.accesses[ends_[rank].before];
  before.time = record_.begun[b][before.at.phase--] - 1;
}

void SyncRun::noteWrite(const Operand &operand, std::uint32_t access) {
  if (!sizesChange_ || !(scope_.asksOf(index_.rankOf(block_)) || scope_.asksOf(operand.rank)) ||
      !written_.insert(std::uint64_t{block_} << 32 | operand.rank).second)
    return;
  record_.scratch[operand.rank].writes.push_back(
      {ends_[operand.rank].before, record_.accesses[access].like, false, false});
  if (record_.accesses[access].numTaken != 0 || record_.accesses[access].thread != none)
    written_.erase(std::uint64_t{block_} << 32 | operand.rank); // the next one may know less
}

/// Calls visit(cell) for what a rank's user owns, as far as it matters, each cell once.
template <typename Visit> void SyncRun::forUserCells(std::uint32_t rank, Visit visit) const {
  const ir::Rank &r = index_.program.ranks[rank];
  const std::uint32_t inputs = r.inputChunks * geometry_.unitsPerChunk();
  const std::uint32_t outputs = r.outputChunks * geometry_.unitsPerChunk();
  const CellId input = memory_.base(rank, ir::BufferKind::Input, false);
  const CellId output = memory_.base(rank, ir::BufferKind::Output, false);
  const auto visitAll = [&](CellId from, std::uint32_t count, const auto &isSeen) {
    const auto [first, end] = scope_.cut(rank, false, false, from, count);
    for (auto id = static_cast<CellId>(first); id < end; ++id)
      if (!isSeen(id))
        visit(id);
  };
  visitAll(input, inputs, [](CellId) { return false; });
  visitAll(output, outputs, [&](CellId id) { return id - input < inputs; }); // unsigned: what lies before it is not
}

void SyncRun::userOverwrites(std::uint32_t rank) {
  const std::uint32_t access = newAccess(index_.block(rank, 0), none);
  std::vector<Epoch> puts; // the user's risk; later writes of the program are its own
  forUserCells(rank, [&](CellId id) {
    checkWrite(id, access, Epoch::userWrite, false);
    puts.clear();
    memory_.forReads(memory_[id], [&](const Epoch &reader) {
      if (record_.accesses[reader.agent].port != none)
        puts.push_back(reader);
    });
    memory_.setWrite(memory_[id], launch_ == 0 ? Epoch{access, 0, Epoch::userWrite} : Epoch{});
    for (const Epoch &reader : puts)
      memory_.addRead(memory_[id], reader, true);
  });
}

void SyncRun::userReads(std::uint32_t rank) {
  const std::uint32_t access = newAccess(index_.block(rank, 0), none);
  forUserCells(rank, [&](CellId id) {
    checkRead(id, access, Epoch::userRead, false);
    memory_.addRead(memory_[id], {access, 0, Epoch::userRead}, true);
  });
}

/// Of two blocks, one access before another decides of all that come before the one, and all that come after the other.
void SyncRun::keepDecisive() {
  const auto &accesses = record_.accesses;
  const auto plain = [&](const Pair &p) { // the second knows what its block knows
    const Access &y = accesses[p.second];
    return accesses[p.first].port == none && y.thread == none && y.numTaken == 0;
  };
  const auto place = [&](const Pair &p) {
    const Access &x = accesses[p.first], &y = accesses[p.second];
    return std::tuple(x.at.block, y.at.block, y.at.phase, !plain(p), ~x.at.phase, !p.visible, p.excusable);
  };
  std::ranges::sort(record_.pairs, {}, place);
  std::vector<Pair> kept;
  std::uint32_t over[2][2]; // [visible][excusable]: phases before this one of the first block are decided
  Moment blocks{none, none};
  for (const Pair &p : record_.pairs) {
    const Access &x = accesses[p.first], &y = accesses[p.second];
    if (blocks.block != x.at.block || blocks.phase != y.at.block)
      over[0][0] = over[0][1] = over[1][0] = over[1][1] = 0;
    blocks = {x.at.block, y.at.block};
    if (x.port == none && x.at.phase < over[p.visible][p.excusable])
      continue;
    kept.push_back(p);
    for (int visible = 0; plain(p) && visible <= p.visible; ++visible)
      for (int excusable = p.excusable; excusable < 2; ++excusable)
        over[visible][excusable] = std::max(over[visible][excusable], x.at.phase + 1);
  }
  record_.pairs = std::move(kept);
}

/// Of a block's uses of scratch the last one decides, of those that write and of all.
void SyncRun::keepLastUses(std::vector<Pair> &uses) const {
  const auto &accesses = record_.accesses;
  std::ranges::sort(uses, {}, [&](const Pair &use) {
    const Access &x = accesses[use.first];
    return std::tuple(x.at.block, x.port, ~x.at.phase, !use.visible, use);
  });
  std::vector<Pair> kept;
  for (const Pair &use : uses) {
    const Access &x = accesses[use.first];
    const auto decides = [&](const Pair &last) {
      return accesses[last.first].at.block == x.at.block && accesses[last.first].port == none &&
             last.visible >= use.visible;
    };
    const auto mayDecide = std::span(kept).last(std::min<std::size_t>(kept.size(), 2));
    if (x.port != none || std::ranges::none_of(mayDecide, decides))
      kept.push_back(use);
  }
  uses = std::move(kept);
}

void SyncRun::finish() {
  const auto unique = [](std::vector<Pair> &pairs) {
    std::ranges::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  };
  unique(record_.pairs);
  keepDecisive();
  for (std::uint32_t r = 0; r < record_.scratch.size(); ++r) {
    for (Pair &use : record_.scratch[r].uses)
      use.second = ends_[r].after;
    unique(record_.scratch[r].uses);
    keepLastUses(record_.scratch[r].uses);
    unique(record_.scratch[r].writes);
  }
}

} // namespace mscclc::passes::prune
