// The order that data itself makes. A packet operation reads its sources before it writes its packets, element by
// element: what is in a packet was computed from them. So whoever has a packet in hand knows that the sources of that
// element have been read, and so does an operation that writes an element after it took the packet of that element.
// This lets a slot or a chunk be overwritten without any other sync, as packet algorithms do.
#include "passes/verify/machine.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {
constexpr std::uint32_t chainBudget = 4096; ///< cells looked at before an order counts as not there
constexpr int chainDepth = 4;
} // namespace

bool Machine::computedFrom(CellId id, const Epoch &reader, const View &view, const Epoch &by) {
  if (!memory_.usesPackets() || reader.isUser() || geometry_.mostIterations() != 0)
    return false;
  Chain chain{view, by, id, none, chainBudget};
  if (!by.isUser()) {
    const std::uint32_t at = by.ref - currentOp_->firstChunk - currentOp_->numSrcs;
    if (destinations_.size() == currentOp_->numDsts) { // no switch, which stands for several
      chain.offset = id - destinations_[at].first;
    } else {
      for (const Operand &o : destinations_)
        if (id - o.first < o.count)
          chain.offset = id - o.first;
    }
  }
  return takenAlong(id, reader, chain, 0);
}

/// A packet that somebody has taken is there: for whoever comes after that, too.
bool Machine::takenBefore(const Cell &cell, const View &view) const {
  bool found = false;
  memory_.forReads(cell, [&](const Epoch &reader) {
    found =
        found || (!reader.isUser() && order_.known(order_.blockOf(reader), reader.phase, view, Relation::Visibility) &&
                  ir::awaitsPackets(index_.ops(order_.blockOf(reader)).ops[opOf(reader)].kind));
  });
  return found;
}

bool Machine::consumed(CellId slot, const Epoch &consumer, const Chain &chain) const {
  if (order_.before(consumer, false, chain.view, Relation::HappensBefore))
    return true;
  if (launch_ != 0 || chain.offset == none || chain.by.isPut()) // what it took is of its own launch
    return false;
  // Taken by the writing operation itself, at the same element; or by the one that made a packet which it took.
  for (const Operand &source : sources_) {
    if (!source.packet || chain.offset >= source.count)
      continue;
    const CellId mine = source.first + chain.offset;
    if (mine == slot)
      return consumer.agent == chain.by.agent && consumer.phase == chain.by.phase && consumer.ref == source.ref;
    const Epoch &made = memory_[mine].write;
    if (made.agent != consumer.agent || made.phase != consumer.phase || made.isPut())
      continue;
    const std::uint32_t o = opOf(made);
    if (o != opOf(consumer))
      continue;
    const ir::ThreadBlock &code = index_.ops(made.agent);
    const ir::Op &op = code.ops[o];
    if (!ir::reduces(op.kind) && op.numSrcs == op.numDsts &&
        made.ref - op.firstChunk - op.numSrcs != consumer.ref - op.firstChunk)
      continue; // another pair of the operation
    const auto offset = [&](const Epoch &r, CellId cell) {
      return cell - (memory_.base(memory_.locate(cell).rank, ir::BufferKind::Scratch, true) +
                     geometry_.span(code.chunks[r.ref], op, nullptr, true).first);
    };
    if (offset(made, mine) == offset(consumer, slot))
      return true;
  }
  return false;
}

bool Machine::takenAlong(CellId id, const Epoch &reader, Chain &chain, int depth) {
  const std::uint32_t b = order_.blockOf(reader), o = opOf(reader);
  const ir::ThreadBlock &code = index_.ops(b);
  const ir::Op &op = code.ops[o];
  const ir::Chunk &source = code.chunks[reader.ref];
  if (ir::formOfDestination(op.kind, op.numDsts - 1) != ir::DataForm::Packet || !ir::isLocal(source.space))
    return false;
  const std::uint32_t owner = index_.rankOf(b);
  const auto cellOf = [&](const ir::Chunk &chunk, std::uint32_t at, ir::BufferKind buffer, bool packet) {
    return memory_.base(at, buffer, packet) +
           geometry_.span(chunk, op, nullptr, buffer == ir::BufferKind::Scratch).first;
  };
  const auto taken = [&](std::uint64_t at) {
    const auto slot = static_cast<CellId>(at);
    if (chain.budget == 0)
      return false;
    --chain.budget;
    const Cell &cell = memory_[slot];
    if (!cell.write.exists() || order_.blockOf(cell.write) != b || cell.write.phase != reader.phase)
      return false;
    bool found = false;
    memory_.forReads(cell, [&](const Epoch &consumer) {
      found = found || consumed(slot, consumer, chain) ||
              (depth < chainDepth && takenAlong(slot, consumer, chain, depth + 1));
    });
    return found;
  };
  const bool packetSource = ir::roleOf(op, reader.ref - op.firstChunk).form == ir::DataForm::Packet;
  const std::uint64_t offset = id - cellOf(source, owner, static_cast<ir::BufferKind>(source.space), packetSource);
  // Of pairwise operations, only the packet made from this very source.
  const bool pairwise = !ir::reduces(op.kind) && op.numSrcs == op.numDsts;
  const auto goes = [&](std::uint32_t d, std::uint32_t member) {
    return taken(cellOf(code.dsts(op)[d], member, ir::BufferKind::Scratch, true) + offset);
  };
  const auto &destinations = packetDestinations(b, o);
  // The packets that went to the writer's own rank tell soonest.
  const std::uint32_t here = index_.rankOf(order_.blockOf(chain.by));
  const auto near =
      std::equal_range(destinations.begin(), destinations.end(), PacketDestination{here, 0},
                       [](const PacketDestination &a, const PacketDestination &c) { return a.rank < c.rank; });
  const auto asked = [&](std::uint32_t d) { return !pairwise || d == reader.ref - op.firstChunk; };
  for (auto it = near.first; it != near.second; ++it)
    if (asked(it->operand) && goes(it->operand, it->rank))
      return true;
  if (pairwise && code.dsts(op)[reader.ref - op.firstChunk].space == ir::ChunkSpace::Switch)
    return false;
  for (const PacketDestination &to : destinations)
    if (to.rank != here && asked(to.operand) && goes(to.operand, to.rank))
      return true;
  return false;
}

const std::vector<Machine::PacketDestination> &Machine::packetDestinations(std::uint32_t b, std::uint32_t o) {
  auto &found = packetDestinations_[std::uint64_t{b} << 32 | o];
  if (!found.empty())
    return found;
  const ir::ThreadBlock &code = index_.ops(b);
  const ir::Op &op = code.ops[o];
  ir::forEachMemory(index_.program, index_.rankOf(b), code, op, [&](const ir::MemoryPiece &piece) {
    if (piece.access == ir::Access::Write && piece.isPacket())
      found.push_back({piece.rank, piece.operand - op.numSrcs});
  });
  std::sort(found.begin(), found.end(), [](const PacketDestination &x, const PacketDestination &y) {
    return std::pair(x.rank, x.operand) < std::pair(y.rank, y.operand);
  });
  return found;
}

} // namespace mscclc::passes::proof
