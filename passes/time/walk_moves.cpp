// Data that blocks move themselves.
#include "passes/time/walk.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

namespace {
bool writesPackets(const ir::Op &op) {
  return ir::isPacketOp(op.kind) && op.kind != ir::OpKind::UnpackPacket && op.kind != ir::OpKind::ReducePacket;
}
bool writesRemotely(const ir::ThreadBlock &code, const ir::Op &op) {
  const auto dsts = code.dsts(op);
  return std::any_of(dsts.begin(), dsts.end(), [](const ir::Chunk &chunk) { return !ir::isLocal(chunk.space); });
}
} // namespace

void Walk::move(std::uint32_t number, Block &block, const ir::Op &op) {
  const std::uint32_t span = begin(block, block.issue.at, block.issue.span);
  block.state = Block::Moving;
  const DataCost cost = costs_.data(block.rank, code(block), op, header(block), block.iteration, bytes_);
  Span &self = timeline_.spans[span];
  self.bytes = cost.bytes;
  if (cost.bytes == 0) {
    advance(block);
    at(now_, EventKind::Step, number);
    return;
  }
  self.moving = block.issue.at + cost.latency;
  if (PacketTimes::reads(op)) {
    const PacketTimes::Arrival arrival = packets_.arrival(block.rank, code(block), op, block.iteration, span);
    if (!arrival.begun)
      return; // packetsCame() goes on
    self.moving = std::max(block.issue.at, arrival.first) + cost.latency;
  }
  pending_[span] = 1; // its flow is on its way
  at(self.moving, EventKind::Flow, span);
}

/// Data of a block begins to flow, or that of a proxy.
void Walk::flow(std::uint32_t number) {
  Span &span = timeline_.spans[number];
  if (span.proxy) {
    const ProxyWork &work = works_[pending_[number]];
    const Span &asked = timeline_.spans[work.request.span];
    const ir::ThreadBlock &code = program_.ranks[asked.rank].blocks[asked.block];
    const ir::Op &op = code.ops[asked.op];
    const DataCost cost = costs_.put(asked.rank, code, op, work.request.pair, nullptr, 0, bytes_);
    if (op.kind == ir::OpKind::PutPacket)
      packetsCame(packets_.begun(asked.rank, code, op, asked.iteration, now_ + cost.latency), now_);
    network_.start(now_, options_.free ? 0 : static_cast<double>(span.bytes), cost.cap, cost.uses, number);
    return;
  }
  Block &block = blockOf(span);
  const ir::ThreadBlock &code = this->code(block);
  const ir::Op &op = code.ops[span.op];
  const DataCost cost = costs_.data(block.rank, code, op, header(block), span.iteration, bytes_);
  if (writesPackets(op)) {
    const Time seen = writesRemotely(code, op) ? Costs::us(costs_.parameters().storeVisible) : 0;
    packetsCame(packets_.begun(block.rank, code, op, span.iteration, now_ + seen), now_);
  }
  network_.start(now_, options_.free ? 0 : static_cast<double>(cost.bytes), cost.cap, cost.uses, number);
}

void Walk::flowed(std::uint32_t number, Time now, FluidNetwork::Resource bound) {
  Span &span = timeline_.spans[number];
  span.bound = boundOf(bound);
  if (span.proxy)
    return transferred(number, now);
  Block &block = blockOf(span);
  const ir::Op &op = code(block).ops[span.op];
  if (!PacketTimes::reads(op))
    return finishMove(number, now);
  readersFlowed_[number] = now;
  const PacketTimes::Arrival arrival = packets_.arrival(block.rank, code(block), op, span.iteration, number);
  if (!arrival.complete)
    return; // packetsCame() goes on
  if (arrival.last > now)
    span.awaited = arrival.span;
  finishMove(number, std::max(now, arrival.last));
}

/// The block goes on at `at`.
void Walk::finishMove(std::uint32_t number, Time time) {
  const Span span = timeline_.spans[number];
  Block &block = blockOf(span);
  const ir::ThreadBlock &code = this->code(block);
  const ir::Op &op = code.ops[span.op];
  end(number, time);
  const bool remote = writesRemotely(code, op);
  if (remote)
    block.stores.raise({time, number});
  block.issue = {time, number};
  advance(block);
  at(time, EventKind::Step, firstBlock_[span.rank] + span.block);
  if (writesPackets(op))
    packetsCame(packets_.written(span.rank, code, op, span.iteration,
                                 time + (remote ? Costs::us(costs_.parameters().storeVisible) : 0), number),
                now_);
}

/// Readers that wait for packets look again.
void Walk::packetsCame(const std::vector<std::uint32_t> &readers, Time now) {
  for (const std::uint32_t number : readers) {
    Span &span = timeline_.spans[number];
    Block &block = blockOf(span);
    const ir::Op &op = code(block).ops[span.op];
    if (block.state != Block::Moving || block.pc != span.op || span.end > span.start)
      continue; // it has gone on, told by another cell
    const PacketTimes::Arrival arrival = packets_.arrival(block.rank, code(block), op, span.iteration, number);
    if (readersFlowed_[number] >= 0) {
      if (!arrival.complete)
        continue;
      if (arrival.last > readersFlowed_[number])
        span.awaited = arrival.span;
      finishMove(number, std::max({now, readersFlowed_[number], arrival.last}));
    } else if (arrival.begun && pending_[number] == 0) {
      pending_[number] = 1;
      // A thread polls one packet after the other, so loads are not under way before.
      span.moving = std::max(now, std::max(span.start, arrival.first) + (span.moving - span.start));
      at(span.moving, EventKind::Flow, number);
    }
  }
}

} // namespace mscclc::passes::time
