#include "passes/analysis/dependences.h"

#include "ir/channel_pairing.h"
#include "ir/containers.h"
#include "ir/op_memory.h"
#include "ir/structure.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mscclc::passes {

namespace {

/// A counter, or a cell of packets, with the operations that send to it and those that take from it, in order.
struct Meeting {
  std::vector<ir::OpRef> from, to;
};

class Finder {
public:
  explicit Finder(const ir::Program &program) : program_(program), pairing_(program) {}
  std::vector<Dependence> run();

private:
  void visit(const ir::OpRef &at, const ir::ThreadBlock &block, const ir::Op &op);
  void visitPackets(const ir::OpRef &at, const ir::ThreadBlock &block, const ir::Op &op);
  void add(DependenceKind kind, const ir::OpRef &from, const ir::OpRef &to) { found_.push_back({kind, from, to}); }

  const ir::Program &program_;
  const ir::ChannelPairing pairing_;
  std::map<std::tuple<ir::ChannelType, ir::ChannelEnd>, Meeting> signals_; ///< by the waiting end of the channel
  std::map<std::pair<std::uint32_t, std::uint32_t>, Meeting> semaphores_;  ///< rank, semaphore
  /// (rank, barrier) → block → its arrivals.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::map<std::uint32_t, std::vector<ir::OpRef>>> barriers_;
  std::map<std::tuple<std::uint32_t, ir::BufferKind, std::uint32_t>, Meeting> packets_; ///< rank, buffer, packet chunk
  std::vector<Dependence> found_;
};

void Finder::visit(const ir::OpRef &at, const ir::ThreadBlock &block, const ir::Op &op) {
  if (op.kind == ir::OpKind::Barrier)
    barriers_[{at.rank, op.imm}][at.block].push_back(at);
  else if (ir::isPacketOp(op.kind))
    visitPackets(at, block, op);
  for (const std::uint32_t id : block.idsOf(op))
    if (op.kind == ir::OpKind::SemRelease)
      semaphores_[{at.rank, id}].from.push_back(at);
    else if (op.kind == ir::OpKind::SemAcquire)
      semaphores_[{at.rank, id}].to.push_back(at);
    else if (ir::isWait(op.kind))
      signals_[{op.channelType, {at.rank, id}}].to.push_back(at);
    else if (ir::sends(op.kind))
      if (const auto peer = pairing_.peer(op.channelType, {at.rank, id}))
        signals_[{op.channelType, *peer}].from.push_back(at);
}

void Finder::visitPackets(const ir::OpRef &at, const ir::ThreadBlock &block, const ir::Op &op) {
  ir::forEachMemory(program_, at.rank, block, op, [&](const ir::MemoryPiece &piece) {
    if (!piece.isPacket())
      return;
    for (std::uint32_t c = piece.index; c < piece.index + piece.size; ++c) {
      Meeting &cell = packets_[{piece.rank, piece.buffer, c}];
      (piece.access == ir::Access::Write ? cell.from : cell.to).push_back(at);
    }
  });
}

std::vector<Dependence> Finder::run() {
  for (std::uint32_t rank = 0; rank < program_.ranks.size(); ++rank)
    for (std::uint32_t b = 0; b < program_.ranks[rank].blocks.size(); ++b) {
      const ir::ThreadBlock &block = program_.ranks[rank].blocks[b];
      for (std::uint32_t i = 0; i < block.ops.size(); ++i)
        visit({rank, b, i}, block, block.ops[i]);
    }
  for (const auto &[end, counter] : signals_)
    for (std::size_t i = 0; i < std::min(counter.from.size(), counter.to.size()); ++i)
      add(DependenceKind::Signal, counter.from[i], counter.to[i]);
  for (const auto &[semaphore, counter] : semaphores_) {
    // The first acquires take the initial value of the semaphore.
    const std::size_t initial = program_.ranks[semaphore.first].semaphores[semaphore.second].initialValue;
    for (std::size_t i = 0; i < counter.from.size() && initial + i < counter.to.size(); ++i)
      add(DependenceKind::Semaphore, counter.from[i], counter.to[initial + i]);
  }
  for (const auto &[barrier, blocks] : barriers_)
    for (auto block = blocks.begin(), next = std::next(block); next != blocks.end(); block = next++)
      for (std::size_t i = 0; i < std::min(block->second.size(), next->second.size()); ++i)
        add(DependenceKind::Barrier, block->second[i], next->second[i]);
  for (const auto &[cell, meeting] : packets_)
    for (const ir::OpRef &reader : meeting.to)
      for (const ir::OpRef &writer : meeting.from)
        if (writer != reader)
          add(DependenceKind::Packet, writer, reader);
  ir::sortUnique(found_);
  return std::move(found_);
}

} // namespace

std::vector<Dependence> dependences(const ir::Program &program) {
  ir::requireBlocks(program);
  return Finder(program).run();
}

} // namespace mscclc::passes
