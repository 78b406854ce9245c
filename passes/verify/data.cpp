// Data operations of a checked run: the cells that they access, the order after earlier accesses, and the values that
// they leave.
#include "passes/verify/checked_run.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {
/// True if the operation stores a sum both as packets and as plain data. With a wire format, the plain data is what the
/// packets hold, decoded.
bool keepsPackets(const ir::Op &op) {
  return ir::reduces(op.kind) && ir::isPacketOp(op.kind) && op.numDsts > 1;
}
} // namespace

bool CheckedRun::data(std::uint32_t b, const ir::Op &op) {
  if (!data_.run(b, op))
    return false;
  for (const MessageClock &clock : now_.taken)
    order_.receive(b, clock, MessageKind::Packet);
  return true;
}

bool CheckedRun::begins(const DataStep &step) {
  clocksOf(step.taken, now_.taken);
  now_.message = none;
  return true;
}

void CheckedRun::reads(const DataStep &step, const Operand &source) {
  const View view = order_.view(step.block);
  counts_.accesses += source.count;
  read(source, {{step.block, view.phase, source.ref}, view});
  if (ir::info(step.op->kind).stored != ir::Stored::Sources)
    return;
  keepValues(source);
  zeroSent(step);
}

/// Zeroes the values that are sent in Lamport packets, because these packets carry +0.0 for -0.0.
void CheckedRun::zeroSent(const DataStep &step) {
  if (control_.launch() == 0 && index_.program.protocol == ir::Protocol::Lamport && ir::isPacketOp(step.op->kind))
    for (ValueId &value : now_.values)
      value = values_.zeroed(value);
}

/// Returns true if the result of a reduction is never -0.0. Such a result does not depend on the signs of zeros, so
/// zeroed operands in `partsOfUnit_` are replaced by their originals. There are two cases. An operation with Lamport
/// packets makes its result +0.0. A sum with a zeroed operand is never -0.0, because that would need -0.0 in all
/// operands. A sum that is not zero is not rounded to zero either, because all floats are multiples of the least number
/// of their type.
bool CheckedRun::dropZeroes(const DataStep &step) {
  const bool isSent = index_.program.protocol == ir::Protocol::Lamport && ir::isPacketOp(step.op->kind);
  const auto isZeroed = [&](ValueId part) { return values_.isZeroed(part); };
  if (!isSent && (step.op->reduceOp != ir::ReduceOp::Sum || std::ranges::none_of(partsOfUnit_, isZeroed)))
    return false;
  for (ValueId &part : partsOfUnit_)
    part = values_.unzeroed(part);
  return true;
}

void CheckedRun::computes(const DataStep &step) {
  if (control_.launch() != 0)
    return;
  if (ir::info(step.op->kind).stored == ir::Stored::Applied)
    return applies(step);
  const ir::ReduceOp reduceOp = step.op->reduceOp;
  const bool inSwitch = step.op->channelType == ir::ChannelType::Switch;
  const bool isWide = sumsStayWide(), takesEncoded = hasWire_ && ir::isPacketOp(step.op->kind);
  now_.values.resize(step.sources[0].count);
  for (std::uint32_t u = 0; u < now_.values.size(); ++u) {
    partsOfUnit_.clear();
    for (std::uint32_t n = 0; n < step.sources.size(); ++n) {
      const Operand &source = step.sources[ir::sourceAdded(n, step.op->firstAfter)];
      const ValueId value = memory_[source.first + u].value;
      // Outside of scratch, an encoded value has been decoded, and so it has been rounded to the type of elements. A
      // sum that is sent as packets encodes the operands that it takes from there.
      const bool isEncodedHere = !source.scratch && (takesEncoded || values_.isEncoded(value));
      partsOfUnit_.push_back(isEncodedHere ? values_.inScratch(value, /*isMoved=*/false) : value);
    }
    findNarrowed(step);
    const bool isZeroed = dropZeroes(step);
    now_.values[u] = ir::isReorderable(reduceOp) ? values_.combine(reduceOp, partsOfUnit_)
                     : inSwitch                  ? values_.inSwitch(reduceOp, partsOfUnit_)
                                                 : values_.chain(reduceOp, partsOfUnit_, isWide);
    if (isZeroed)
      now_.values[u] = values_.zeroed(now_.values[u]);
  }
}

/// Applies a hook. The place in the output selects the rows of the arrays. So applications to the same rows access the
/// same output cells, and the order of these accesses is checked.
void CheckedRun::applies(const DataStep &step) {
  const auto hook = static_cast<std::uint32_t>(step.op->imm);
  const Operand &source = step.sources[0], &destination = step.destinations[0];
  const std::uint64_t first = destination.first - memory_.base(destination.rank, ir::BufferKind::Output, false);
  keepValues(source);
  for (std::uint32_t u = 0; u < source.count; ++u) {
    const Application function = applicationOf(index_.program, hook, destination.rank, first + u);
    now_.values[u] = values_.apply(function, now_.values[u]);
    if (index_.program.hooks[hook].writes.empty())
      continue;
    const ir::OpRef place = index_.place(step.block, control_.at(step.block).op());
    if (const auto [before, isNew] = written_.try_emplace(function, place); !isNew)
      listener_.appliedTwice(destination.rank, first + u, before->second, place);
  }
}

/// Reports an operand of a sum if another operation has narrowed it, and sums must be narrowed only once.
void CheckedRun::findNarrowed(const DataStep &step) {
  if (index_.program.movement.accumulate == ir::Accumulate::Narrow || ir::isReorderable(step.op->reduceOp))
    return;
  for (const ValueId part : partsOfUnit_)
    if (const auto maker = narrowedBy_.find(part); maker != narrowedBy_.end())
      listener_.narrowedEarly(maker->second, placeOf(step));
}

void CheckedRun::writes(const DataStep &step, const Operand &part, std::uint32_t unit,
                        std::span<const std::uint32_t> taken) {
  View view = order_.view(step.block);
  view.besides = now_.taken;
  if (step.isMixed) {
    clocksOf(taken, now_.takenHere);
    view.besides = now_.takenHere;
    now_.message = none;
  }
  counts_.accesses += part.count;
  now_.firstUnit = unit;
  now_.staysWide = staysWide(part);
  now_.isEncoded = (part.scratch || keepsPackets(*step.op)) &&
                   !(ir::info(step.op->kind).stored == ir::Stored::Sources && now_.fromScratch);
  if (rows_)
    checkRowPlaces(part, unit);
  write(part, {{step.block, view.phase, part.ref}, view});
}

void CheckedRun::puts(const DataStep &step, std::uint32_t thread, std::uint32_t channel, const Operand &source,
                      const Operand &destination) {
  View issue = threadView(step.block, thread);
  issue.putChannel = channel;
  const std::uint32_t op = control_.at(step.block).op();
  const Epoch put{Epoch::putBit | order_.addPut(channel, issue, op), issue.phase, source.ref};
  counts_.accesses += source.count + destination.count;
  now_.message = none; // a new message is made: the put's packets carry the knowledge of its own thread
  read(source, {put, issue});
  keepValues(source);
  if (history_ && control_.launch() == 0 && source.scratch) {
    const Operand &cells = source.packet ? destination : source;
    if (cells.count != 0)
      history_->note(source.rank, put, false, source.packet, cells.first, cells.count);
  }
  View finish = issue;
  if (step.takesPackets)
    finish.besides = now_.taken;
  now_.firstUnit = 0;
  now_.staysWide = staysWide(destination);
  now_.isEncoded = destination.scratch && !source.scratch;
  if (rows_)
    checkRowPlaces(destination, 0);
  write(destination, {{put.agent, put.phase, destination.ref}, finish});
}

/// Reads the values of `source` in the first launch. Later launches do not compute values.
void CheckedRun::keepValues(const Operand &source) {
  if (control_.launch() != 0)
    return;
  now_.fromScratch = source.scratch;
  now_.values.resize(source.count);
  for (std::uint32_t u = 0; u < source.count; ++u)
    now_.values[u] = memory_[source.first + u].value;
  if (rows_)
    noteRows(source);
}

/// In the first launch, notes an access to scratch. In later launches, checks that a write to scratch comes after all
/// noted accesses.
void CheckedRun::accesses(const Operand &operand, const JudgedAccess &access, bool writes) {
  if (!history_ || !operand.scratch || operand.count == 0)
    return;
  if (control_.launch() == 0) {
    if (writes || !access.by.isPut())
      history_->note(operand.rank, access.by, writes, operand.packet, operand.first, operand.count);
  } else if (const ScratchHistory::Access *open = writes ? history_->open(operand.rank, access.view) : nullptr) {
    listener_.sizeChanged(operand.rank, open->by, open->writes, access.by);
    history_.reset(); // one finding is enough
  }
}

void CheckedRun::keepRead(CellId id, const JudgedAccess &access) {
  // All readers of a packet are kept, because the order by packets follows from the earliest reader.
  const bool keeps = id >= memory_.firstSlot() && geometry_.mostIterations() == 0;
  const Epoch &by = access.by;
  Cell &cell = memory_[id];
  const Epoch &had = cell.read;
  const bool replaces =
      !keeps && !by.isUser() && had.exists() && cell.moreReads == none && !had.isPut() &&
      ((had.agent == by.agent && (had.phase < by.phase || had.ref == by.ref)) ||
       (had.agent != by.agent && order_.knownAtOnce(had.agent, had.phase, access.view, needed(id, false))));
  if (replaces)
    cell.read = by;
  else
    memory_.addRead(cell, by, keeps);
}

void CheckedRun::wrote(CellId id, std::uint32_t unit) {
  Cell &cell = memory_[id];
  if (cell.value != Values::unknown)
    cell.value = stored(now_.values[now_.firstUnit + unit]);
}

/// Returns the form of `value` that memory holds. If sums must be narrowed only once, notes the first operation that
/// narrows the sum.
ValueId CheckedRun::stored(ValueId value) {
  if (hasWire_)
    return now_.isEncoded ? values_.inScratch(value, false) : now_.staysWide ? value : values_.narrowed(value);
  if (index_.program.movement.accumulate == ir::Accumulate::Narrow)
    return value;
  if (!now_.staysWide)
    value = values_.narrowed(value);
  if (ir::ReduceOp op; values_.reduced(value, op) && !ir::isReorderable(op) && !values_.isWide(value))
    narrowedBy_.try_emplace(value, placeOf(data_.step()));
  return value;
}

void CheckedRun::compare(CellId id, const Epoch &first, bool firstWrites, const JudgedAccess &second,
                         bool secondWrites) {
  const auto &[by, view] = second;
  if (!firstWrites) {
    if (!order_.before(first, false, view, needed(id, firstWrites)) && !sameElement(first, by) &&
        !computedFrom(id, first, view, by))
      report(id, first, false, by, true, view);
    return;
  }
  const bool isRead = !secondWrites && !by.isUser();
  if (order_.before(first, true, view, Relation::Visibility)) {
    if (isRead && view.besides.empty()) // otherwise only one thread is known to come after the write
      order_.readAfter(first, view);
    return;
  }
  if ((isRead && knownTaken(memory_[id], view)) || sameElement(first, by))
    return;
  report(id, first, true, by, secondWrites, view);
  if (!secondWrites && by.isUser())
    memory_[id].write = by; // said once
}

/// True if one thread makes both accesses: first `a`, then `b`, which belongs to the operation in progress.
bool CheckedRun::sameElement(const Epoch &a, const Epoch &b) const {
  if (a.agent != b.agent || a.phase != b.phase || a.isPut() || a.isUser() || b.isUser())
    return false;
  const ir::Op &op = *data_.step().op;
  const std::uint32_t at = control_.at(b.agent).op();
  const bool isSameOp = a.ref - op.firstChunk < op.numChunks();
  return elements_.sameThread(b.agent, {isSameOp ? at : opOf(a), a.ref}, {at, b.ref}, control_.at(b.agent).header(),
                              control_.slice(b.agent));
}

void CheckedRun::sendPacket(CellId id, const JudgedAccess &access) {
  if (now_.message == none) {
    now_.message = static_cast<std::uint32_t>(packetClocks_.size());
    packetClocks_.push_back(order_.send(data_.step().block, MessageKind::Packet, access.view.besides));
  }
  data_.send(id, now_.message);
}

void CheckedRun::writesAgain(CellId id, const JudgedAccess &access, std::uint32_t unit) {
  const ValueId value = stored(now_.values[now_.firstUnit + unit]);
  // Another write of the same packet to its own place changes nothing. A multicast does that to its sender's own slot.
  Cell &cell = memory_[id];
  const bool isSource =
      std::ranges::any_of(data_.step().sources, [&](const Operand &o) { return o.packet && id - o.first < o.count; });
  const bool harmless = value == cell.value && value > Values::unknown &&
                        (isSource || order_.before(cell.write, true, access.view, Relation::HappensBefore));
  if (!harmless) {
    listener_.slotWrittenTwice(id, cell.write, access.by);
    cell.value = Values::unknown;
  }
  memory_.setWriteAgain(id, access.by);
}

std::uint32_t CheckedRun::opOf(const Epoch &record) const {
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

void CheckedRun::report(CellId id, const Epoch &first, bool firstWrites, const Epoch &second, bool secondWrites,
                        const View &view) {
  const bool control = order_.before(first, firstWrites, view, Relation::HappensBefore);
  if (first.isPut() && second.isUser() && !firstWrites)
    listener_.inputStillSent(id, first);
  else
    listener_.conflict({id, first, firstWrites, second, secondWrites, view, control, opOf(first), opOf(second)});
  if (!second.isUser() || !control)
    memory_[id].value = Values::unknown;
}

} // namespace mscclc::passes::proof
