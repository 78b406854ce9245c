// Compares one walk for many questions with one walk for each, with plain reachability, and with the order that the
// proof itself computes.
#include "../passes-verify/algorithms.h"
#include "plain_sync.h"

#include "catch.h"

#include "passes/prune/record_sizes.h"
#include "passes/run/order.h"
#include "passes/run/recorded_order.h"
#include "passes/verify/verify.h"

#include <functional>
#include <numeric>
#include <random>

using namespace mscclc;
using namespace mscclc::passes::prune;
using ir::ChannelType;
using ir::OpKind;

namespace {

/// A ring in which each rank puts its chunk into the next one's scratch, which copies it to its output: through memory
/// and, with a flush, through ports. At the end each rank tells the one before it that its scratch is free.
plan::Plan ring(std::uint32_t ranks) {
  plan::Plan p(ir::CollectiveKind::Custom, ranks, 2, 2, /*inplace=*/false, 2);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t next = (r + 1) % ranks, previous = (r + ranks - 1) % ranks;
    p.channel(r, next);
    p.channel(r, previous);
    p.channel(r, next, ChannelType::Port);
    p.channel(r, previous, ChannelType::Port);
  }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t next = (r + 1) % ranks;
    plan::Block memory = p.on(r), port = p.on(r, 1);
    memory.relaxedSignal({1}).relaxedWait({0}).nop();
    memory.remote(OpKind::Put, {memory.of(next, ir::BufferKind::Scratch, 0)}, {plan::in(0)});
    memory.nop().signal({0}).wait({1}).nop();
    memory.copy(plan::out(0), plan::scratch(0));
    memory.nop().signal({1}).wait({0});
    port.remote(OpKind::Put, {port.of(next, ir::BufferKind::Scratch, 1, 1, ChannelType::Port)}, {plan::in(1)},
                ChannelType::Port, {0});
    port.nop().signal({0}, ChannelType::Port).flush({0}).wait({1}, ChannelType::Port).nop();
    port.copy(plan::out(1), plan::scratch(1));
    port.nop().signal({1}, ChannelType::Port).wait({0}, ChannelType::Port).nop();
  }
  return p;
}

/// A thread of rank 1 waits and signals in one phase, as does one of its second block with semaphores: both pass on
/// that rank 0 has put.
/// Another thread of that phase, from which rank 2 hears last, knows nothing of it.
plan::Plan relay() {
  plan::Plan p(ir::CollectiveKind::Custom, 3, 1, 1, /*inplace=*/false, 1);
  p.connectAll(); // rank 0: channel 0 to rank 1; rank 1: 0 to rank 0, 1 to rank 2; rank 2: 1 to rank 1
  p.channel(1, 2);
  p.channel(2, 1);
  for (int i = 0; i < 2; ++i)
    p.semaphore(1);
  plan::Block from = p.on(0), by = p.on(1), helper = p.on(1, 1), to = p.on(2);
  from.relaxedWait({0}).nop().remote(OpKind::Put, {from.of(1, ir::BufferKind::Scratch, 0)}, {plan::in(0)});
  from.nop().signal({0}).wait({0});
  by.relaxedSignal({0}).wait({0}).release({0}).signal({1}).signal({0, 2}).nop();
  by.acquire({1}).signal({1}).barrier(0, 2).wait({1});
  helper.acquire({0}).release({1}).nop().copy(plan::out(0), plan::scratch(0)).barrier(0, 2);
  to.wait({1}).wait({2}).nop();
  to.remote(OpKind::Get, {plan::out(0)}, {to.of(1, ir::BufferKind::Scratch, 0)}, ChannelType::Memory, {1});
  to.nop().signal({1}).wait({1});
  return p;
}

/// Two or three ranks whose blocks put, copy, forward packets and signal each other, in an order in which they could
/// run.
class RandomSteps {
public:
  explicit RandomSteps(std::uint64_t seed) : random_(seed), ranks_(2 + below(2)), plan_(make()) {
    for (int step = 0; step < 24; ++step)
      addStep();
  }
  const plan::Plan &plan() const { return plan_; }

private:
  static constexpr std::uint32_t blocks_ = 2, slots_ = 24; ///< of a rank
  struct Doer {
    std::uint32_t rank, block;
  };
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  /// A channel of each kind from each block to each one of other ranks, and a semaphore to each block of its own.
  plan::Plan make() const {
    plan::Plan p(ir::CollectiveKind::Custom, ranks_, 2, 2, /*inplace=*/false, slots_);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t peer = 0; peer < ranks_; ++peer)
        for (std::uint32_t pair = 0; peer != r && pair < blocks_ * blocks_; ++pair)
          for (const ChannelType type : {ChannelType::Memory, ChannelType::Port})
            p.channel(r, peer, type);
      for (std::uint32_t b = 0; b < blocks_; ++b) {
        p.semaphore(r);
        p.on(r, b);
      }
    }
    return p;
  }
  /// Number of the channel between two blocks on the rank of the first.
  static std::uint32_t channel(Doer of, Doer to) {
    const Doer low = of.rank < to.rank ? of : to, high = of.rank < to.rank ? to : of;
    return (to.rank - (to.rank > of.rank)) * blocks_ * blocks_ + low.block * blocks_ + high.block;
  }
  plan::Block on(Doer doer) { return plan_.on(doer.rank, doer.block); }

  void addStep() {
    const Doer here{below(ranks_), below(blocks_)}, there{(here.rank + 1 + below(ranks_ - 1)) % ranks_, below(blocks_)};
    const Doer twin{there.rank, 1 - there.block};
    const std::uint32_t to = channel(here, there), from = channel(there, here);
    plan::Block code = on(here);
    const auto slot = [&](plan::Block &block, std::uint32_t rank, std::uint32_t index, ChannelType type) {
      return block.of(rank, ir::BufferKind::Scratch, index, 1, type);
    };
    switch (below(12)) {
    case 0: // one thread tells, one waits
      code.signal({to});
      on(there).wait({from});
      return;
    case 1: // two threads tell two blocks
      code.signal({to, channel(here, twin)});
      on(twin).wait({channel(twin, here)});
      on(there).wait({from});
      return;
    case 2: // two threads are told by two blocks
      on(there).signal({from});
      on(twin).signal({channel(twin, here)});
      code.wait({to, channel(here, twin)});
      return;
    case 3:
      below(2) != 0 ? code.relaxedSignal({to}) : code.signal({to});
      below(2) != 0 ? on(there).relaxedWait({from}) : on(there).wait({from});
      return;
    case 4:
      code.signal({to}, ChannelType::Port);
      on(there).wait({from}, ChannelType::Port);
      return;
    case 5:
      code.release({1 - here.block});
      on({here.rank, 1 - here.block}).acquire({1 - here.block});
      return;
    case 6:
      code.barrier(0, blocks_);
      on({here.rank, 1 - here.block}).barrier(0, blocks_);
      return;
    case 7:
      code.remote(OpKind::Put, {slot(code, there.rank, below(2), ChannelType::Memory)}, {plan::in(below(2))});
      return;
    case 8:
      code.remote(OpKind::Put, {slot(code, there.rank, below(2), ChannelType::Port)}, {plan::in(below(2))},
                  ChannelType::Port, {to});
      if (below(2) != 0)
        code.flush({to});
      return;
    case 9:
      code.copy(plan::out(below(2)), plan::scratch(below(2)));
      return;
    case 10: { // a packet, which is passed on
      const std::uint32_t packet = 2 + 2 * used_++ % (slots_ - 2);
      code.remote(OpKind::PutPacket, {slot(code, there.rank, packet, ChannelType::Memory)}, {plan::in(below(2))});
      plan::Block next = on(there);
      next.remote(OpKind::ReduceSendPacket, {plan::out(0), slot(next, here.rank, packet + 1, ChannelType::Memory)},
                  {plan::in(0), plan::scratch(packet)});
      on({here.rank, below(blocks_)})
          .remote(OpKind::UnpackPacket, {plan::out(1)}, {plan::scratch(packet + 1)}, ChannelType::None);
      return;
    }
    default:
      code.nop();
    }
  }

  std::mt19937_64 random_;
  std::uint32_t ranks_;
  std::uint32_t used_ = 0; ///< pairs of slots for packets
  plan::Plan plan_;
};

constexpr std::array relations = {Relation::HappensBefore, Relation::Released, Relation::Visibility};

/// What was asked of RecordedOrder with one set of points dropped.
struct Asked {
  std::uint32_t inOrder = 0;
  std::uint32_t wrong = 0;     ///< answers that differ from plain reachability
  std::uint32_t byDropped = 0; ///< points named that are dropped
};

/// Asks of accesses that come second block after block in the order of time, as RecordedOrder is best asked, and then
/// back again. `search`: was asked before, with other points dropped.
Asked askAll(const RunRecord &record, const std::vector<bool> &dropped, RecordedOrder &search) {
  Asked asked;
  std::vector<std::vector<plan::PlainSync>> plain; // [access][queued × relation]
  for (const Access &first : record.accesses) {
    plain.emplace_back();
    for (const bool queued : {false, true})
      for (const Relation relation : relations)
        if (!queued || first.port != ir::none)
          plain.back().emplace_back(record, dropped, first, relation, queued);
  }
  std::vector<std::uint32_t> seconds(record.accesses.size());
  std::iota(seconds.begin(), seconds.end(), 0);
  std::ranges::stable_sort(
      seconds, {}, [&](std::uint32_t a) { return std::pair(record.accesses[a].at.block, record.accesses[a].time); });
  std::vector<std::uint32_t> back = seconds;
  std::ranges::reverse(back);
  seconds.insert(seconds.end(), back.begin(), back.end());
  for (const std::uint32_t second : seconds) {
    const Access &later = record.accesses[second];
    for (std::uint32_t first = 0; first < record.accesses.size(); ++first)
      for (const Relation relation : relations) {
        const Access &access = record.accesses[first];
        if (access.time >= later.time)
          continue;
        std::vector<SyncPoint> by;
        const bool isOrdered = search.before({first, second, relation, false}, by);
        const bool queued = access.port != ir::none && access.port == later.port;
        asked.inOrder += isOrdered;
        asked.wrong +=
            isOrdered != plain[first][relations.size() * queued + static_cast<std::size_t>(relation)].before(later);
        for (const SyncPoint point : by)
          asked.byDropped += dropped[point];
      }
  }
  return asked;
}

/// Asks about all accesses of `plan`, with each of some sets of points dropped, and afterwards with nothing dropped.
/// Returns whether fewer accesses are in order with one of these sets dropped. `choose` gets the classes that can be
/// dropped, and makes sets of them.
bool checkAll(const plan::Plan &plan, const std::function<void(std::vector<std::vector<SyncPoint>> &)> &choose = {}) {
  const ir::ProgramIndex index(plan.program);
  const SyncPoints points(index);
  SyncClasses classes(index, points);
  const std::vector<RunRecord> records = recordSizes(index, points, classes, 1'000'000);
  REQUIRE(!records.empty());
  std::vector<std::vector<SyncPoint>> drops = classes.candidates();
  if (choose)
    choose(drops);
  drops.emplace_back();
  std::vector<bool> dropped(points.count());
  RecordedOrder search(records.front(), dropped);
  const auto set = [&](const std::vector<SyncPoint> &drop, bool gone) {
    for (const SyncPoint point : drop)
      dropped[point] = gone;
    search.update(drop);
  };
  std::vector<std::uint32_t> inOrder; // for each of drops
  for (const std::vector<SyncPoint> &drop : drops) {
    set(drop, true);
    const Asked asked = askAll(records.front(), dropped, search);
    CHECK(asked.wrong == 0);
    CHECK(asked.byDropped == 0);
    inOrder.push_back(asked.inOrder);
    set(drop, false);
  }
  CHECK(std::ranges::max(inOrder) == inOrder.back());
  return std::ranges::min(inOrder) < inOrder.back();
}

TEST_CASE("what was asked before changes no answer, and each is as accesses can be reached", "[slow]") {
  SECTION("in memory and through ports") {
    CHECK(checkAll(ring(3)));
  }
  SECTION("told on in one phase") {
    CHECK(checkAll(relay()));
  }
  SECTION("with packets") {
    plan::Plan p = plan::allReducePackets(2, true);
    for (std::uint32_t r = 0; r < 2; ++r)
      p.on(r).nop().signal({0}).wait({0}).nop().copy(plan::in(0), plan::in(1)).nop();
    CHECK(checkAll(p));
  }
  SECTION("with barriers") {
    CHECK(checkAll(plan::allGatherGroup(2, 2)));
  }
  SECTION("in a pipeline") {
    CHECK(checkAll(plan::allReducePipeline(1024)));
  }
  SECTION("in random programs, with some classes dropped together") {
    int lost = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(seed);
      std::mt19937_64 random(seed);
      lost += checkAll(RandomSteps(seed).plan(), [&](std::vector<std::vector<SyncPoint>> &drops) {
        std::ranges::shuffle(drops, random);
        for (std::size_t i = 1; i < drops.size(); ++i)
          if (random() % 3 != 0)
            drops[i].insert(drops[i].end(), drops[i - 1].begin(), drops[i - 1].end());
        drops.resize(std::min<std::size_t>(drops.size(), 3));
      });
    }
    CHECK(lost >= 5);
  }
}

/// Records the answers about the order of phases that the proof of the first size got.
class Answers : public passes::proof::OrderWatcher {
public:
  struct Answer {
    Moment first, second;
    Relation relation = Relation::HappensBefore;
    bool before = false;
  };
  const std::vector<Answer> &all() const { return all_; }

  void started(const ir::ProgramIndex & /*index*/) override { ++orders_; }
  void sent(const passes::proof::MessageClock & /*clock*/,
            std::span<const passes::proof::MessageClock> /*besides*/) override {}
  void received(std::uint32_t /*block*/, const passes::proof::MessageClock & /*clock*/) override {}
  void endedPhase(std::uint32_t /*block*/) override {}
  void met(std::span<const std::uint32_t> /*blocks*/) override {}
  void beganLaunch() override {}
  void answered(std::uint32_t block, std::uint32_t phase, const passes::proof::View &view,
                passes::proof::Relation relation, bool before) override {
    if (orders_ == 1 && !view.next && view.besides.empty())
      all_.push_back({{block, phase}, {view.block, view.phase}, relation, before});
  }

private:
  int orders_ = 0;
  std::vector<Answer> all_;
};

/// Compares the answers of the record, with nothing dropped, with those of the proof.
struct Compared {
  int ordered = 0, unordered = 0; ///< as the proof was told
  int lost = 0;                   ///< not in order by the record
  int more = 0;                   ///< in order by the record alone
};

Compared compareWithProof(const ir::Program &program) {
  Answers answers;
  ir::DiagnosticEngine diags;
  passes::VerifyOptions options;
  options.watcher = &answers;
  passes::verify(program, diags, options);
  const ir::ProgramIndex index(program);
  const SyncPoints points(index);
  SyncClasses classes(index, points);
  std::vector<RunRecord> records = recordSizes(index, points, classes, 1'000'000);
  REQUIRE(!records.empty());
  RunRecord &record = records.front();
  const auto first = static_cast<std::uint32_t>(record.accesses.size());
  for (const Answers::Answer &answer : answers.all())
    for (const Moment &at : {answer.first, answer.second}) {
      Access access;
      access.at = at;
      access.launch = static_cast<std::uint32_t>(
          std::ranges::count_if(record.launches[at.block], [&](std::uint32_t begun) { return begun <= at.phase; }));
      record.accesses.push_back(access);
    }
  const std::vector<bool> dropped(points.count());
  RecordedOrder search(record, dropped);
  Compared compared;
  for (std::uint32_t i = 0; i < answers.all().size(); ++i) {
    const Answers::Answer &answer = answers.all()[i];
    std::vector<SyncPoint> by;
    const bool isOrdered = search.before({first + 2 * i, first + 2 * i + 1, answer.relation, false}, by);
    ++(answer.before ? compared.ordered : compared.unordered);
    compared.lost += answer.before && !isOrdered;
    compared.more += !answer.before && isOrdered;
  }
  return compared;
}

TEST_CASE("the record orders what the proof orders, and nothing else") {
  Compared all;
  const auto compare = [&](const ir::Program &program) {
    const Compared compared = compareWithProof(program);
    CHECK(compared.lost == 0);
    CHECK(compared.more == 0);
    all.ordered += compared.ordered;
    all.unordered += compared.unordered;
  };
  // As they are, and with each nop gone or each signal relaxed, so that accesses are in no order.
  for (const plan::Plan &plan : {ring(3), relay(), plan::allReducePackets(3, true), plan::allGatherGroup(2, 2)}) {
    compare(plan.program);
    const ir::ProgramIndex index(plan.program);
    for (std::uint32_t b = 0; b < index.numBlocks(); ++b)
      for (std::uint32_t o = 0; o < index.ops(b).ops.size(); ++o) {
        CAPTURE(b, o);
        ir::Program less = plan.program;
        auto &ops = less.ranks[index.rankOf(b)].blocks[index.idOf(b)].ops;
        if (ops[o].kind == OpKind::Nop)
          ops.erase(ops.begin() + o);
        else if (ops[o].kind == OpKind::Signal)
          ops[o].kind = OpKind::RelaxedSignal;
        else
          continue;
        compare(less);
      }
  }
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    compare(RandomSteps(seed).plan().program);
  }
  CHECK(all.ordered > 1000);
  CHECK(all.unordered > 100);
}

} // namespace
