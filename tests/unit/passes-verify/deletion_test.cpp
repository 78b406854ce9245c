// The proof's own test: drop one synchronisation, and the verifier objects, or it was redundant for a reason given
// here.
#include "algorithms.h"
#include "prove.h"

#include "ir/channel_pairing.h"
#include "ir/op_semantics.h"
#include "passes/simulate/simulate.h"

#include <map>
#include <set>

using namespace plan;

namespace {

struct Dropped {
  std::string what; ///< "nop 0.0.2", "signal+wait 1.0.4"
  Program program;
};

std::string name(const char *what, std::uint32_t rank, std::uint32_t block, std::uint32_t op) {
  return std::string(what) + " " + std::to_string(rank) + "." + std::to_string(block) + "." + std::to_string(op);
}

/// Takes the `number`-th mention of `id` out of the operations of `program` that `is` accepts; ops without ids go.
template <typename Is>
bool dropMention(Program &program, std::uint32_t rank, std::uint32_t id, std::uint32_t number, Is is) {
  for (ThreadBlock &block : program.ranks[rank].blocks)
    for (std::size_t o = 0; o < block.ops.size(); ++o) {
      Op &op = block.ops[o];
      if (!is(op))
        continue;
      for (std::uint32_t i = 0; i < op.numIds; ++i) {
        if (block.ids[op.firstId + i] != id || number-- != 0)
          continue;
        std::rotate(block.ids.begin() + op.firstId + i, block.ids.begin() + op.firstId + i + 1,
                    block.ids.begin() + op.firstId + op.numIds);
        if (--op.numIds == 0)
          block.ops.erase(block.ops.begin() + static_cast<std::ptrdiff_t>(o));
        return true;
      }
    }
  return false;
}

/// All programs with one piece of synchronisation dropped.
std::vector<Dropped> dropOne(const Program &program) {
  std::vector<Dropped> all;
  const ChannelPairing pairing(program);
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r)
    for (std::uint32_t b = 0; b < program.ranks[r].blocks.size(); ++b) {
      const ThreadBlock &block = program.ranks[r].blocks[b];
      std::map<std::pair<ChannelType, std::uint32_t>, std::uint32_t> signals, releases;
      std::uint32_t header = 0, left = 0;
      for (std::uint32_t o = 0; o < block.ops.size(); ++o) {
        const Op &op = block.ops[o];
        const bool inLoop = left != 0;
        if (op.kind == OpKind::Pipeline) {
          header = o;
          left = op.bodySize;
          continue;
        }
        left -= inLoop;
        const auto drop = [&](const char *what) {
          Dropped d{name(what, r, b, o), without(program, r, b, o)};
          if (inLoop)
            --d.program.ranks[r].blocks[b].ops[header].bodySize;
          all.push_back(std::move(d));
        };
        if (op.kind == OpKind::Nop)
          drop("nop");
        else if (op.kind == OpKind::Flush)
          drop("flush");
        else if (op.kind == OpKind::Barrier || isSignal(op.kind) || isWait(op.kind) || isSemaphoreOp(op.kind))
          drop("alone");
        if (inLoop)
          continue; // pairs in loops: see the pipeline's own test
        for (const std::uint32_t id : block.idsOf(op)) {
          if (isSignal(op.kind)) {
            const std::uint32_t number = signals[{op.channelType, id}]++;
            const auto peer = pairing.peer(op.channelType, {r, id});
            Dropped d{name("signal+wait", r, b, o) + " channel " + std::to_string(id), program};
            const auto type = op.channelType;
            REQUIRE(dropMention(d.program, r, id, number,
                                [&](const Op &x) { return isSignal(x.kind) && x.channelType == type; }));
            REQUIRE(dropMention(d.program, peer->rank, peer->channel, number,
                                [&](const Op &x) { return isWait(x.kind) && x.channelType == type; }));
            all.push_back(std::move(d));
          }
        }
      }
    }
  return all;
}

void checkRunsRight(const Program &program) {
  DiagnosticEngine diags;
  const bool right = mscclc::passes::simulate(program, diags).ok;
  CAPTURE(diags.render(false));
  CHECK(right);
}

} // namespace

TEST_CASE("no synchronisation can be dropped unseen, but what one thread's order makes redundant") {
  // A thread that waits and then puts, puts and then signals, or waits and then releases needs no nop between.
  std::map<std::string, std::set<std::string>> redundant{
      {"sendPort", {"nop 0.0.2", "nop 0.0.4", "nop 1.0.2", "nop 1.0.4", "nop 2.0.2", "nop 2.0.4"}},
      {"allReduceOneSlot", {"nop 0.0.7", "nop 0.1.8", "nop 1.0.7", "nop 1.1.8"}}};
  std::size_t dropped = 0;
  for (const Named &named : all()) {
    if (named.name == "allReducePipeline") // allReduceOneSlot is the same, with a conflict between iterations
      continue;
    for (const Dropped &d : dropOne(named.make().program)) {
      CAPTURE(named.name, d.what);
      const bool proven = prove(d.program, {.fixedScratch = named.oneSize}).result.proven;
      CHECK(proven == (redundant[named.name].erase(d.what) == 1));
      if (proven)
        checkRunsRight(d.program);
      ++dropped;
    }
    CHECK(redundant[named.name].empty());
  }
  CHECK(dropped > 150);
}

TEST_CASE("what is redundant may go, and runs right without") {
  // Iterations that touch different slices need no handing back; nor does what a block does last need a nop.
  const Program pipeline = allReducePipeline(1024).program;
  Plan ring = allGatherRing(3);
  ring.on(0).nop();
  std::size_t accepted = 0;
  for (const Program &program : {pipeline, ring.program})
    for (const Dropped &d : dropOne(program)) {
      CAPTURE(d.what);
      if (!prove(d.program).result.proven)
        continue;
      ++accepted;
      checkRunsRight(d.program);
    }
  CHECK(accepted >= 3);
}
