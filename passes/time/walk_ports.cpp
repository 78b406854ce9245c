// What blocks leave to proxies: puts and signals through ports.
//
// A rank has one proxy, which takes requests in the order in which they were pushed. A put goes on without it, one
// after the other on each connection; a signal follows the puts before it; a flush holds the proxy until they have
// arrived.
#include "passes/time/walk.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

void Walk::push(Block &block, const ir::Op &op) {
  const MachineParameters &p = costs_.parameters();
  const std::uint32_t span = begin(block, block.issue.at, block.issue.span);
  const bool signals = ir::putsAndSignals(op.kind), flushes = ir::flushes(op.kind);
  if (block.threads.size() < op.numIds)
    block.threads.resize(op.numIds);
  ++block.open;
  pending_[span] = op.numIds;
  for (std::uint32_t i = 0; i < op.numIds; ++i) {
    Moment from = block.issue;
    from.raise(block.threads[i]);
    const Time pushed = from.at + Costs::us(p.portPush);
    const std::uint32_t channel = code(block).idsOf(op)[i];
    // Now, as the block may be past its pipeline when the proxy comes to it.
    DataCost cost = costs_.put(rankOf(block), code(block), op, i, header(block), block.cursor.iteration(), bytes_);
    ask(rankOf(block), {span, channel, i, i, signals, flushes, pushed, std::move(cost)});
    if (!flushes)
      answer({span, i, from.at}, {pushed, Span::none});
  }
  if (op.numIds == 0)
    settle(span);
}

void Walk::ask(std::uint32_t rank, const Request &request) {
  Proxy &proxy = proxies_[rank];
  proxy.queue.push_back(request);
  if (proxy.scheduled)
    return;
  proxy.scheduled = true;
  at(std::max({now_, proxy.free, request.pushed + Costs::us(costs_.parameters().proxy)}), EventKind::Take, rank);
}

void Walk::takeRequest(std::uint32_t rank) {
  Proxy &proxy = proxies_[rank];
  const Request request = proxy.queue.front();
  proxy.queue.pop_front();
  const Span &asked = timeline_.spans[request.span];
  Span span;
  span.rank = rank;
  span.block = request.channel;
  span.op = asked.op;
  span.iteration = asked.iteration;
  span.proxy = true;
  span.bound = Cause::Proxy;
  span.start = span.moving = span.end = now_;
  span.before = request.span;
  span.bytes = request.cost.bytes;
  const auto number = static_cast<std::uint32_t>(timeline_.spans.size());
  timeline_.spans.push_back(span);
  pending_.push_back(static_cast<std::uint32_t>(works_.size()));
  flowed_.push_back(false);
  works_.push_back({request, rank});
  proxy.free = now_ + Costs::us(costs_.parameters().proxyWork);
  const std::uint32_t link = index_.channel(ir::ChannelType::Port, rank, request.channel);
  connections_[link].queue.push_back(number);
  if (!connections_[link].busy) {
    connections_[link].busy = true;
    at(now_, EventKind::Transfer, link);
  }
  proxy.scheduled = false;
  if (request.flush) // the proxy waits; transferred() lets it go on
    proxy.scheduled = true;
  else if (!proxy.queue.empty()) {
    proxy.scheduled = true;
    at(std::max(proxy.free, proxy.queue.front().pushed + Costs::us(costs_.parameters().proxy)), EventKind::Take, rank);
  }
}

/// The connection's next transfer begins.
void Walk::transfer(std::uint32_t link) {
  Connection &connection = connections_[link];
  if (connection.queue.empty()) {
    connection.busy = false;
    return;
  }
  const std::uint32_t number = connection.queue.front();
  connection.queue.pop_front();
  timeline_.spans[number].moving = now_;
  if (timeline_.spans[number].bytes != 0)
    return flow(number);
  transferred(number, now_);
}

/// A span's data has left; what follows it on the connection may begin.
void Walk::transferred(std::uint32_t number, Time at) {
  const ProxyWork work = works_[pending_[number]];
  const Span asked = timeline_.spans[work.request.span];
  const ir::ThreadBlock &code = index_.program.ranks[asked.rank].blocks[asked.block];
  const ir::Op &op = code.ops[asked.op];
  const std::uint32_t link = index_.channel(ir::ChannelType::Port, work.rank, work.request.channel);
  const std::uint32_t peer = index_.program.ranks[work.rank].portPeers[work.request.channel];
  Connection &connection = connections_[link];
  connection.arrived.raise({std::max(connection.arrived.at, at + costs_.portLatency(work.rank, peer)), number});
  const Time arrived = connection.arrived.at;
  timeline_.spans[number].end = arrived;
  if (op.kind == ir::OpKind::PutPacket && timeline_.spans[number].bytes != 0)
    packetsWritten(asked, op, arrived, number);
  if (work.request.signal)
    post(index_.queue(work.rank, op, work.request.channel), {arrived, number});
  if (work.request.flush) {
    const Time seen = arrived + Costs::us(costs_.parameters().hostPoll);
    answer({work.request.span, work.request.position, asked.start}, {seen, number});
    Proxy &proxy = proxies_[work.rank];
    proxy.free = std::max(proxy.free, arrived);
    proxy.scheduled = !proxy.queue.empty();
    if (proxy.scheduled)
      this->at(std::max({now_, proxy.free, proxy.queue.front().pushed + Costs::us(costs_.parameters().proxy)}),
               EventKind::Take, work.rank);
  }
  this->at(now_, EventKind::Transfer, link);
}

} // namespace mscclc::passes::time
