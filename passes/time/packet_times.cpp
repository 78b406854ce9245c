#include "passes/time/packet_times.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

bool PacketTimes::reads(const ir::Op &op) {
  return ir::awaitsPackets(op.kind);
}

template <class Visit>
void PacketTimes::forCells(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, bool reads,
                           Visit &&visit) {
  const ir::Rank &self = program_.ranks[rank];
  for (std::uint32_t i = 0; i < op.numChunks(); ++i) {
    const ir::OperandRole role = ir::roleOf(op, i);
    if (role.form != ir::DataForm::Packet || (role.access == ir::Access::Read) != reads)
      continue;
    const ir::Chunk &chunk = block.chunks[op.firstChunk + i];
    const auto visitAll = [&](std::uint32_t owner, ir::BufferKind buffer) {
      std::vector<Cell> &cells = cells_[owner][static_cast<std::size_t>(buffer)];
      if (cells.size() < chunk.index + chunk.size)
        cells.resize(chunk.index + chunk.size);
      for (std::uint32_t c = chunk.index; c < chunk.index + chunk.size; ++c)
        visit(cells[c]);
    };
    if (ir::isLocal(chunk.space))
      visitAll(rank, static_cast<ir::BufferKind>(chunk.space));
    else if (chunk.space == ir::ChunkSpace::Remote)
      visitAll(self.remoteBuffers[chunk.id].rank, self.remoteBuffers[chunk.id].buffer);
    else
      for (const std::uint32_t owner : self.switchChannels[chunk.id].ranks)
        visitAll(owner, self.switchChannels[chunk.id].buffer);
  }
}

PacketTimes::PacketTimes(const ir::Program &program) : program_(program), cells_(program.ranks.size()) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (const ir::ThreadBlock &block : program.ranks[r].blocks) {
      std::size_t bodyEnd = 0;
      for (std::size_t i = 0; i < block.ops.size(); ++i) {
        const ir::Op &op = block.ops[i];
        if (op.kind == ir::OpKind::Pipeline)
          bodyEnd = i + 1 + op.bodySize;
        if (ir::isPacketOp(op.kind))
          forCells(r, block, op, false, [&](Cell &cell) {
            ++cell.writers;
            cell.inPipeline |= i < bodyEnd;
          });
      }
    }
}

std::uint32_t PacketTimes::enter(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                 std::uint64_t iteration, std::uint32_t span) {
  const auto number = static_cast<std::uint32_t>(readers_.size());
  readers_.push_back({.span = span});
  Reader &reader = readers_.back();
  forCells(rank, block, op, true, [&](Cell &cell) {
    if (cell.writers == 0)
      return; // the verifier's business
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
                        Time at, std::vector<std::uint32_t> &told) {
  forCells(rank, block, op, false, [&](Cell &cell) {
    Iteration &state = cell.at(iteration);
    state.first = std::max(state.first, at);
    if (++state.begun != cell.writers)
      return;
    for (const std::uint32_t number : state.readers) {
      Reader &reader = readers_[number];
      reader.first = std::max(reader.first, state.first);
      if (--reader.notBegun == 0)
        told.push_back(number);
    }
  });
}

void PacketTimes::write(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op, std::uint64_t iteration,
                        Time at, std::uint32_t span, std::vector<std::uint32_t> &told) {
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
        told.push_back(number);
    }
    state.readers.clear();
  });
}

} // namespace mscclc::passes::time
