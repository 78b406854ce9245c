#include "passes/time/packet_times.h"

#include "ir/cursor.h"
#include "ir/op_memory.h"

#include <algorithm>

namespace mscclc::passes::time {

bool PacketTimes::reads(const ir::Op &op) {
  return ir::awaitsPackets(op.kind);
}

bool PacketTimes::writes(const ir::Op &op) {
  return ir::isPacketOp(op.kind) && op.kind != ir::OpKind::UnpackPacket && op.kind != ir::OpKind::ReducePacket;
}

namespace {
/// True if `written` is the place from which the operation reads its packets. A multicast also writes to the place on
/// its own rank. It leaves the packets there unchanged, so nobody has to wait for this write.
bool isSource(const ir::Program &program, std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
              const ir::MemoryPiece &written) {
  if (written.reach != ir::Reach::SwitchChannel || written.rank != rank)
    return false;
  const auto sources = block.srcs(op);
  return std::ranges::any_of(sources, [&](const ir::Chunk &source) {
    return ir::isLocal(source.space) && ir::bufferOf(program.ranks[rank], source) == written.buffer &&
           source.index == written.index && source.size == written.size;
  });
}
} // namespace

template <class Visit>
void PacketTimes::forCells(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, bool reads,
                           Visit &&visit) {
  ir::forEachMemory(program_, rank, block, op, [&](const ir::MemoryPiece &piece) {
    if (!piece.isPacket() || (piece.access == ir::Access::Read) != reads)
      return;
    if (!reads && isSource(program_, rank, block, op, piece))
      return;
    std::vector<Cell> &cells = cells_[folding_.ranks ? 0 : piece.rank][static_cast<std::size_t>(piece.buffer)];
    if (cells.size() < piece.index + piece.size)
      cells.resize(piece.index + piece.size);
    for (std::uint32_t c = piece.index; c < piece.index + piece.size; ++c)
      visit(cells[c]);
  });
}

PacketTimes::PacketTimes(const ir::Program &program, Folding folding)
    : program_(program), folding_(folding), cells_(program.ranks.size()) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::size_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      if (!folding.walks(r, b))
        continue;
      const ir::ThreadBlock &block = program.ranks[r].blocks[b];
      ir::forEachOp(block, [&](std::uint32_t o, std::uint32_t header) {
        if (ir::isPacketOp(block.ops[o].kind))
          forCells(r, block, block.ops[o], false, [&](Cell &cell) {
            ++cell.writers;
            cell.inPipeline |= header != ir::none;
          });
      });
    }
}

std::uint32_t PacketTimes::enter(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                 std::uint64_t iteration, std::uint32_t span) {
  const auto number = static_cast<std::uint32_t>(readers_.size());
  readers_.push_back({.span = span});
  Reader &reader = readers_.back();
  forCells(rank, block, op, true, [&](Cell &cell) {
    if (cell.writers == 0)
      return; // no operation writes this cell; the verifier reports that
    Iteration &state = cell.at(cell.inPipeline ? iteration : 0);
    reader.notBegun += state.begun != cell.writers;
    reader.notWritten += state.written != cell.writers;
    reader.first = std::max(reader.first, state.first);
    if (state.last >= reader.last) {
      reader.last = state.last;
      reader.writer = state.writer;
    }
    if (state.written != cell.writers)
      state.readers.push_back(number);
  });
  return number;
}

void PacketTimes::begin(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration,
                        Time at, std::vector<std::uint32_t> &ready) {
  forCells(rank, block, op, false, [&](Cell &cell) {
    Iteration &state = cell.at(iteration);
    state.first = std::max(state.first, at);
    if (++state.begun != cell.writers)
      return;
    for (const std::uint32_t number : state.readers) {
      Reader &reader = readers_[number];
      reader.first = std::max(reader.first, state.first);
      if (--reader.notBegun == 0)
        ready.push_back(number);
    }
  });
}

void PacketTimes::write(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration,
                        Time at, std::uint32_t span, std::vector<std::uint32_t> &ready) {
  forCells(rank, block, op, false, [&](Cell &cell) {
    Iteration &state = cell.at(iteration);
    if (at >= state.last) {
      state.last = at;
      state.writer = span;
    }
    if (++state.written != cell.writers)
      return;
    for (const std::uint32_t number : state.readers) {
      Reader &reader = readers_[number];
      if (state.last >= reader.last) {
        reader.last = state.last;
        reader.writer = state.writer;
      }
      if (--reader.notWritten == 0)
        ready.push_back(number);
    }
    state.readers.clear();
  });
}

} // namespace mscclc::passes::time
