// Tests how blocks step: pipelines repeat, credits are taken in order, and a barrier opens when all blocks have
// arrived.
#include "ir/cursor.h"

#include "catch.h"

#include <initializer_list>
#include <string>

using namespace mscclc::ir;

namespace {

/// A block of nops and of pipelines: a number n > 0 is a header whose body is the next n operations.
ThreadBlock blockOf(std::initializer_list<std::uint32_t> bodies) {
  ThreadBlock block;
  for (const std::uint32_t body : bodies)
    block.append({.kind = body != 0 ? OpKind::Pipeline : OpKind::Nop, .bodySize = body});
  return block;
}

ThreadBlock withEmptyPipeline() {
  ThreadBlock block = blockOf({0, 0, 0});
  block.ops[1].kind = OpKind::Pipeline;
  return block;
}

/// "1.0 2.0 1.1 2.1 3": the operations that run, with their iterations.
std::string walk(const ThreadBlock &block, std::uint64_t iterations) {
  std::string text;
  BlockCursor at;
  while (at.settle(block, [&](const Op &) { return iterations; })) {
    text += (text.empty() ? "" : " ") + std::to_string(at.op());
    if (at.inLoop())
      text += "." + std::to_string(at.iteration()) + (at.isLastIteration() ? "!" : "");
    at.next(block);
  }
  CHECK(at.atEnd(block));
  CHECK_FALSE(at.inLoop());
  return text;
}

/// Two ranks with a channel each way, and semaphores on the first.
Program twoRanks(std::initializer_list<std::uint32_t> semaphores) {
  Program program;
  program.ranks.resize(2);
  program.ranks[0].memoryPeers = {1};
  program.ranks[1].memoryPeers = {0};
  program.ranks[1].portPeers = {0}; // without a pair
  for (const std::uint32_t value : semaphores)
    program.ranks[0].semaphores.push_back({value});
  return program;
}

Op barrier(std::uint64_t id, std::uint32_t blocks) {
  return {.kind = OpKind::Barrier, .imm = id, .count = blocks};
}

} // namespace

TEST_CASE("a cursor goes round pipelines as often as they run, and through the rest once") {
  CHECK(walk({}, 3) == "");
  CHECK(walk(blockOf({0, 0}), 3) == "0 1");
  CHECK(walk(blockOf({0, 2, 0, 0, 0}), 2) == "0 2.0 3.0 2.1! 3.1! 4");
  CHECK(walk(blockOf({2, 0, 0, 1, 0}), 2) == "1.0 2.0 1.1! 2.1! 4.0 4.1!"); // one behind the other, to the end
  CHECK(walk(blockOf({1, 0}), 1) == "1.0!");
}

TEST_CASE("a pipeline that never runs, or has no body, is passed over") {
  CHECK(walk(blockOf({0, 2, 0, 0, 0}), 0) == "0 4");
  CHECK(walk(blockOf({1, 0, 1, 0}), 0) == "");
  CHECK(walk(withEmptyPipeline(), 3) == "0 2");
}

TEST_CASE("a cursor stands at a header until it enters") {
  const ThreadBlock block = blockOf({1, 0, 0});
  BlockCursor at;
  CHECK(at.atHeader(block));
  CHECK(at.header() == none);
  at.enter(block, 2);
  CHECK(at.op() == 1);
  CHECK(at.header() == 0);
  at.next(block);
  CHECK(at.op() == 1);
  CHECK(at.iteration() == 1);
  at.next(block);
  CHECK(at.op() == 2);
  CHECK(at.iteration() == 0);
}

TEST_CASE("as it is written, each operation comes once, with the header around it") {
  std::string text;
  const auto visit = [&](std::uint32_t op, std::uint32_t header) {
    text += " " + std::to_string(op) + (header == none ? "" : "<" + std::to_string(header));
  };
  CHECK(forEachOp(blockOf({0, 2, 0, 0, 1, 0, 0}), visit));
  CHECK(text == " 0 1 2<1 3<1 4 5<4 6");
  text.clear();
  forEachOp(withEmptyPipeline(), visit);
  CHECK(text == " 0 1 2");
  std::uint32_t last = none;
  CHECK_FALSE(forEachOp(blockOf({0, 0, 0}), [&](std::uint32_t op, std::uint32_t) {
    last = op;
    return op != 1; // false ends it
  }));
  CHECK(last == 1);
}

TEST_CASE("queues are numbered by the end that waits, then by semaphore") {
  const Program program = twoRanks({0, 5});
  const ProgramIndex index(program);
  CHECK(index.numQueues() == 5); // two memory channel ends, one of a port, two semaphores
  const Op signal{.kind = OpKind::Signal, .channelType = ChannelType::Memory};
  const Op wait{.kind = OpKind::Wait, .channelType = ChannelType::Memory};
  CHECK(index.queue(0, signal, 0) == index.queue(1, wait, 0));
  CHECK(index.queue(1, signal, 0) == index.queue(0, wait, 0));
  CHECK(index.queue(0, wait, 0) != index.queue(1, wait, 0));
  CHECK(index.queue(1, {.kind = OpKind::Signal, .channelType = ChannelType::Port}, 0) == none);
  CHECK(index.queue(0, {.kind = OpKind::SemRelease}, 1) == 4);
  CHECK(index.queue(0, {.kind = OpKind::SemAcquire}, 1) == index.semaphoreQueue(0, 1));
}

TEST_CASE("credits are taken in the order in which they were given, what a semaphore starts at first") {
  const Program program = twoRanks({0, 2});
  const ProgramIndex index(program);
  CreditQueues<int> queues(index);
  const std::uint32_t empty = index.semaphoreQueue(0, 0), started = index.semaphoreQueue(0, 1);
  CHECK(queues.isEmpty(empty));
  CHECK_FALSE(queues.take(empty));
  CHECK_FALSE(queues.isEmpty(started));
  queues.give(started, 7);
  CHECK(queues.initial(started) == 2);
  CHECK(queues.take(started) == 0);
  CHECK(queues.take(started) == 0);
  CHECK(queues.take(started) == 7);
  CHECK_FALSE(queues.take(started));
  for (int i = 1; i <= 3; ++i) {
    queues.give(0, i); // slots are used again, and queues do not mix
    queues.give(empty, 10 * i);
    CHECK(queues.take(0) == i);
  }
  CHECK(queues.take(empty) == 10);
  CHECK(queues.take(empty) == 20);
  CHECK_FALSE(queues.isEmpty(empty));
  CHECK(queues.take(empty) == 30);
  CHECK(queues.isEmpty(empty));
}

TEST_CASE("barriers are numbered over ranks, with the blocks that name them") {
  Program program = twoRanks({});
  for (Rank &rank : program.ranks)
    rank.blocks.resize(3);
  program.ranks[0].blocks[0].append(barrier(4, 2));
  program.ranks[0].blocks[0].append(barrier(4, 2));
  program.ranks[0].blocks[2].append(barrier(4, 2));
  program.ranks[1].blocks[1].append(barrier(4, 2));
  program.ranks[1].blocks[2].append(barrier(4, 2));
  const ProgramIndex index(program);
  REQUIRE(index.numBarriers() == 2);
  CHECK(index.barrier(index.barrierOf(0, 4)).blocks == std::vector<std::uint32_t>{0, 2});
  CHECK(index.barrier(index.barrierOf(1, 4)).blocks == std::vector<std::uint32_t>{4, 5});

  BarrierArrivals<std::uint32_t> meetings(index);
  const std::uint32_t number = index.barrierOf(1, 4);
  const auto blocksOf = [&](std::uint64_t ticket) {
    const auto met = meetings.met(number, ticket);
    return std::vector<std::uint32_t>(met.begin(), met.end());
  };
  const std::uint64_t first = meetings.arrive(number, 5);
  CHECK(blocksOf(first).empty());
  CHECK(meetings.met(index.barrierOf(0, 4), 0).empty()); // one barrier is no other
  CHECK(blocksOf(meetings.arrive(number, 4)) == std::vector<std::uint32_t>{5, 4});
  // The next round begins while the first block has not yet looked.
  const std::uint64_t second = meetings.arrive(number, 4);
  CHECK(blocksOf(second).empty());
  CHECK(blocksOf(first) == std::vector<std::uint32_t>{5, 4});
  meetings.arrive(number, 5);
  CHECK(blocksOf(second) == std::vector<std::uint32_t>{4, 5});
}

TEST_CASE("a meeting of several is over round by round") {
  ArrivalCounter counter;
  const std::uint64_t a = counter.arrive(2);
  CHECK_FALSE(counter.isOver(a));
  const std::uint64_t b = counter.arrive(2);
  CHECK(a == b);
  CHECK(counter.isOver(a));
  CHECK(counter.rounds(2) == 1);
  CHECK_FALSE(counter.isOver(counter.arrive(2)));
  CHECK(counter.rounds(2) == 1);
}
