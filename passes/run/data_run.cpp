#include "passes/run/data_run.h"

#include "ir/internal_error.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

void DataRun::addOperand(std::uint32_t b, const ir::Op &op, std::uint32_t operand, std::vector<Operand> &list) const {
  const std::uint32_t ref = op.firstChunk + operand;
  const ir::Chunk &chunk = index_.ops(b).chunks[ref];
  ir::forEachPiece(index_.program, index_.rankOf(b), op, operand, chunk, [&](const ir::MemoryPiece &piece) {
    const UnitSpan span = geometry_.span(chunk, op, control_.slice(b), piece.inScratch());
    const std::uint64_t first = memory_.base(piece.rank, piece.buffer, piece.isPacket()) + span.first;
    list.push_back({piece.rank, static_cast<CellId>(first), span.count, ref, piece.isPacket(), piece.inScratch()});
  });
}

bool DataRun::packetsArrived(std::uint32_t b, const ir::Op &op) {
  for (std::uint32_t &s = control_.step(b); s < op.numSrcs; ++s) { // continues after the sources that have arrived
    if (ir::formOfSource(op, s) != ir::DataForm::Packet)
      continue;
    step_.sources.clear();
    addOperand(b, op, s, step_.sources);
    for (const Operand &source : step_.sources)
      for (CellId cell = source.first; cell < source.first + source.count; ++cell)
        if (!slots_.isThere(cell)) {
          if (!ir::awaitsPackets(op.kind)) {
            events_.packetNotThere(b, cell);
            return true;
          }
          control_.wait(b, slots_.slots_[cell - slots_.first_].waiter, Waiting::Packet, cell);
          return false;
        }
  }
  return true;
}

bool DataRun::run(std::uint32_t b, const ir::Op &op) {
  if (ir::isPacketOp(op.kind) && !packetsArrived(b, op))
    return false;
  step_.block = b;
  step_.op = &op;
  step_.sources.clear();
  step_.destinations.clear();
  for (std::uint32_t i = 0; i < op.numChunks(); ++i)
    addOperand(b, op, i, i < op.numSrcs ? step_.sources : step_.destinations);
  takePackets();
  if (!events_.begins(step_))
    return true;
  switch (ir::info(op.kind).stored) {
  case ir::Stored::Sources:
    if (op.channelType == ir::ChannelType::Port) {
      putAll();
      break;
    }
    for (std::size_t i = 0; i < step_.destinations.size(); ++i) {
      if (i < step_.sources.size())
        events_.reads(step_, step_.sources[i]);
      writeComputed(step_.destinations[i]);
    }
    break;
  case ir::Stored::Reduction:
  case ir::Stored::Applied:
    for (const Operand &source : step_.sources)
      events_.reads(step_, source);
    events_.computes(step_);
    for (const Operand &destination : step_.destinations)
      writeComputed(destination);
    break;
  case ir::Stored::Nothing:
    throw ir::InternalError("no data operation: " + std::string(ir::toString(op.kind)));
  }
  return true;
}

void DataRun::takePackets() {
  step_.takesPackets = ir::awaitsPackets(step_.op->kind);
  step_.taken.clear();
  step_.isMixed = false;
  for (const Operand &source : step_.sources)
    for (std::uint32_t i = 0; step_.takesPackets && source.packet && i < source.count; ++i) {
      const std::uint32_t message = slots_.message(source.first + i);
      step_.isMixed = step_.isMixed || message != slots_.message(source.first);
      if (step_.taken.empty() || step_.taken.back() != message)
        step_.taken.push_back(message);
    }
}

/// Makes all puts of the operation. Thread i puts to destination i.
void DataRun::putAll() {
  const auto ids = index_.ops(step_.block).idsOf(*step_.op);
  for (std::uint32_t i = 0; i < step_.destinations.size(); ++i) {
    const std::uint32_t id = ids[ids.size() == 1 ? 0 : i];
    const std::uint32_t channel = index_.channel(step_.op->channelType, index_.rankOf(step_.block), id);
    events_.puts(step_, i, channel, step_.sources[step_.sources.size() == 1 ? 0 : i], step_.destinations[i]);
  }
}

/// Writes a destination. A thread has taken only the packets of the elements that it writes.
void DataRun::writeComputed(const Operand &to) {
  if (!step_.isMixed)
    return events_.writes(step_, to, 0, step_.taken);
  for (std::uint32_t u = 0, end; u < to.count; u = end) {
    const auto isEqual = [&](const Operand &source) {
      return !source.packet || slots_.message(source.first + end) == slots_.message(source.first + u);
    };
    for (end = u + 1; end < to.count && std::ranges::all_of(step_.sources, isEqual);)
      ++end;
    takenHere_.clear();
    for (const Operand &source : step_.sources)
      if (source.packet)
        takenHere_.push_back(slots_.message(source.first + u));
    Operand part = to;
    part.first += u;
    part.count = end - u;
    events_.writes(step_, part, u, takenHere_);
  }
}

} // namespace mscclc::passes::proof
