// The machine's data operations: which cells they touch, in which order to what came before, and what they leave there.
#include "passes/verify/machine.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

bool Machine::data(std::uint32_t b, const ir::Op &op) {
  if (!data_.run(b, op))
    return false;
  for (const MessageClock &clock : now_.taken)
    order_.receive(b, clock, false);
  return true;
}

bool Machine::begins(const DataStep &step) {
  clocksOf(step.taken, now_.taken);
  now_.message = none;
  return true;
}

void Machine::reads(const DataStep &step, const Operand &source) {
  const View view = order_.view(step.block);
  read(source, {step.block, view.phase, source.ref}, view);
  if (ir::info(step.op->kind).stored == ir::Stored::Sources)
    keepValues(source);
}

void Machine::reduces(const DataStep &step) {
  if (control_.launch() != 0)
    return;
  const bool chain = chains_ && step.op->channelType != ir::ChannelType::Switch;
  now_.values.resize(step.sources[0].count);
  for (std::uint32_t u = 0; u < now_.values.size(); ++u) {
    partsOfUnit_.clear();
    for (const Operand &source : step.sources)
      partsOfUnit_.push_back(memory_[source.first + u].value);
    now_.values[u] =
        chain ? values_.chain(step.op->reduceOp, partsOfUnit_) : values_.combine(step.op->reduceOp, partsOfUnit_);
  }
}

void Machine::writes(const DataStep &step, const Operand &part, std::uint32_t unit,
                     std::span<const std::uint32_t> taken) {
  View view = order_.view(step.block);
  view.besides = now_.taken;
  if (step.isMixed) {
    clocksOf(taken, now_.takenHere);
    view.besides = now_.takenHere;
    now_.message = none;
  }
  write(part, {step.block, view.phase, part.ref}, view, now_.values.data() + (control_.launch() == 0 ? unit : 0));
}

void Machine::puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
                   const Operand &destination) {
  View issue = threadView(step.block, thread);
  issue.putChannel = channel;
  const std::uint32_t op = control_.at(step.block).op();
  const Epoch put{Epoch::putBit | order_.addPut(channel, issue, op), issue.phase, source.ref};
  read(source, put, issue);
  keepValues(source);
  if (history_ && control_.launch() == 0 && source.scratch) {
    const Operand &cells = source.packet ? destination : source;
    if (cells.count != 0)
      history_->note(source.rank, put, false, source.packet, cells.first, cells.count);
  }
  View finish = issue;
  if (step.takesPackets)
    finish.besides = now_.taken;
  write(destination, {put.agent, put.phase, destination.ref}, finish, now_.values.data());
}

/// What `source` holds, in the first launch: later ones follow no values.
void Machine::keepValues(const Operand &source) {
  if (control_.launch() != 0)
    return;
  now_.values.resize(source.count);
  for (std::uint32_t u = 0; u < source.count; ++u)
    now_.values[u] = memory_[source.first + u].value;
}

void Machine::read(const Operand &operand, const Epoch &by, const View &view) {
  if (operand.count == 0)
    return;
  counts_.accesses += operand.count;
  if (control_.launch() != 0)
    return checkLater(operand, by, view, false);
  if (history_ && operand.scratch && !by.isPut())
    history_->note(operand.rank, by, false, operand.packet, operand.first, operand.count);
  // Of packets every reader counts: the first tells soonest that what they were computed from has been read.
  const bool awaited = operand.packet && data_.step().takesPackets;
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
  if (control_.launch() != 0) {
    checkLater(operand, by, view, true);
    for (std::uint32_t i = 0; operand.packet && i < operand.count; ++i)
      if (!data_.slots().isThere(operand.first + i))
        sendPacket(operand.first + i, view);
    return;
  }
  if (history_ && operand.scratch)
    history_->note(operand.rank, by, true, operand.packet, operand.first, operand.count);
  for (std::uint32_t i = 0; i < operand.count; ++i) {
    const CellId id = operand.first + i;
    Cell &cell = memory_[id];
    if (operand.packet && data_.slots().isThere(id)) {
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
  if (index_.program.doubleScratch && operand.scratch != (control_.launch() == 2))
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
  if (a.agent != b.agent || a.phase != b.phase || a.isPut() || a.isUser() || b.isUser())
    return false;
  const ir::Op &op = *data_.step().op;
  const std::uint32_t at = control_.at(b.agent).op();
  const bool isSameOp = a.ref - op.firstChunk < op.numChunks();
  return elements_.sameThread(b.agent, {isSameOp ? at : opOf(a), a.ref}, {at, b.ref}, control_.at(b.agent).header(),
                              control_.slice(b.agent));
}

void Machine::sendPacket(CellId id, const View &view) {
  if (now_.message == none) {
    now_.message = static_cast<std::uint32_t>(packetClocks_.size());
    packetClocks_.push_back(order_.send(data_.step().block, true, view.besides));
  }
  data_.send(id, now_.message);
}

void Machine::writeAgain(CellId id, const Epoch &by, const View &view, ValueId value) {
  // The same packet over itself, as a multicast does to its sender's own slot, is seen by nobody: if it comes later.
  Cell &cell = memory_[id];
  const bool isSource =
      std::ranges::any_of(data_.step().sources, [&](const Operand &o) { return o.packet && id - o.first < o.count; });
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
