// Tests that every answer about order equals plain reachability, for any signals, meetings and questions.
#include "plain_order.h"
#include "plan.h"

#include "catch.h"

#include <deque>
#include <random>

using namespace mscclc::passes::proof;
using RunOrder = mscclc::passes::proof::Order;

namespace {

/// Random events of `ranks` × `blocks` blocks, in launches, and questions in between.
class RandomEvents {
public:
  RandomEvents(std::uint32_t ranks, std::uint32_t blocks, std::uint64_t seed)
      : program_(make(ranks, blocks)), index_(program_), order_(index_, &plain_), random_(seed),
        sent_(index_.numBlocks()), kept_(index_.numBlocks()) {}

  plan::PlainOrder &run(std::uint32_t steps) {
    for (std::uint32_t launch = 0; launch < 3; ++launch) {
      for (std::uint32_t r = 0; r < index_.numRanks(); ++r)
        order_.meetRank(r);
      order_.beginLaunch();
      for (auto &clocks : sent_)
        clocks.clear(); // signals and waits of a launch balance
      for (Kept &kept : kept_)
        kept = {};
      for (std::uint32_t i = 0; i < steps; ++i)
        step();
      for (std::uint32_t r = 0; r < index_.numRanks(); ++r) {
        order_.meetRank(r);
        const View end = order_.gather(r);
        for (std::uint32_t b = 0; b < index_.numBlocks(); ++b)
          ask(b, end);
      }
    }
    return plain_;
  }

private:
  static mscclc::ir::Program make(std::uint32_t ranks, std::uint32_t blocks) {
    plan::Plan p(mscclc::ir::CollectiveKind::Test, ranks, 1, 1);
    for (std::uint32_t r = 0; r < ranks; ++r)
      p.on(r, blocks - 1);
    return p.program;
  }
  std::uint32_t draw(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  /// A signal mostly; in one of `often` cases something that carries less.
  MessageKind drawKind(std::uint32_t often) {
    if (draw(often) != 0)
      return MessageKind::Signal;
    return draw(2) == 0 ? MessageKind::RelaxedSignal : MessageKind::Packet;
  }
  void ask(std::uint32_t block, const View &view) {
    if (block != view.block)
      order_.known(block, draw(order_.view(block).phase + 1), view, static_cast<Relation>(draw(3)));
  }

  void step() {
    const std::uint32_t b = draw(index_.numBlocks()), other = draw(index_.numBlocks());
    switch (draw(8)) {
    case 0:
    case 1: { // to a neighbour mostly, so that most is heard of through others
      const std::uint32_t to = draw(8) == 0 ? other : (b + 1) % index_.numBlocks();
      sent_[to].push_back(send(b, drawKind(4)));
      break;
    }
    case 2:
    case 3:
      if (!sent_[b].empty()) {
        order_.receive(b, sent_[b].front(), drawKind(6));
        if (kept_[b].clocks.size() < 4)
          kept_[b].clocks.push_back(sent_[b].front());
        sent_[b].pop_front();
      }
      break;
    case 4:
      order_.endPhase(b);
      kept_[b] = {};
      break;
    case 5:
      if (draw(4) == 0)
        meet(index_.rankOf(b));
      break;
    default: {
      View view = draw(6) == 0 ? order_.nextView(b) : order_.view(b);
      if (!view.next && draw(3) == 0)
        view.besides = kept_[b].clocks;
      for (std::uint32_t i = 0; i < 4; ++i)
        ask(draw(index_.numBlocks()), view);
    }
    }
  }

  /// Sends a signal; sometimes together with the clocks that the block took in the current phase. These are in a node
  /// of their own, as for packets, or in a node that refers to the last such node and adds the new ones.
  MessageClock send(std::uint32_t b, MessageKind kind) {
    Kept &kept = kept_[b];
    const std::uint32_t how = draw(6);
    if (how > 1)
      return order_.send(b, kind);
    if (how == 1)
      return order_.send(b, kind, kept.clocks);
    if (kept.inNode != kept.clocks.size()) {
      kept.node = order_.nodeOf(std::span(kept.clocks).subspan(kept.inNode), kept.node);
      kept.inNode = static_cast<std::uint32_t>(kept.clocks.size());
    }
    return order_.send(b, kind, kept.clocks, kept.node);
  }

  void meet(std::uint32_t rank) {
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t b = index_.block(rank, 0); b < index_.block(rank + 1, 0); ++b)
      if (draw(3) != 0)
        blocks.push_back(b);
    if (blocks.size() < 2)
      return;
    order_.barrier(blocks);
    for (const std::uint32_t b : blocks)
      kept_[b] = {};
  }

  mscclc::ir::Program program_;
  ProgramIndex index_;
  plan::PlainOrder plain_;
  RunOrder order_;
  std::mt19937_64 random_;
  std::vector<std::deque<MessageClock>> sent_; ///< [receiver]
  /// What a block has taken in its present phase, and a node that grows with it.
  struct Kept {
    std::vector<MessageClock> clocks;
    std::uint32_t node = none, inNode = 0; ///< node: of the first `inNode` clocks
  };
  std::vector<Kept> kept_; ///< [block]
};

} // namespace

TEST_CASE("answers of order are those of plain reachability") {
  std::uint64_t answers = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomEvents events(2 + seed % 5, 1 + seed % 4, seed);
    const plan::PlainOrder &plain = events.run(300);
    CAPTURE(seed);
    CHECK(plain.faults() == std::vector<std::string>());
    answers += plain.answers();
  }
  CHECK(answers > 20'000);
}

TEST_CASE("answers are right where much is known of many blocks") {
  RandomEvents events(90, 2, 7); // several pages of what a search found
  const plan::PlainOrder &plain = events.run(12'000);
  CHECK(plain.faults() == std::vector<std::string>());
  CHECK(plain.answers() > 5'000);
}

TEST_CASE("what is kept of port puts does not grow by what tells nothing new") {
  plan::Plan p(mscclc::ir::CollectiveKind::Test, 2, 1, 1);
  for (std::uint32_t r = 0; r < 2; ++r)
    p.on(r, 1);
  for (int i = 0; i < 3; ++i) {
    p.channel(0, 1, mscclc::ir::ChannelType::Port);
    p.channel(1, 0, mscclc::ir::ChannelType::Port);
  }
  const ProgramIndex index(p.program);
  plan::PlainOrder plain;
  RunOrder order(index, &plain);
  View issuer = order.view(index.block(0, 0));
  issuer.thread = 0;
  std::uint32_t list = none, last = none;
  for (int round = 0; round < 4; ++round)
    for (const std::uint32_t i : {0u, 1u, 2u, 1u}) {
      const std::uint32_t channel = index.channel(mscclc::ir::ChannelType::Port, 0, i);
      last = order.addPut(channel, issuer, 0);
      const std::uint32_t covers = order.putsCovered(channel, issuer);
      list = order.joinCovers(covers, list);
      CHECK(list - covers <= 3); // they are numbered as they are made: one for each lane
    }
  // Each event that is kept of a put is asked for, where none is known.
  const auto kept = [&] {
    const std::uint64_t answers = plain.answers();
    CHECK_FALSE(order.before({Epoch::putBit | last, issuer.phase, 0}, true, order.view(index.block(0, 1)),
                             Relation::HappensBefore));
    return plain.answers() - answers;
  };
  for (int phase = 0; phase < 4; ++phase) {
    for (int time = 0; time < 2; ++time)
      for (std::uint32_t b = index.block(1, 0); b < index.block(2, 0); ++b)
        order.relayed(list, b, 0);
    CHECK(kept() == 2);
    for (std::uint32_t b = index.block(1, 0); b < index.block(2, 0); ++b)
      order.endPhase(b);
  }
  order.relayed(list, index.block(1, 0), 1); // another thread, which knows that earlier phases are over
  CHECK(kept() == 2);
  CHECK(plain.faults().empty());
}

TEST_CASE("plain reachability notices a wrong answer") {
  const plan::Plan p(mscclc::ir::CollectiveKind::Test, 2, 1, 1);
  const ProgramIndex index(p.program);
  plan::PlainOrder plain;
  RunOrder order(index, &plain);
  order.endPhase(0);
  const View view = order.view(1);
  CHECK_FALSE(order.known(0, 0, view, Relation::HappensBefore));
  CHECK(plain.faults().empty());
  plain.answered(0, 0, view, Relation::HappensBefore, true);
  CHECK(plain.faults() ==
        std::vector<std::string>{"block 0 in phase 0 was said to be ordered before block 1 in phase 0"});
}
