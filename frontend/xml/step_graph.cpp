#include "frontend/xml/step_graph.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mscclc::xml {

namespace {

/// A connection from one gpu to another, on a channel.
struct Connection {
  std::uint32_t from = 0, to = 0;
  std::int64_t channel = 0;
  friend auto operator<=>(const Connection &, const Connection &) = default;
};

/// The steps of one block that use a connection, at one of its ends.
struct End {
  std::uint32_t block = 0;
  std::vector<std::uint32_t> steps;
};

struct Ends {
  End sender, receiver;
};

} // namespace

StepGraph::StepGraph(const Schedule &schedule, Findings &findings) : schedule_(schedule) {
  addSteps();
  resolveDependences();
  matchMessages(findings);
}

const Step &StepGraph::step(std::uint32_t step) const {
  const Node &node = nodes_[step];
  return schedule_.gpus[node.gpu].blocks[node.block].steps[node.number];
}

std::uint32_t StepGraph::after(std::uint32_t step) const {
  const Node &node = nodes_[step];
  return node.number + 1 == schedule_.gpus[node.gpu].blocks[node.block].steps.size() ? noStep : step + 1;
}

std::string StepGraph::describe(std::uint32_t step) const {
  const Node &node = nodes_[step];
  return "step " + std::to_string(node.number) + " of gpu " + std::to_string(node.gpu) + ", thread block " +
         std::to_string(node.block);
}

void StepGraph::addSteps() {
  first_.resize(schedule_.gpus.size());
  for (std::uint32_t gpu = 0; gpu < schedule_.gpus.size(); ++gpu)
    for (std::uint32_t block = 0; block < schedule_.gpus[gpu].blocks.size(); ++block) {
      first_[gpu].push_back(size());
      for (std::uint32_t number = 0; number < schedule_.gpus[gpu].blocks[block].steps.size(); ++number)
        nodes_.push_back({.gpu = gpu, .block = block, .number = number});
    }
}

void StepGraph::resolveDependences() {
  // A block publishes only its steps with `hasdep`. A dependence on another step waits for the next step of the same
  // block with `hasdep`.
  std::vector<std::uint32_t> teller(nodes_.size(), noStep);
  for (std::uint32_t s = size(); s-- > 0;)
    teller[s] = step(s).hasWaiters || after(s) == noStep ? s : teller[s + 1];
  firstWaiter_.assign(nodes_.size() + 1, 0);
  for (std::uint32_t s = 0; s < size(); ++s)
    if (const auto &on = step(s).dependence) {
      nodes_[s].waitsFor = teller[first_[nodes_[s].gpu][on->block] + on->step];
      ++firstWaiter_[nodes_[s].waitsFor + 1];
    }
  for (std::uint32_t s = 0; s < size(); ++s)
    firstWaiter_[s + 1] += firstWaiter_[s];
  waiters_.resize(firstWaiter_.back());
  std::vector<std::uint32_t> filled(firstWaiter_.begin(), firstWaiter_.end() - 1);
  for (std::uint32_t s = 0; s < size(); ++s)
    if (nodes_[s].waitsFor != noStep)
      waiters_[filled[nodes_[s].waitsFor]++] = s;
}

void StepGraph::matchMessages(Findings &findings) {
  std::map<Connection, Ends> connections;
  const auto add = [&](End &end, std::uint32_t s, std::string_view verb, std::uint32_t peer, std::int64_t channel) {
    const std::uint32_t block = nodes_[s].block;
    if (!end.steps.empty() && end.block != block) {
      findings.report(diag::channel_shared, step(s).loc, {block, verb, peer, channel, end.block})
          .note(diag::xml_first_here, step(end.steps.front()).loc);
      return;
    }
    end.block = block;
    end.steps.push_back(s);
  };
  for (std::uint32_t s = 0; s < size() && !findings.full(); ++s) {
    const Node &node = nodes_[s];
    const Block &block = schedule_.gpus[node.gpu].blocks[node.block];
    if (does(s).sends)
      add(connections[{node.gpu, *block.send, block.channel}].sender, s, "sends to", *block.send, block.channel);
    if (does(s).receives)
      add(connections[{*block.recv, node.gpu, block.channel}].receiver, s, "receives from", *block.recv, block.channel);
  }
  if (findings.any())
    return;
  for (const auto &[connection, ends] : connections) {
    const std::vector<std::uint32_t> &sent = ends.sender.steps, &received = ends.receiver.steps;
    const std::size_t matched = std::min(sent.size(), received.size());
    for (std::size_t k = 0; k < matched && !findings.full(); ++k) {
      nodes_[sent[k]].sendsTo = received[k];
      nodes_[received[k]].receivesFrom = sent[k];
      const std::uint32_t count = step(sent[k]).count, taken = step(received[k]).count;
      if (count != taken)
        findings.report(diag::message_counts, step(sent[k]).loc, {ir::plural(count, "chunk"), taken})
            .note(diag::received_here, step(received[k]).loc);
    }
    if (sent.size() > matched)
      findings.report(
          diag::send_unmatched, step(sent[matched]).loc,
          {connection.from, ir::plural(sent.size(), "message"), connection.to, connection.channel, matched});
    if (received.size() > matched)
      findings.report(
          diag::receive_unmatched, step(received[matched]).loc,
          {connection.to, ir::plural(received.size(), "message"), connection.from, connection.channel, matched});
  }
}

} // namespace mscclc::xml
