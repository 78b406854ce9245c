// The part of Walk for proxies: puts and signals through ports.
//
// A rank has one proxy, which takes requests in the order in which they were pushed. A put continues without the proxy.
// On each connection, puts follow one another, and a signal follows the puts before it. A flush holds the proxy until
// the puts before it have arrived.
#include "passes/time/walk.h"

#include "ir/op_semantics.h"

#include <algorithm>

namespace mscclc::passes::time {

void Walk::push(const Act &act, const ir::Op &op, Time from) {
  const Block &block = blockOf(timeline_.spans[act.self.span]);
  const bool flushes = ir::flushes(op.kind);
  const Time pushed = from + Costs::us(costs_.parameters().portPush);
  ask({.asker = act.self,
       .rank = rankOf(block),
       .channel = code(block).idsOf(op)[act.self.thread],
       .signal = ir::putsAndSignals(op.kind),
       .flush = flushes,
       .pushed = pushed,
       .cost = act.put});
  if (!flushes)
    answer(act.self, {pushed, {}});
}

/// Sends a request to the proxy at the time of its push, which may be in the future. So requests reach the proxy in the
/// order of time.
void Walk::ask(Request request) {
  at(request.pushed, EventKind::Ask, static_cast<std::uint32_t>(requests_.size()));
  requests_.push_back(std::move(request));
}

void Walk::asked(std::uint32_t request) {
  const std::uint32_t rank = requests_[request].rank;
  Proxy &proxy = proxies_[rank];
  proxy.queue.push(request);
  if (proxy.scheduled)
    return;
  proxy.scheduled = true;
  at(std::max(proxy.free, now_ + Costs::us(costs_.parameters().proxy)), EventKind::Take, rank);
}

void Walk::takeRequest(std::uint32_t rank) {
  Proxy &proxy = proxies_[rank];
  const std::uint32_t taken = pop(proxy.queue);
  const Request &request = requests_[taken];
  const Span &asker = timeline_.spans[request.asker.span];
  Span span;
  span.rank = rank;
  span.block = request.channel;
  span.op = asker.op;
  span.iteration = asker.iteration;
  span.proxy = true;
  span.bound = Cause::Proxy;
  span.start = span.moving = span.end = now_;
  span.before = request.asker;
  span.bytes = request.cost.bytes;
  const auto number = static_cast<std::uint32_t>(timeline_.spans.size());
  timeline_.spans.push_back(span);
  pending_.push_back(taken);
  flowed_.push_back(false);
  proxy.free = now_ + Costs::us(costs_.parameters().proxyWork);
  const std::uint32_t link = index_.channel(ir::ChannelType::Port, rank, request.channel);
  Connection &connection = connections_[link];
  connection.queue.push(number);
  if (!connection.busy) {
    connection.busy = true;
    at(now_, EventKind::Transfer, link);
  }
  if (!request.flush) // otherwise the proxy waits until transferred() lets it continue
    takeNext(rank);
}

/// Lets the proxy take its next request as soon as it is free and has noticed the request.
void Walk::takeNext(std::uint32_t rank) {
  Proxy &proxy = proxies_[rank];
  proxy.scheduled = !proxy.queue.empty();
  if (!proxy.scheduled)
    return;
  const Time noticed = requests_[proxy.queue.front()].pushed + Costs::us(costs_.parameters().proxy);
  at(std::max({now_, proxy.free, noticed}), EventKind::Take, rank);
}

/// Begins the connection's next transfer.
void Walk::transfer(std::uint32_t link) {
  Connection &connection = connections_[link];
  if (connection.queue.empty()) {
    connection.busy = false;
    return;
  }
  const std::uint32_t number = pop(connection.queue);
  timeline_.spans[number].moving = now_;
  if (timeline_.spans[number].bytes != 0)
    return flow(number);
  transferred(number, now_);
}

/// Ends the transfer of a span's data, and lets the connection begin its next transfer.
void Walk::transferred(std::uint32_t number, Time at) {
  const Request &request = requests_[pending_[number]];
  const Span asker = timeline_.spans[request.asker.span];
  const std::uint32_t rank = request.rank;
  const ir::Op &op = index_.program.ranks[rank].blocks[asker.block].ops[asker.op];
  const std::uint32_t link = index_.channel(ir::ChannelType::Port, rank, request.channel);
  const std::uint32_t peer = index_.program.ranks[rank].portPeers[request.channel];
  Connection &connection = connections_[link];
  const bool sends = timeline_.spans[number].bytes != 0 || request.signal;
  const Time latency = sends ? costs_.portLatency(rank, peer) : costs_.flushLatency(rank, peer);
  connection.arrived.raise({std::max(connection.arrived.at, at + latency), {number}});
  const Time arrived = connection.arrived.at;
  timeline_.spans[number].end = arrived;
  if (PacketTimes::writes(op) && timeline_.spans[number].bytes != 0)
    packetsWritten(asker, op, arrived, number);
  if (request.signal)
    post(rank, op, request.channel, {arrived, {number}});
  if (request.flush) {
    answer(request.asker, {arrived + Costs::us(costs_.parameters().hostPoll), {number}});
    proxies_[rank].free = std::max(proxies_[rank].free, arrived);
    takeNext(rank);
  }
  this->at(now_, EventKind::Transfer, link);
}

} // namespace mscclc::passes::time
