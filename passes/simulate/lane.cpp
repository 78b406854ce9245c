// The threads of a block: they run operations in order, element by element.
#include "passes/simulate/machine.h"

#include "ir/internal_error.h"
#include "ir/op_memory.h"
#include "passes/simulate/test_hook.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace mscclc::passes::sim {

namespace {
constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 32) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
} // namespace

/// True if `lane` is the thread that handles position `position` of operations that list channels.
bool Machine::isThread(const Lane &lane, std::uint32_t position) const {
  if (position >= program_.threadsPerBlock)
    return false;
  const std::uint64_t block = index_.block(lane.rank, lane.block);
  const std::uint64_t drawn = mix(salt_ + block * 64);
  return (drawn % 2 == 0 ? (drawn >> 1) + position : mix(drawn + position)) % lanesPerBlock == lane.number;
}

/// True if `lane` is the thread that handles word `word` of the operands of `op`.
bool Machine::isWord(const Lane &lane, const ir::Op &op, std::uint64_t word) const {
  const std::uint64_t block = index_.block(lane.rank, lane.block);
  const std::uint64_t words = ir::reducesInSwitch(op.kind) ? 2 : ir::isPacketOp(op.kind) ? 1 : 0;
  return mix((salt_ ^ block << 40 ^ words << 60) + word) % lanesPerBlock == lane.number;
}

const ir::Op *Machine::header(const Lane &lane) const {
  return lane.at.inLoop() ? &codeOf(lane).ops[lane.at.header()] : nullptr;
}

void Machine::advance(Lane &lane) {
  lane.at.next(codeOf(lane));
  lane.id = 0;
  lane.pair = 0;
  lane.granule = 0;
  lane.stage = Lane::Before;
  lane.entered = false;
}

Machine::Progress Machine::stepLane(Lane &lane) {
  if (lane.ended)
    return blockOn(key(Event::Launch));
  const ir::ThreadBlock &code = codeOf(lane);
  if (lane.at.atEnd(code)) {
    lane.ended = true;
    if (++ranks_[lane.rank].lanesEnded == ranks_[lane.rank].numLanes)
      wake(lane.rank, key(Event::User));
    return blockOn(key(Event::Launch));
  }
  const ir::Op &op = code.ops[lane.at.op()];
  if (lane.at.atHeader(code)) {
    lane.at.enter(code, layoutOf(lane.rank).iterations(op));
    return Progress::Moved;
  }
  const std::uint32_t number = index_.block(lane.rank, lane.block);
  if (random_() % 32 == 0 && !blocks_[number].stores.empty())
    publish(blocks_[number], 1 + random_() % 8);
  const auto nop = [&] { return meet(lane, blocks_[number].nops, lanesPerBlock, key(Event::Nop, number)); };
  if (lane.stage == Lane::Before) {
    if (ir::has(op.sync, ir::DataSync::Before) && nop() == Progress::Blocked)
      return Progress::Blocked;
    lane.stage = Lane::Itself;
    lane.entered = false;
  }
  if (lane.stage == Lane::Itself) {
    const Progress progress = execute(lane, op);
    if (progress != Progress::Ended)
      return progress;
    lane.stage = Lane::After;
    lane.entered = false;
  }
  if (ir::has(op.sync, ir::DataSync::After) && nop() == Progress::Blocked)
    return Progress::Blocked;
  advance(lane);
  return Progress::Moved;
}

/// Lets the lane arrive, if it has not yet. Returns Ended when all `size` lanes have arrived, and Blocked before.
Machine::Progress Machine::meet(Lane &lane, ir::ArrivalCounter &arrivals, std::uint64_t size, std::uint64_t key) {
  if (!lane.entered) {
    lane.entered = true;
    lane.target = arrivals.arrive(size);
    if (arrivals.isOver(lane.target))
      wake(lane.rank, key);
  }
  return arrivals.isOver(lane.target) ? Progress::Ended : blockOn(key);
}

Machine::Progress Machine::execute(Lane &lane, const ir::Op &op) {
  switch (ir::info(op.kind).step) {
  case ir::OpStep::BlockSync: {
    const std::uint32_t number = index_.block(lane.rank, lane.block);
    return meet(lane, blocks_[number].nops, lanesPerBlock, key(Event::Nop, number));
  }
  case ir::OpStep::Barrier: {
    const std::uint32_t barrier = index_.barrierOf(lane.rank, op.imm);
    Block &block = blockOf(lane);
    if (!lane.entered) {
      block.nops.arrive(lanesPerBlock); // like a nop, a barrier ends a phase
      add(met_[barrier], viewOf(block, block.stores.size()));
    }
    const Progress progress =
        meet(lane, barriers_[barrier], std::uint64_t{op.count} * lanesPerBlock, key(Event::Barrier, op.imm));
    if (progress == Progress::Ended)
      add(block.view, met_[barrier]);
    return progress;
  }
  case ir::OpStep::Give:
  case ir::OpStep::Take:
  case ir::OpStep::Drain:
    return synchronise(lane, op);
  case ir::OpStep::Data:
    return op.channelType == ir::ChannelType::Port ? push(lane, op) : move(lane, op);
  case ir::OpStep::Loop:
    break; // stepLane() enters and leaves loops
  }
  throw ir::InternalError("an operation that no lane can do: " + std::string(ir::toString(op.kind)));
}

void Machine::signal(std::uint32_t channelEnd, const View &view) {
  if (const std::uint32_t peer = index_.pairOf(channelEnd); peer != none) {
    queues_.give(peer, view);
    wake(index_.rankOfChannel(peer), key(Event::Signal, peer));
  }
}

/// Increments a semaphore, or signals the peer of a channel.
void Machine::give(const Lane &lane, const ir::Op &op, std::uint32_t id) {
  if (ir::isSemaphoreOp(op.kind)) {
    const std::uint32_t queue = index_.semaphoreQueue(lane.rank, id);
    queues_.give(queue, {});
    add(given_[queue], viewOf(lane));
    wake(lane.rank, key(Event::Semaphore, id));
    return;
  }
  const std::uint32_t end = index_.channel(op.channelType, lane.rank, id);
  if (op.channelType == ir::ChannelType::Port) {
    Port &port = ports_[end];
    port.queue.push_back({.signal = true, .view = viewOf(lane)});
    ++port.pushed;
    wake(lane.rank, key(Event::Port, end));
    return;
  }
  signal(end, op.kind == ir::OpKind::Signal || relaxedShows_ ? viewOf(lane) : View());
}

/// Takes from a semaphore, or from the signals of a channel. Returns Blocked while there is nothing to take.
Machine::Progress Machine::take(const Lane &lane, const ir::Op &op, std::uint32_t id) {
  if (ir::isSemaphoreOp(op.kind)) {
    const std::uint32_t queue = index_.semaphoreQueue(lane.rank, id);
    if (!queues_.take(queue))
      return blockOn(key(Event::Semaphore, id));
    add(blockOf(lane).view, given_[queue]); // shows all releases so far, because a semaphore is one counter
    return Progress::Ended;
  }
  const std::uint32_t end = index_.channel(op.channelType, lane.rank, id);
  const std::optional<View> view = queues_.take(end);
  if (!view)
    return blockOn(key(Event::Signal, end));
  add(given_[end], *view);
  if (op.kind == ir::OpKind::Wait || relaxedShows_)
    add(blockOf(lane).view, given_[end]);
  return Progress::Ended;
}

/// Returns Blocked until the port has finished all requests that were pushed before the lane arrived.
Machine::Progress Machine::drain(Lane &lane, std::uint32_t portEnd) {
  const Port &port = ports_[portEnd];
  if (!lane.entered) {
    lane.entered = true;
    lane.target = port.pushed;
  }
  if (port.finished < lane.target)
    return blockOn(key(Event::Port, portEnd));
  lane.entered = false;
  return Progress::Ended;
}

Machine::Progress Machine::synchronise(Lane &lane, const ir::Op &op) {
  const auto ids = codeOf(lane).idsOf(op);
  for (; lane.id < ids.size(); ++lane.id) {
    if (!isThread(lane, lane.id))
      continue;
    const std::uint32_t id = ids[lane.id];
    Progress progress = Progress::Ended;
    switch (ir::info(op.kind).step) {
    case ir::OpStep::Give:
      give(lane, op, id);
      break;
    case ir::OpStep::Take:
      progress = take(lane, op, id);
      break;
    case ir::OpStep::Drain:
      progress = drain(lane, index_.channel(op.channelType, lane.rank, id));
      break;
    case ir::OpStep::BlockSync:
    case ir::OpStep::Barrier:
    case ir::OpStep::Data:
    case ir::OpStep::Loop:
      throw ir::InternalError("no operation on counters: " + std::string(ir::toString(op.kind)));
    }
    if (progress == Progress::Blocked)
      return progress;
  }
  return Progress::Ended;
}

/// Sets `ranks` to the ranks whose memory operand `operand` of `op` touches.
void Machine::owners(const Lane &lane, const ir::Op &op, std::uint32_t operand,
                     std::vector<std::uint32_t> &ranks) const {
  ranks.clear();
  ir::forEachPiece(program_, lane.rank, op, operand, codeOf(lane).chunks[op.firstChunk + operand],
                   [&](const ir::MemoryPiece &piece) { ranks.push_back(piece.rank); });
}

std::uint64_t Machine::bytesOf(const Lane &lane, const ir::Op &op, std::uint32_t operand) const {
  const ir::Chunk &chunk = codeOf(lane).chunks[op.firstChunk + operand];
  return layoutOf(lane.rank).span(chunk, op, header(lane), lane.at.iteration(), false, lane.rank).bytes;
}

Machine::Location Machine::locate(const Lane &lane, const ir::Op &op, std::uint32_t operand, std::uint64_t at,
                                  std::uint64_t bytes, std::uint32_t owner) {
  const ir::Chunk &chunk = codeOf(lane).chunks[op.firstChunk + operand];
  const ir::BufferKind buffer = ir::bufferOf(program_.ranks[lane.rank], chunk);
  const bool packet = ir::roleOf(op, operand).form == ir::DataForm::Packet;
  const Layout &layout = layoutOf(lane.rank);
  const bool inScratch = buffer == ir::BufferKind::Scratch;
  const ByteSpan span = layout.span(chunk, op, header(lane), lane.at.iteration(), inScratch, owner);
  const std::uint64_t spread = inScratch ? layout.spread() : 1;
  const std::uint64_t scale = spread * (packet ? 2 : 1), first = (span.offset + at) * scale;
  if (first + bytes * scale > layout.bytesOf(owner, buffer)) {
    outcome_.kind = Outcome::OutOfBounds;
    outcome_.place = {lane.rank, lane.block, lane.at.op()};
    outcome_.size = sizeOf_[ranks_[lane.rank].call];
    return {};
  }
  std::byte *base = bufferOf(owner, buffer, layout);
  if (inScratch && program_.doubleScratch && (ranks_[lane.rank].launch & 1) != 0)
    base += ranks_[owner].scratchBytes;
  return {base + first, owner, packet, spread, inScratch && hasWire()};
}

/// Copies the payload of packets to `data`. Returns the first packet that has not arrived; null if all have arrived. A
/// packet is four bytes of data, the flag, four more bytes of data, and the flag again.
const std::byte *Machine::readPacket(const Location &from, std::byte *data, std::uint64_t bytes,
                                     std::uint32_t flag) const {
  for (std::uint64_t i = 0; i < bytes; i += 4) {
    std::uint32_t seen;
    std::memcpy(&seen, from.at + 2 * i + 4, 4);
    if (seen != flag)
      return from.at + 2 * i;
    std::memcpy(data + i, from.at + 2 * i, 4);
  }
  return nullptr;
}

void Machine::writePacket(const Location &to, const std::byte *data, std::uint64_t bytes, std::uint32_t flag) {
  for (std::uint64_t i = 0; i < bytes; i += 4) {
    std::memcpy(to.at + 2 * i, data + i, 4);
    std::memcpy(to.at + 2 * i + 4, &flag, 4);
  }
}

namespace {
/// The operands of one store: its sources, which are reduced if there are several, and the destinations of the result.
struct StoreOperands {
  std::uint32_t firstSource, endSource, firstDestination, endDestination;
};
StoreOperands storeOperands(const ir::Op &op, std::uint32_t firstDestination) {
  switch (ir::info(op.kind).stored) {
  case ir::Stored::Sources: {
    const std::uint32_t source = op.numSrcs == 1 ? 0 : firstDestination;
    return {source, source + 1, firstDestination, firstDestination + 1};
  }
  case ir::Stored::Reduction:
  case ir::Stored::Applied:
    return {0, op.numSrcs, firstDestination, op.numDsts};
  case ir::Stored::Nothing:
    break;
  }
  throw ir::InternalError("no data operation: " + std::string(ir::toString(op.kind)));
}
} // namespace

Machine::Progress Machine::move(Lane &lane, const ir::Op &op) {
  if (rows_)
    return moveRows(lane, op);
  std::uint64_t burst = random_() % 4 == 0 ? 1 : 1 + random_() % 8;
  // Long operands are moved in granules of several words. In all operations of the same size, the same thread moves a
  // given granule.
  const std::uint64_t granule =
      ir::info(op.kind).stored == ir::Stored::Applied
          ? testRowBytes(program_, static_cast<std::uint32_t>(op.imm), type_)
          : std::max(wireBlock_, (layoutOf(lane.rank).chunkBytes() / 16 + wireBlock_ - 1) / wireBlock_ * wireBlock_);
  const std::uint64_t threads = granule == 16 ? program_.threadsPerBlock : all;
  for (; lane.pair < op.numDsts; lane.pair = storeOperands(op, lane.pair).endDestination, lane.granule = 0) {
    const std::uint64_t total = bytesOf(lane, op, op.numSrcs + lane.pair);
    for (; lane.granule * granule < total; ++lane.granule) {
      if (!isWord(lane, op, lane.granule % threads))
        continue;
      if (burst == 0)
        return Progress::Moved;
      const std::uint64_t at = lane.granule * granule;
      if (moveGranule(lane, op, lane.pair, at, std::min(granule, total - at)) == Progress::Blocked)
        return Progress::Blocked;
      if (outcome_.kind != Outcome::Right)
        return Progress::Moved;
      --burst;
    }
  }
  return Progress::Ended;
}

Machine::Progress Machine::moveGranule(Lane &lane, const ir::Op &op, std::uint32_t pair, std::uint64_t at,
                                       std::uint64_t bytes) {
  const std::uint32_t flag = ranks_[lane.rank].launch + 1;
  const StoreOperands store = storeOperands(op, pair);
  const bool isWide = hasWire() || layoutOf(lane.rank).spread() != 1; // the operation computes in f32
  const bool takesEncoded = hasWire() && ir::reduces(op.kind) && ir::isPacketOp(op.kind);
  encoded_.clear();
  bool any = false;
  for (std::uint32_t n = store.firstSource; n < store.endSource; ++n) {
    const std::uint32_t i = ir::sourceAdded(n, op.firstAfter);
    owners(lane, op, i, owners_);
    for (const std::uint32_t owner : owners_) {
      const Location from = locate(lane, op, i, at, bytes, owner);
      if (!from.at)
        return Progress::Moved;
      part_.resize(bytes * from.spread);
      if (!from.packet)
        load(blockOf(lane), part_.data(), from.at, part_.size());
      else if (const std::byte *missing = readPacket(from, part_.data(), part_.size(), flag))
        return blockOn(packetKey(missing));
      if (from.encoded && ir::info(op.kind).stored == ir::Stored::Sources)
        encoded_ = part_; // encoded data moves to scratch unchanged
      if (isWide && from.spread == 1 && !from.encoded)
        widenElements(type_, part_);
      if (!from.encoded && takesEncoded)
        encodeBlocks(wire_, type_, wireBlock_, std::vector(part_).data(), bytes, part_);
      if (from.encoded || takesEncoded)
        decodeBlocks(wire_, type_, wireBlock_, part_);
      if (any)
        sum_.add(op.reduceOp, part_.data());
      else
        sum_.start(part_.data(), part_.size());
      any = true;
    }
  }
  if (program_.protocol == ir::Protocol::Lamport && ir::isPacketOp(op.kind))
    sum_.dropSignsOfZeros();
  const std::byte *sum = sum_.result();
  if (hasWire() && encoded_.empty())
    encodeBlocks(wire_, type_, wireBlock_, sum, bytes, encoded_);
  if (takesEncoded && op.numDsts > 1) { // the rank keeps the same values that it sends
    part_ = encoded_;
    decodeBlocks(wire_, type_, wireBlock_, part_);
    narrowElements(type_, std::vector(part_).data(), bytes, part_);
  } else if (isWide) {
    narrowElements(type_, sum, bytes, part_);
  }
  if (ir::info(op.kind).stored == ir::Stored::Applied)
    sum = applyHook(lane, op, at, bytes);
  for (std::uint32_t i = store.firstDestination; i < store.endDestination; ++i) {
    owners(lane, op, op.numSrcs + i, owners_);
    for (const std::uint32_t owner : owners_) {
      const Location to = locate(lane, op, op.numSrcs + i, at, bytes, owner);
      if (!to.at)
        return Progress::Moved;
      const std::byte *const result = to.encoded ? encoded_.data() : isWide && to.spread == 1 ? part_.data() : sum;
      if (to.packet) {
        publish(blockOf(lane), 0);
        writePacket(to, result, bytes * to.spread, flag);
        wakeReaders(owner, to.at, 2 * bytes * to.spread);
      } else {
        this->store(blockOf(lane), to.at, result, bytes * to.spread);
      }
    }
  }
  return Progress::Moved;
}

/// Applies the hook of `op` to the row that was read for byte `at` of the destination. Returns the result, which is
/// valid until the next granule.
const std::byte *Machine::applyHook(const Lane &lane, const ir::Op &op, std::uint64_t at, std::uint64_t bytes) {
  const auto hook = static_cast<std::uint32_t>(op.imm);
  const std::byte *const to = locate(lane, op, op.numSrcs, at, bytes, lane.rank).at;
  if (!to)
    return part_.data();
  const auto offset = static_cast<std::uint64_t>(to - bufferOf(lane.rank, ir::BufferKind::Output, layoutOf(lane.rank)));
  RankState &rank = ranks_[lane.rank];
  const auto [arrays, isNew] = rank.arrays.try_emplace({hook, offset});
  if (isNew)
    arrays->second = testArrays(program_, hook, lane.rank, rank.launch, offset);
  const std::uint64_t after = applyTestHook(arrays->second, part_.data(), bytes);
  if (!program_.hooks[hook].writes.empty())
    arrays->second = after;
  return part_.data();
}

/// Asks `port` to send `bytes` bytes of the message.
void Machine::request(const Lane &lane, Port &port, const Location &from, const Location &to, std::uint64_t bytes) {
  port.queue.push_back({.packets = to.packet,
                        .src = from.at,
                        .dst = to.at,
                        .bytes = bytes * from.spread,
                        .rank = to.rank,
                        .view = viewOf(lane)});
  ++port.pushed;
}

Machine::Progress Machine::push(Lane &lane, const ir::Op &op) {
  const ir::ThreadBlock &code = codeOf(lane);
  const auto ids = code.idsOf(op);
  for (; lane.id < op.numDsts; ++lane.id) {
    if (!isThread(lane, lane.id))
      continue;
    const std::uint32_t source = op.numSrcs == 1 ? 0 : lane.id, destination = op.numSrcs + lane.id;
    const std::uint32_t end = index_.channel(ir::ChannelType::Port, lane.rank, ids[ids.size() == 1 ? 0 : lane.id]);
    Port &port = ports_[end];
    if (lane.entered) { // the put was pushed; the operation waits until the port has finished it
      if (port.finished < lane.target)
        return blockOn(key(Event::Port, end));
      lane.entered = false;
      continue;
    }
    if (rows_) {
      if (const Progress pushed = pushRows(lane, op, port); pushed != Progress::Ended)
        return pushed;
    } else {
      const std::uint64_t bytes = bytesOf(lane, op, destination);
      owners(lane, op, destination, owners_);
      const Location from = locate(lane, op, source, 0, bytes, lane.rank),
                     to = locate(lane, op, destination, 0, bytes, owners_[0]);
      if (!from.at || !to.at)
        return Progress::Moved;
      if (ir::awaitsPackets(op.kind)) {
        buffer_.resize(bytes * from.spread);
        if (const std::byte *missing = readPacket(from, buffer_.data(), buffer_.size(), ranks_[lane.rank].launch + 1))
          return blockOn(packetKey(missing));
      }
      request(lane, port, from, to, bytes);
    }
    if (ir::putsAndSignals(op.kind)) {
      port.queue.push_back({.signal = true, .view = viewOf(lane)});
      ++port.pushed;
    }
    wake(lane.rank, key(Event::Port, end));
    if (ir::flushes(op.kind)) {
      lane.entered = true;
      lane.target = port.pushed;
      return Progress::Moved;
    }
  }
  return Progress::Ended;
}

} // namespace mscclc::passes::sim
