// Finds the order that the data of packets makes. Packet algorithms overwrite slots and chunks without any other sync.
//
// A packet alone does not make this order. It is a relaxed store, and under PTX it orders no earlier access of its
// sender. Example: A reads x and stores a packet, and B takes the packet and writes x. A may still see B's write. So
// packets do not carry Relation::Released (run/epoch.h). They do not carry it for earlier launches either: the end of
// A's last kernel has released the accesses of these launches, but B's load of a packet acquires nothing.
//
// It is different if the packet was computed from what A read. PTX forbids values out of thin air (8.10, No Thin Air):
// a value cannot cause itself along dependencies and communication. Two steps of the argument are no such dependency.
// They are assumptions about the hardware:
//   - A GPU makes no store before the branches on which it depends, and a taker polls before it goes on.
//   - What comes after the poll by a barrier or a signal also comes after the taking.
//
// Lemma. Let operation R read an element of a cell, and store packets that it computed from the element. A packet is
// stored after its sources were read. So taking one of these packets, at that element, comes after R's read. The taker
// T has read the packet's slot. If T also stores packets, the reads by R and T come before the taking of T's packets,
// and so on. Hence R's read of the cell is over before a write W if there is a trail
//     cell - R -> packet - T -> packet - T' -> ...
// on which some taker has taken its packet before W. There are two cases in which it has:
//   - The taking is ordered before W. If W writes plain memory, only signals, semaphores and barriers make this order.
//   - W's own operation took the packet at W's element. Or it took a packet there that the taker had made of the
//   packet, in the same operation or in a later one of its block that has the value from plain memory. This case holds
//   because an operation takes the packets of an element before it writes the element.
//
// Trails are searched breadth first, because a short trail gives the earliest order. They have at most `trailLength`
// packets.
#include "passes/verify/checked_run.h"

#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::proof {

namespace {

constexpr std::uint32_t trailPackets = 4096; ///< the most packets that are examined to find an order
constexpr std::uint32_t trailLength = 5;     ///< the most packets on one trail

/// True if source i of `op` goes only to destination i; otherwise every source goes to every destination.
bool isPairwise(const ir::Op &op) {
  return !ir::reduces(op.kind) && op.numSrcs == op.numDsts;
}

} // namespace

/// True if `reader` has read cell `id` before the write `by` of that cell, by the lemma above.
bool CheckedRun::computedFrom(CellId id, const Epoch &reader, const View &view, const Epoch &by) {
  if (!memory_.usesPackets() || reader.isUser() || geometry_.mostIterations() != 0)
    return false;
  const PacketWrite write{view, by, elementWritten(id, by), needed(id, false)};
  std::uint32_t looked = 0;
  bool over = false;
  trail_.assign(1, {id, reader, 1});
  for (std::size_t i = 0; i < trail_.size() && !over && looked < trailPackets; ++i) {
    const Reading from = trail_[i];
    anyPacketMadeOf(from, order_.blockOf(by), [&](CellId slot) {
      const Epoch &made = memory_[slot].write;
      if (made.exists() && order_.blockOf(made) == order_.blockOf(from.by) && made.phase == from.by.phase)
        memory_.forReads(memory_[slot], [&](const Epoch &taker) {
          over = over || takenBefore(slot, taker, write);
          if (!over && from.length < trailLength)
            trail_.push_back({slot, taker, from.length + 1});
        });
      return over || ++looked == trailPackets;
    });
  }
  return over;
}

/// Returns the index of cell `id` in the operand that `by` writes; `none` for the user.
std::uint32_t CheckedRun::elementWritten(CellId id, const Epoch &by) const {
  if (by.isUser())
    return none;
  const DataStep &step = data_.step();
  const std::vector<Operand> &destinations = step.destinations;
  if (destinations.size() == step.op->numDsts) // true unless a switch gives one operand several destinations
    return id - destinations[by.ref - step.op->firstChunk - step.op->numSrcs].first;
  const auto holds = [&](const Operand &o) { return id - o.first < o.count; };
  const auto it = std::ranges::find_if(destinations.rbegin(), destinations.rend(), holds);
  return it == destinations.rend() ? none : id - it->first;
}

/// Calls `visit(slot)` for each packet that the operation of `reading` computes from the element that it read. Packets
/// on the rank of block `near` come first. Stops when a call returns true.
template <typename Visit> void CheckedRun::anyPacketMadeOf(const Reading &reading, std::uint32_t near, Visit visit) {
  const std::uint32_t b = order_.blockOf(reading.by), o = opOf(reading.by);
  const ir::ThreadBlock &code = index_.ops(b);
  const ir::Op &op = code.ops[o];
  if (!ir::mayBePackets(ir::info(op.kind).destinations))
    return;
  const std::uint32_t operand = reading.by.ref - op.firstChunk;
  const ir::MemoryPiece source =
      ir::pieceOf(index_.program, index_.rankOf(b), op, operand, code.chunks[reading.by.ref]);
  if (source.reach != ir::Reach::Own)
    return;
  const auto firstOf = [&](const ir::Chunk &chunk, std::uint32_t rank, ir::BufferKind buffer, bool packet) {
    return memory_.base(rank, buffer, packet) +
           geometry_.span(chunk, op, nullptr, buffer == ir::BufferKind::Scratch).first;
  };
  const std::uint64_t element =
      reading.cell - firstOf(code.chunks[reading.by.ref], source.rank, source.buffer, source.isPacket());
  const std::vector<PacketDestination> &destinations = packetDestinations(b, o);
  const auto visits = [&](const PacketDestination &to) {
    return (!isPairwise(op) || to.operand == operand) &&
           visit(static_cast<CellId>(firstOf(code.dsts(op)[to.operand], to.rank, ir::BufferKind::Scratch, true) +
                                     element));
  };
  const auto here = std::ranges::equal_range(destinations, index_.rankOf(near), {}, &PacketDestination::rank);
  std::any_of(here.begin(), here.end(), visits) || std::any_of(destinations.begin(), here.begin(), visits) ||
      std::any_of(here.end(), destinations.end(), visits);
}

/// True if `taker` has taken the packet in `slot` before `write`.
bool CheckedRun::takenBefore(CellId slot, const Epoch &taker, const PacketWrite &write) const {
  if (order_.before(taker, false, write.view, write.relation))
    return true;
  if (control_.launch() != 0 || write.element == none ||
      write.by.isPut()) // a write takes packets of its own launch only
    return false;
  return std::ranges::any_of(data_.step().sources, [&](const Operand &source) {
    if (!source.packet || write.element >= source.count)
      return false;
    const CellId mine = source.first + write.element;
    if (mine == slot)
      return taker.agent == write.by.agent && taker.phase == write.by.phase && taker.ref == source.ref;
    return madeOf(mine, slot, taker);
  });
}

/// True if `taker` took the packet in `slot`, and made the packet in `made` of it. It did so in the same operation, in
/// a later operation of the same thread, or after a barrier of its block.
bool CheckedRun::madeOf(CellId made, CellId slot, const Epoch &taker) const {
  const Epoch &maker = memory_[made].write;
  if (maker.agent != taker.agent || maker.phase < taker.phase || maker.isPut())
    return false;
  const ir::ThreadBlock &code = index_.ops(maker.agent);
  const std::uint32_t took = opOf(taker), sent = opOf(maker);
  const ir::Op &op = code.ops[sent];
  if (took == sent ? isPairwise(op) && maker.ref - op.numSrcs != taker.ref
                   : !values_.contains(memory_[made].value, memory_[slot].value))
    return false;
  if (maker.phase > taker.phase)
    return true;
  if (took != sent && !elements_.sameShares(maker.agent, {took, taker.ref}, {sent, maker.ref}))
    return false;
  const auto elementOf = [&](CellId cell, const Epoch &record) {
    return cell - (memory_.base(memory_.locate(cell).rank, ir::BufferKind::Scratch, true) +
                   geometry_.span(code.chunks[record.ref], code.ops[opOf(record)], nullptr, true).first);
  };
  return elementOf(made, maker) == elementOf(slot, taker);
}

/// True if `view` knows of a read that took the packet. Then the packet has arrived.
bool CheckedRun::knownTaken(const Cell &cell, const View &view) const {
  bool found = false;
  memory_.forReads(cell, [&](const Epoch &reader) {
    found =
        found || (!reader.isUser() && order_.known(order_.blockOf(reader), reader.phase, view, Relation::Visibility) &&
                  ir::awaitsPackets(index_.ops(order_.blockOf(reader)).ops[opOf(reader)].kind));
  });
  return found;
}

const std::vector<CheckedRun::PacketDestination> &CheckedRun::packetDestinations(std::uint32_t b, std::uint32_t o) {
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
