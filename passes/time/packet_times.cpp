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
      for (std::uint32_t c = chunk.index; c < chunk.index + chunk.size; ++c)
        visit(std::uint64_t{owner} << 40 | std::uint64_t(buffer) << 32 | c);
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

PacketTimes::PacketTimes(const ir::Program &program) : program_(program) {
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (const ir::ThreadBlock &block : program.ranks[r].blocks) {
      std::size_t bodyEnd = 0;
      for (std::size_t i = 0; i < block.ops.size(); ++i) {
        const ir::Op &op = block.ops[i];
        if (op.kind == ir::OpKind::Pipeline)
          bodyEnd = i + 1 + op.bodySize;
        forCells(r, block, op, false, [&](std::uint64_t key) {
          Cell &cell = cells_[key];
          ++cell.writers;
          cell.inPipeline |= i < bodyEnd;
        });
      }
    }
}

std::vector<std::uint32_t> PacketTimes::begun(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                              std::uint64_t iteration, Time at) {
  std::vector<std::uint32_t> told;
  forCells(rank, block, op, false, [&](std::uint64_t key) {
    Cell &cell = cells_[key];
    Iteration &state = cell.iterations[iteration];
    ++state.begun;
    state.first = std::max(state.first, at);
    if (state.begun == cell.writers)
      told.insert(told.end(), state.readers.begin(), state.readers.end());
  });
  return told;
}

std::vector<std::uint32_t> PacketTimes::written(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                                std::uint64_t iteration, Time at, std::uint32_t span) {
  std::vector<std::uint32_t> told;
  forCells(rank, block, op, false, [&](std::uint64_t key) {
    Cell &cell = cells_[key];
    Iteration &state = cell.iterations[iteration];
    ++state.written;
    if (at >= state.last) {
      state.last = at;
      state.span = span;
    }
    if (state.written == cell.writers) {
      told.insert(told.end(), state.readers.begin(), state.readers.end());
      state.readers.clear();
    }
  });
  return told;
}

PacketTimes::Arrival PacketTimes::arrival(std::uint32_t rank, const ir::ThreadBlock &block, const ir::Op &op,
                                          std::uint64_t iteration, std::uint32_t reader) {
  Arrival arrival;
  forCells(rank, block, op, true, [&](std::uint64_t key) {
    const auto at = cells_.find(key);
    if (at == cells_.end())
      return; // written by nobody: the verifier's business
    Cell &cell = at->second;
    Iteration &state = cell.iterations[cell.inPipeline ? iteration : 0];
    arrival.begun &= state.begun == cell.writers;
    arrival.complete &= state.written == cell.writers;
    arrival.first = std::max(arrival.first, state.first);
    if (state.last >= arrival.last) {
      arrival.last = state.last;
      arrival.span = state.span;
    }
    if (state.written != cell.writers && std::find(state.readers.begin(), state.readers.end(), reader) == state.readers.end())
      state.readers.push_back(reader);
  });
  return arrival;
}

} // namespace mscclc::passes::time
