// The machine's data operations: which cells they touch, in which order to what came before, and what they leave there.
#include "passes/verify/machine.h"

#include "ir/internal_error.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

void Machine::addOperand(const BlockState &s, const ir::Op &op, std::uint32_t operand) {
  const std::uint32_t ref = op.firstChunk + operand;
  const ir::Chunk &chunk = s.code->chunks[ref];
  auto &list = operand < op.numSrcs ? sources_ : destinations_;
  ir::forEachPiece(index_.program, s.rank, op, operand, chunk, [&](const ir::MemoryPiece &piece) {
    const UnitSpan span = geometry_.span(chunk, op, s.at.inLoop() ? &s.slice : nullptr, piece.inScratch());
    const std::uint64_t first = memory_.base(piece.rank, piece.buffer, piece.isPacket()) + span.first;
    list.push_back({piece.rank, static_cast<CellId>(first), span.count, ref, piece.isPacket(), piece.inScratch()});
  });
}

void Machine::resolve(const BlockState &s, const ir::Op &op) {
  sources_.clear();
  destinations_.clear();
  for (std::uint32_t i = 0; i < op.numChunks(); ++i)
    addOperand(s, op, i);
}

bool Machine::packetsArrived(std::uint32_t b, const ir::Op &op) {
  const auto now = static_cast<std::uint8_t>(launch_ + 1);
  BlockState &s = blocks_[b];
  for (; s.step < op.numSrcs; ++s.step) { // what has arrived stays
    if (ir::formOfSource(op, s.step) != ir::DataForm::Packet)
      continue;
    sources_.clear();
    addOperand(s, op, s.step);
    for (const Operand &source : sources_)
      for (std::uint32_t i = 0; i < source.count; ++i)
        if (memory_.slotLaunch(source.first + i) != now) {
          if (!ir::awaitsPackets(op.kind)) {
            listener_.packetNotThere(source.first + i, index_.place(b, s.at.op()));
            return true;
          }
          block(b, memory_.slotWaiter(source.first + i), Waiting::Packet, source.first + i);
          return false;
        }
  }
  return true;
}

View Machine::packetView(std::uint32_t b) {
  View view = order_.view(b);
  taken_.clear();
  mixed_ = false;
  std::uint32_t last = none;
  for (const Operand &source : sources_) {
    if (!source.packet || source.count == 0)
      continue;
    const std::uint32_t first = memory_.slotClock(source.first);
    for (std::uint32_t i = 0; i < source.count; ++i) {
      const std::uint32_t clock = memory_.slotClock(source.first + i);
      mixed_ = mixed_ || clock != first;
      if (clock != last)
        taken_.push_back(packetClocks_[last = clock]);
    }
  }
  view.besides = taken_;
  return view;
}

/// A thread that writes an element has taken that element's packets, and no others.
void Machine::writeComputed(const Operand &to, const Epoch &by, const View &view, const ValueId *values) {
  if (!sawPackets_ || !mixed_)
    return write(to, by, view, values);
  for (std::uint32_t u = 0, end; u < to.count; u = end) {
    const auto alike = [&](const Operand &source) {
      return !source.packet || memory_.slotClock(source.first + end) == memory_.slotClock(source.first + u);
    };
    for (end = u + 1; end < to.count && std::all_of(sources_.begin(), sources_.end(), alike);)
      ++end;
    takenHere_.clear();
    for (const Operand &source : sources_)
      if (source.packet)
        takenHere_.push_back(packetClocks_[memory_.slotClock(source.first + u)]);
    packetClock_ = none;
    View part = view;
    part.besides = takenHere_;
    Operand piece = to;
    piece.first += u;
    piece.count = end - u;
    write(piece, by, part, launch_ == 0 ? values + u : values);
  }
}

bool Machine::data(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  if (ir::isPacketOp(op.kind) && !packetsArrived(b, op))
    return false;
  resolve(s, op);
  currentBlock_ = b;
  currentOp_ = &op;
  sawPackets_ = ir::awaitsPackets(op.kind);
  packetClock_ = none;
  switch (ir::info(op.kind).stored) {
  case ir::Stored::Sources:
    if (op.channelType == ir::ChannelType::Port)
      portPut(b, op);
    else
      move(b);
    break;
  case ir::Stored::Reduction:
    reduce(b, op);
    break;
  case ir::Stored::Nothing:
    throw ir::InternalError("no data operation: " + std::string(ir::toString(op.kind)));
  }
  if (sawPackets_)
    for (const MessageClock &clock : taken_)
      order_.receive(b, clock, false);
  if (ir::putsAndSignals(op.kind))
    signalAll(b, op, false);
  if (ir::flushes(op.kind))
    flushAll(b, op);
  return true;
}

void Machine::move(std::uint32_t b) {
  const View before = order_.view(b);
  const View after = sawPackets_ ? packetView(b) : before;
  const Operand *present = nullptr;
  for (std::size_t i = 0; i < destinations_.size(); ++i) {
    const Operand &source = sources_[sources_.size() == 1 ? 0 : i];
    if (&source != present) {
      present = &source;
      readValues(source, {b, before.phase, source.ref}, before);
    }
    writeComputed(destinations_[i], {b, before.phase, destinations_[i].ref}, after, valuesOfUnit_.data());
  }
}

void Machine::reduce(std::uint32_t b, const ir::Op &op) {
  const View before = order_.view(b);
  const View after = sawPackets_ ? packetView(b) : before;
  for (const Operand &source : sources_)
    read(source, {b, before.phase, source.ref}, before);
  const std::uint32_t units = sources_[0].count;
  if (launch_ == 0) {
    valuesOfUnit_.resize(units);
    for (std::uint32_t u = 0; u < units; ++u) {
      partsOfUnit_.clear();
      for (const Operand &source : sources_)
        partsOfUnit_.push_back(memory_[source.first + u].value);
      valuesOfUnit_[u] = chains_ && op.channelType != ir::ChannelType::Switch
                             ? values_.chain(op.reduceOp, partsOfUnit_)
                             : values_.combine(op.reduceOp, partsOfUnit_);
    }
  }
  for (const Operand &destination : destinations_)
    writeComputed(destination, {b, before.phase, destination.ref}, after, valuesOfUnit_.data());
}

void Machine::portPut(std::uint32_t b, const ir::Op &op) {
  BlockState &s = blocks_[b];
  const auto ids = s.code->idsOf(op);
  for (std::uint32_t i = 0; i < destinations_.size(); ++i) { // thread i puts the i-th
    const Operand &source = sources_[sources_.size() == 1 ? 0 : i];
    const std::uint32_t channel = index_.channel(op.channelType, s.rank, ids[ids.size() == 1 ? 0 : i]);
    View issue = threadView(b, i);
    issue.putChannel = channel;
    const Epoch put{Epoch::putBit | order_.addPut(channel, issue, s.at.op()), issue.phase, source.ref};
    readValues(source, put, issue);
    if (history_ && launch_ == 0 && source.scratch) {
      const Operand &cells = source.packet ? destinations_[i] : source;
      if (cells.count != 0)
        history_->note(source.rank, put, false, source.packet, cells.first, cells.count);
    }
    View finish = sawPackets_ ? packetView(b) : issue;
    finish.thread = i;
    finish.putChannel = channel;
    write(destinations_[i], {put.agent, put.phase, destinations_[i].ref}, finish, valuesOfUnit_.data());
  }
}

void Machine::readValues(const Operand &source, const Epoch &by, const View &view) {
  read(source, by, view);
  if (launch_ != 0)
    return;
  valuesOfUnit_.resize(source.count);
  for (std::uint32_t u = 0; u < source.count; ++u)
    valuesOfUnit_[u] = memory_[source.first + u].value;
}

void Machine::read(const Operand &operand, const Epoch &by, const View &view) {
  if (operand.count == 0)
    return;
  counts_.accesses += operand.count;
  if (launch_ != 0)
    return checkLater(operand, by, view, false);
  if (history_ && operand.scratch && !by.isPut())
    history_->note(operand.rank, by, false, operand.packet, operand.first, operand.count);
  // Of packets every reader counts: the first tells soonest that what they were computed from has been read.
  const bool awaited = operand.packet && ir::awaitsPackets(currentOp_->kind);
  const bool keeps = operand.packet && geometry_.mostIterations() == 0;
  for (std::uint32_t i = 0; i < operand.count; ++i) {
    const CellId id = operand.first + i;
    if (!awaited)
      checkRead(id, by, view);
    Cell &cell = memory_[id];
    const Epoch &had = cell.read;
    const bool replaces =
        !keeps && had.exists() && cell.moreReads == none && !had.isPut() &&
        ((had.agent == by.agent && (had.phase < by.phase || had.ref == by.ref)) ||
         (had.agent != by.agent && order_.knownAtOnce(had.agent, had.phase, view, Relation::HappensBefore)));
    if (replaces)
      cell.read = by;
    else
      memory_.addRead(cell, by, keeps);
  }
}

void Machine::write(const Operand &operand, const Epoch &by, const View &view, const ValueId *values) {
  if (operand.count == 0)
    return;
  counts_.accesses += operand.count;
  if (launch_ != 0) {
    checkLater(operand, by, view, true);
    for (std::uint32_t i = 0; operand.packet && i < operand.count; ++i)
      if (memory_.slotLaunch(operand.first + i) != launch_ + 1)
        sendPacket(operand.first + i, view);
    return;
  }
  if (history_ && operand.scratch)
    history_->note(operand.rank, by, true, operand.packet, operand.first, operand.count);
  for (std::uint32_t i = 0; i < operand.count; ++i) {
    const CellId id = operand.first + i;
    Cell &cell = memory_[id];
    if (operand.packet && memory_.slotLaunch(id) == launch_ + 1) {
      writeAgain(id, by, view, values[i]);
      continue;
    }
    checkWrite(id, by, view, operand.packet);
    if (operand.packet)
      sendPacket(id, view);
    memory_.setWrite(cell, by);
    cell.value = cell.value == Values::unknown ? Values::unknown : values[i];
  }
}

void Machine::checkLater(const Operand &operand, const Epoch &by, const View &view, bool writes) {
  if (index_.program.doubleScratch && operand.scratch != (launch_ == 2))
    return;
  if (history_ && operand.scratch && writes)
    if (const ScratchHistory::Access *open = history_->open(operand.rank, view)) {
      listener_.sizeChanged(operand.rank, open->by, open->writes, by);
      history_.reset(); // one is enough to tell
    }
  for (std::uint32_t i = 0; i < operand.count; ++i) {
    const CellId id = operand.first + i;
    Cell &cell = memory_[id];
    if (!writes) {
      if (!operand.packet)
        checkRead(id, by, view);
    } else if (cell.write.exists() || cell.read.exists()) {
      checkWrite(id, by, view, operand.packet);
      memory_.setWrite(cell, {});
    }
  }
}

void Machine::checkRead(CellId id, const Epoch &by, const View &view) {
  Cell &cell = memory_[id];
  if (!cell.write.exists())
    return;
  if (order_.before(cell.write, true, view, Relation::Visibility)) {
    if (view.besides.empty()) // else only one thread is known to come after it
      order_.readAfter(cell.write, view);
  } else if (!knownTaken(cell, view) && !sameElement(cell.write, by)) {
    report(id, cell.write, true, by, false, view);
  }
}

void Machine::checkWrite(CellId id, const Epoch &by, const View &view, bool packet) {
  Cell &cell = memory_[id];
  // A packet that has arrived: only its readers need to be waited for.
  const bool arrived = packet && memory_.packetArrived(id);
  if (!arrived && cell.write.exists() && !order_.before(cell.write, true, view, Relation::Visibility) &&
      !sameElement(cell.write, by))
    report(id, cell.write, true, by, true, view);
  memory_.forReads(cell, [&](const Epoch &reader) {
    if (!order_.before(reader, false, view, Relation::HappensBefore) && !sameElement(reader, by) &&
        !computedFrom(id, reader, view, by))
      report(id, reader, false, by, true, view);
  });
}

/// True if one thread makes both accesses, 'a' before 'b', which is the operation's in progress, and in that order.
bool Machine::sameElement(const Epoch &a, const Epoch &b) const {
  if (a.agent != b.agent || a.phase != b.phase || a.isPut() || a.isUser() || b.isUser() || !currentOp_)
    return false;
  const BlockState &s = blocks_[b.agent];
  const bool sameOp = a.ref - currentOp_->firstChunk < currentOp_->numChunks();
  return elements_.sameThread(b.agent, {sameOp ? s.at.op() : opOf(a), a.ref}, {s.at.op(), b.ref}, s.at.header(),
                              s.slice);
}

void Machine::sendPacket(CellId id, const View &view) {
  if (packetClock_ == none) {
    packetClock_ = static_cast<std::uint32_t>(packetClocks_.size());
    packetClocks_.push_back(order_.send(currentBlock_, true, view.besides));
  }
  memory_.slotLaunch(id) = static_cast<std::uint8_t>(launch_ + 1);
  memory_.slotClock(id) = packetClock_;
  if (memory_.slotWaiter(id) != none)
    wake(memory_.slotWaiter(id));
}

void Machine::writeAgain(CellId id, const Epoch &by, const View &view, ValueId value) {
  // The same packet over itself, as a multicast does to its sender's own slot, is seen by nobody: if it comes later.
  Cell &cell = memory_[id];
  const bool isSource = std::any_of(sources_.begin(), sources_.end(),
                                    [&](const Operand &o) { return o.packet && id - o.first < o.count; });
  const bool harmless = value == cell.value && value > Values::unknown &&
                        (isSource || order_.before(cell.write, true, view, Relation::HappensBefore));
  if (!harmless) {
    listener_.slotWrittenTwice(id, cell.write, by);
    cell.value = Values::unknown;
  }
  memory_.setWriteAgain(id, by);
}

std::uint32_t Machine::opOf(const Epoch &record) const {
  const std::uint32_t b = order_.blockOf(record);
  if (record.isUser())
    return none;
  auto &byOperand = operandIndex_[b];
  const auto &ops = index_.ops(b).ops;
  if (byOperand.empty()) {
    for (std::uint32_t o = 0; o < ops.size(); ++o)
      if (ops[o].numChunks() != 0)
        byOperand.emplace_back(ops[o].firstChunk, o);
    std::sort(byOperand.begin(), byOperand.end());
  }
  const auto after = std::upper_bound(byOperand.begin(), byOperand.end(), std::pair(record.ref, none));
  return std::prev(after)->second;
}

void Machine::report(CellId id, const Epoch &first, bool firstWrites, const Epoch &second, bool secondWrites,
                     const View &view) {
  Conflict c;
  c.cell = id;
  c.first = first;
  c.firstWrites = firstWrites;
  c.second = second;
  c.secondWrites = secondWrites;
  c.view = view;
  c.control = order_.before(first, firstWrites, view, Relation::HappensBefore);
  c.firstOp = opOf(first);
  c.secondOp = opOf(second);
  if (first.isPut() && second.isUser() && !firstWrites)
    listener_.inputStillSent(id, first);
  else
    listener_.conflict(c);
  if (!second.isUser() || !c.control)
    memory_[id].value = Values::unknown;
}

} // namespace mscclc::passes::proof
