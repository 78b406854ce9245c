// Tests blocks that wait for each other if there are more of them than a GPU holds at once.
#include "prove.h"

#include "passes/target.h"

using namespace plan;
namespace passes = mscclc::passes;

namespace {

Proof proveHeld(const Program &program, std::uint64_t held, const AllowedNames &allowed = {}) {
  return prove(program, {.residency = passes::Residency{"m", false, program.threadsPerBlock, held}}, allowed);
}

/// Blocks that copy, and meet in a barrier if they do.
Program meeting(std::uint32_t blocks, bool meet) {
  Plan p(CollectiveKind::Test, 1, blocks, blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    p.on(0, b).copy(out(b), in(b));
    if (meet)
      p.on(0, b).barrier(0, blocks);
  }
  return p.program;
}

/// Block b releases what block b + 1, or b - 1 if `down`, waits for.
Program inTurns(std::uint32_t blocks, bool down) {
  Plan p(CollectiveKind::Test, 1, blocks, blocks);
  for (std::uint32_t i = 1; i < blocks; ++i)
    p.semaphore(0);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::uint32_t place = down ? blocks - 1 - b : b;
    if (place != 0)
      p.on(0, b).acquire({place - 1}).nop();
    p.on(0, b).copy(out(b), in(b));
    if (place + 1 != blocks)
      p.on(0, b).nop().release({place});
  }
  return p.program;
}

} // namespace

TEST_CASE("blocks that meet must be held at once") {
  CHECK(proveHeld(meeting(5, true), 5).text.empty());
  const Proof many = proveHeld(meeting(5, true), 4);
  CHECK_FALSE(many.result.proven);
  CHECK(many.result.errors == 1);
  CHECK(
      many.says("rank 0, block 0, operation 1: error: rank 0 has 5 thread blocks of 1024 threads, and a GPU of m holds "
                "4 at once: block 0 waits here for the other blocks at its barrier while 1 have not begun, and none of "
                "those that have can end; use fewer blocks, or fewer threads a block [--allow=residency]"));
  const Proof allowed = proveHeld(meeting(5, true), 4, {"residency"});
  CHECK(allowed.result.proven);
  CHECK(allowed.ids == std::vector<std::string>{"blocks_not_resident"});
  CHECK(proveHeld(meeting(5, false), 1).text.empty()); // no block waits
  CHECK(prove(meeting(5, true)).text.empty());         // of a GPU that holds all
}

TEST_CASE("what ends only in the order of the blocks is legal, but fragile") {
  const Proof up = proveHeld(inTurns(4, false), 2);
  CHECK(up.result.proven);
  CHECK(up.says(
      "rank 0: warning: rank 0 has 4 thread blocks of 1024 threads that wait for others, and a GPU of m holds 2 "
      "at once: this ends only if they begin in the order of their numbers, which CUDA does not promise"));
  CHECK(up.ids == std::vector<std::string>{"blocks_in_turns"});
  CHECK(proveHeld(inTurns(4, false), 4).text.empty());
  const Proof down = proveHeld(inTurns(4, true), 3);
  CHECK(down.ids == std::vector<std::string>{"blocks_not_resident"});
  CHECK(down.says("block 0 waits here for semaphore 2 of rank 0 while 1 have not begun"));
}

TEST_CASE("a rank may wait for blocks of another that have not begun") {
  Plan p(CollectiveKind::Test, 2, 2, 2);
  const std::uint32_t there = p.channel(0, 1), back = p.channel(1, 0);
  p.on(0, 0).wait({there}).signal({there});
  p.on(1, 0).wait({back});
  p.on(1, 1).signal({back});
  CHECK(proveHeld(p.program, 2).result.proven);
  const Proof one = proveHeld(p.program, 1);
  CHECK(one.ids == std::vector<std::string>{"blocks_not_resident"});
  CHECK(one.says("rank 1, block 0, operation 0: error: rank 1 has 2 thread blocks"));
}

TEST_CASE("a deadlock on any GPU is only that") {
  Plan p(CollectiveKind::Test, 1, 3, 3);
  p.semaphore(0);
  p.semaphore(0);
  p.on(0, 0).acquire({0}).release({1});
  p.on(0, 1).acquire({1}).release({0});
  p.on(0, 2).copy(out(2), in(2));
  const Proof stuck = proveHeld(p.program, 2);
  CHECK(stuck.ids.front() == "deadlock");
  CHECK_FALSE(stuck.has("blocks_not_resident"));
}

TEST_CASE("how many blocks a GPU holds at once") {
  Program program = meeting(1, true);
  const passes::GpuLimits h100{.multiprocessors = 132}, a100{.multiprocessors = 108, .sharedBytes = 164 << 10},
      amd{.multiprocessors = 304, .blocksPerMultiprocessor = 1};
  const auto held = [&](const passes::GpuLimits &gpu, std::uint32_t threads, bool executor = true) {
    program.threadsPerBlock = threads;
    return passes::residentBlocks(program, gpu, executor ? &passes::executorLimits.front() : nullptr);
  };
  // The executor takes 64 registers a thread of 65,536.
  CHECK(held(h100, 1024) == 132);
  CHECK(held(h100, 1000) == 132);
  CHECK(held(h100, 513) == 132);
  CHECK(held(h100, 512) == 2 * 132);
  CHECK(held(h100, 96) == 10 * 132);
  // 17 blocks of 13,296 bytes have room in 228 KiB, 12 in 164.
  CHECK(held(h100, 1) == 17 * 132);
  CHECK(held(a100, 1) == 12 * 108);
  CHECK(held(amd, 64) == 304);
  // A kernel of its own is compiled for as many as its threads allow.
  CHECK(held(h100, 1024, false) == 2 * 132);
  CHECK(held(h100, 1, false) == 32 * 132);
  CHECK(held(amd, 64, false) == 304);
  const auto bound = [&](std::uint32_t blocks, std::uint32_t threads) {
    Program many = meeting(blocks, true);
    many.threadsPerBlock = threads;
    return passes::secondLaunchBound(many, h100);
  };
  CHECK(bound(1, 1024) == 1);
  CHECK(bound(132, 1024) == 1);
  CHECK(bound(133, 1024) == 2);
  CHECK(bound(264, 1024) == 2);
  CHECK(bound(265, 1024) == 2); // more have no room
  CHECK(bound(265, 512) == 3);
}
