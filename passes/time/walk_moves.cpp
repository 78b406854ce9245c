// The part of Walk for data that blocks move themselves.
#include "passes/time/walk.h"

#include "ir/op_semantics.h"

#include <algorithm>
#include <utility>

namespace mscclc::passes::time {

namespace {
bool writesRemotely(const ir::ThreadBlock &code, const ir::Op &op) {
  const auto dsts = code.dsts(op);
  return std::any_of(dsts.begin(), dsts.end(), [](const ir::Chunk &chunk) { return !ir::isLocal(chunk.space); });
}
} // namespace

void Walk::move(Block &block, const ir::Op &op) {
  const std::uint32_t span = begin(block, block.issue);
  block.state = Block::Moving;
  block.cost = costs_.data(rankOf(block), code(block), op, header(block), block.cursor.iteration(), bytes_);
  const DataCost &cost = block.cost;
  Span &self = timeline_.spans[span];
  self.bytes = cost.bytes;
  if (cost.bytes == 0) {
    advance(block);
    at(now_, EventKind::Step, block.number);
    return;
  }
  self.moving = block.issue.at + cost.latency;
  if (PacketTimes::reads(op)) {
    const std::uint32_t number = packets_.enter(rankOf(block), code(block), op, block.cursor.iteration(), span);
    pending_[span] = number;
    const PacketTimes::Reader &reader = packets_.reader(number);
    if (!reader.begun())
      return; // packetsBegin() continues
    self.moving = std::max(block.issue.at, reader.first) + cost.latency;
  }
  at(self.moving, EventKind::Flow, span);
}

/// Begins the flow of a block's or a proxy's data.
void Walk::flow(std::uint32_t number) {
  Span &span = timeline_.spans[number];
  const Span &writer = span.proxy ? timeline_.spans[requests_[pending_[number]].asker.span] : span;
  const DataCost &cost = span.proxy ? requests_[pending_[number]].cost : blockOf(span).cost;
  const ir::ThreadBlock &code = index_.program.ranks[writer.rank].blocks[writer.block];
  const ir::Op &op = code.ops[writer.op];
  if (PacketTimes::writes(op))
    packetsBegin(writer, op,
                 now_ + (span.proxy                 ? cost.latency
                         : writesRemotely(code, op) ? Costs::us(costs_.parameters().storeVisible)
                                                    : 0));
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
  flowed_[number] = true;
  const PacketTimes::Reader &reader = packets_.reader(pending_[number]);
  if (reader.complete())
    finishRead(number, reader);
}

/// Ends span `number` at `time`, and lets its block continue then.
void Walk::finishMove(std::uint32_t number, Time time) {
  const Span span = timeline_.spans[number];
  Block &block = blockOf(span);
  const ir::ThreadBlock &code = this->code(block);
  const ir::Op &op = code.ops[span.op];
  end(number, time);
  const bool remote = writesRemotely(code, op);
  if (remote) {
    if (std::exchange(block.fenced, false))
      block.unfenced = {};
    costs_.addStores(block.unfenced, rankOf(block), code, op);
    block.stored = std::max(block.stored, time);
  }
  block.issue = {time, {number}};
  advance(block);
  at(time, EventKind::Step, block.number);
  if (PacketTimes::writes(op))
    packetsWritten(span, op, time + (remote ? Costs::us(costs_.parameters().storeVisible) : 0), number);
}

/// Ends a span that reads packets, when its last packet arrives. Requires: it has read everything else.
void Walk::finishRead(std::uint32_t number, const PacketTimes::Reader &reader) {
  tell(reader.writer, number);
  if (reader.last > now_)
    timeline_.spans[number].awaited = {reader.writer};
  finishMove(number, std::max(now_, reader.last));
}

void Walk::packetsBegin(const Span &writer, const ir::Op &op, Time seen) {
  std::vector<std::uint32_t> ready;
  packets_.begin(writer.rank, index_.program.ranks[writer.rank].blocks[writer.block], op, writer.iteration, seen,
                 ready);
  for (const std::uint32_t number : ready) {
    const PacketTimes::Reader &reader = packets_.reader(number);
    Span &span = timeline_.spans[reader.span];
    // A thread polls one packet after the other, so its data cannot flow earlier.
    span.moving = std::max(now_, std::max(span.start, reader.first) + (span.moving - span.start));
    at(span.moving, EventKind::Flow, reader.span);
  }
}

void Walk::packetsWritten(const Span &writer, const ir::Op &op, Time seen, std::uint32_t span) {
  std::vector<std::uint32_t> ready;
  packets_.write(writer.rank, index_.program.ranks[writer.rank].blocks[writer.block], op, writer.iteration, seen, span,
                 ready);
  for (const std::uint32_t number : ready)
    if (const PacketTimes::Reader reader = packets_.reader(number); flowed_[reader.span])
      finishRead(reader.span, reader);
}

} // namespace mscclc::passes::time
