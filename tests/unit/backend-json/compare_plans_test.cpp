#include "backend-json/compare_plans.h"
#include "programs.h"

using namespace plans;
using Kind = json::PlanDifference::Kind;

namespace {
std::string account(const Program &left, const Program &right, const json::CompareOptions &options = {}) {
  std::string lines;
  for (const json::PlanDifference &difference : json::comparePlans(left, right, options).differences)
    lines += json::describe(difference, "golden.json") + "\n";
  return lines;
}
} // namespace

TEST_CASE("equal programs have no differences, sets counting as sets") {
  const Program left = everyOperation();
  Program right = left;
  CHECK(json::comparePlans(left, right).equal());
  std::swap(right.ranks[0].blocks[0].ids[3], right.ranks[0].blocks[0].ids[4]); // of the signal
  std::swap(right.ranks[1].switchChannels[0].ranks[0], right.ranks[1].switchChannels[0].ranks[1]);
  std::swap(right.ranks[0].blocks[0].channels[1], right.ranks[0].blocks[0].channels[2]); // of different types
  CHECK(account(left, right) == "");
  std::swap(right.ranks[0].blocks[1].ids[0], right.ranks[0].blocks[1].ids[1]); // of the get
  CHECK(account(left, right) ==
        "rank 0, block 1, operation 2 (get): channel_ids is [2, 1], but [1, 2] in golden.json\n");
}

TEST_CASE("each field of a program, rank and block is told") {
  const Program left = everyOperation();
  const auto with = [&](auto change) {
    Program right = left;
    change(right);
    return account(left, right);
  };
  CHECK(with([](Program &p) { p.name = "b"; }) == "name is \"every operation\", but \"b\" in golden.json\n");
  CHECK(with([](Program &p) { p.collective.inplace = true; }) == "inplace is false, but true in golden.json\n");
  CHECK(with([](Program &p) {
          p.collective.kind = CollectiveKind::Broadcast;
          p.collective.root = 2;
        }) == "root is nothing, but 2 in golden.json\n");
  CHECK(with([](Program &p) { p.protocol = Protocol::Simple; }) ==
        "protocol is \"LL\", but \"Simple\" in golden.json\n");
  CHECK(with([](Program &p) { p.maxMessageSize = 1; }) ==
        "max_message_size is 18446744073709551615, but 1 in golden.json\n");
  CHECK(with([](Program &p) { p.ranks.pop_back(); }) == "number of gpus is 3, but 2 in golden.json\n");
  CHECK(with([](Program &p) { p.ranks[1].scratchChunks = 9; }) ==
        "rank 1: scratch_chunks is 8, but 9 in golden.json\n");
  CHECK(with([](Program &p) { p.ranks[0].memoryPeers.pop_back(); }) ==
        "rank 0: memory channels[2] is 1, but nothing in golden.json\n");
  CHECK(with([](Program &p) { p.ranks[0].portChannelsFirst = false; }) ==
        "rank 0: type of the channels listed first is port, but memory in golden.json\n");
  CHECK(with([](Program &p) { p.ranks[0].semaphores[1].initialValue = 0; }) ==
        "rank 0: semaphores[1] is 3, but 0 in golden.json\n");
  CHECK_THAT(with([](Program &p) { p.ranks[0].remoteBuffers[1].viaPort = false; }),
             containsText("rank 0: remote_buffers[1] is rank 2's output through memory and port, but rank 2's output "
                          "through memory in golden.json\n"));
  CHECK(with([](Program &p) { p.ranks[2].switchChannels[1].ranks.pop_back(); }) ==
        "rank 2: switch channels[1] is scratch of ranks 0 1 2, but scratch of ranks 1 2 in golden.json\n");
  CHECK(with([](Program &p) { p.ranks[0].blocks[0].channels.pop_back(); }) ==
        "rank 0, block 0: channels (port)[1] is 1, but nothing in golden.json\n");
  CHECK(with([](Program &p) { p.ranks[0].blocks.emplace_back(); }) ==
        "rank 0: number of thread blocks is 2, but 3 in golden.json\n");
}

TEST_CASE("each field of an operation is told") {
  const Program left = everyOperation();
  const auto with = [&](std::size_t block, std::size_t op, auto change) {
    Program right = left;
    ThreadBlock &there = right.ranks[0].blocks[block];
    change(there, there.ops[op]);
    const auto text = account(left, right);
    const std::string start = "rank 0, block " + std::to_string(block) + ", operation " + std::to_string(op) + " (" +
                              std::string(toString(left.ranks[0].blocks[block].ops[op].kind)) + "): ";
    REQUIRE_THAT(text, Catch::Matchers::StartsWith(start));
    return text.substr(start.size());
  };
  const auto first = [](ThreadBlock &b, Op &o) -> Chunk & { return b.operands(o)[0]; };
  CHECK(with(0, 9, [&](ThreadBlock &b, Op &o) { first(b, o).index = 2; }) ==
        "src_buff[0] is input[0:1], but input[2:3] in golden.json\n");
  CHECK(with(0, 9, [](ThreadBlock &, Op &o) { o.groupSize = 0, o.groupIndex = 0; }) ==
        "tbg_info is slice 1 of 4, but none in golden.json\n");
  CHECK(with(0, 12, [](ThreadBlock &, Op &o) { o.reduceOp = ReduceOp::Max; }) ==
        "reduce_op is min, but max in golden.json\n");
  CHECK(with(0, 21, [](ThreadBlock &b, Op &o) { b.operands(o)[1].index = 0; }) ==
        "dst_buff[0] is switch channel 0[3:4], but switch channel 0[0:1] in golden.json\n");
  CHECK(with(0, 15, [](ThreadBlock &, Op &o) { --o.numDsts; }) ==
        "dst_buff is [output[0:1], rank 2's output[0:1], rank 1's output[0:1]], but [output[0:1], rank 2's "
        "output[0:1]] in golden.json\n");
  CHECK(with(1, 1, [](ThreadBlock &, Op &o) { o.count = 3; }) ==
        "iter_context.num_chunks is 2, but 3 in golden.json\n");
  CHECK(with(1, 0, [](ThreadBlock &, Op &o) { o.imm = 1; }) == "barrier_id is 0, but 1 in golden.json\n");
  CHECK(with(0, 2, [](ThreadBlock &b, Op &o) { b.idsOf(o)[1] = 0; }) ==
        "semaphore_ids is [0, 1], but [0, 0] in golden.json\n");
}

TEST_CASE("an operation on one side only is one difference") {
  const Program left = everyOperation();
  Program right = left;
  auto &ops = right.ranks[0].blocks[0].ops;
  ops.insert(ops.begin() + 5, op(OpKind::Nop));
  CHECK(account(left, right) == "rank 0, block 0, operation 5 (nop): only golden.json has {\"name\": \"nop\"}\n");
  CHECK(account(right, left) == "rank 0, block 0, operation 5 (nop): {\"name\": \"nop\"} is not in golden.json\n");
}

TEST_CASE("an operation before a pipeline is not one inside it") {
  const auto program = [](bool inside) {
    Program made = nops(0);
    ThreadBlock &block = made.ranks[0].blocks[0];
    if (!inside)
      block.append(op(OpKind::Nop));
    block.append(pipeline(1, 1, inside ? 1 : 0));
    if (inside)
      block.append(op(OpKind::Nop));
    return made;
  };
  CHECK(json::comparePlans(program(true), program(false)).total == 2);
  Program shorter = program(true);
  shorter.ranks[0].blocks[0].ops[0].bodySize = 0; // the nop now follows the loop
  CHECK(json::comparePlans(program(true), shorter).total == 2);
}

TEST_CASE("differences of one source line, or of one place on several ranks, are one") {
  Program left = nops(6);
  left.ranks.push_back(left.ranks[0]);
  Program right = left;
  for (Rank &rank : right.ranks)
    rank.blocks[0].ops.pop_back();
  auto comparison = json::comparePlans(left, right);
  CHECK(comparison.total == left.ranks.size());
  REQUIRE(comparison.differences.size() == 1);
  CHECK(comparison.differences[0].others == left.ranks.size() - 1);

  const auto file = left.sources.addFile("ring.cpp");
  const LocId first = left.sources.addPlace(file, 14, 7), second = left.sources.addPlace(file, 15, 7);
  auto &ops = left.ranks[1].blocks[0].ops;
  ops[3].loc = left.sources.merge(first, second);
  ops[4].loc = first;
  ops[5].loc = second;
  right = left;
  for (Op &there : right.ranks[1].blocks[0].ops)
    there = barrier(0, 2);
  comparison = json::comparePlans(left, right, {.limit = 100});
  const auto at = [&](LocId place) {
    std::uint64_t count = 0;
    for (const json::PlanDifference &difference : comparison.differences)
      if (difference.kind == Kind::OnlyLeft && left.sources.firstPlace(difference.loc) == place)
        count += 1 + difference.others;
    return count;
  };
  CHECK(at(first) == 2);
  CHECK(at(second) == 1);
}

TEST_CASE("all differences are counted, the first ones told") {
  Program left = nops(300), right = nops(300);
  for (Op &nop : right.ranks[0].blocks[0].ops)
    nop = barrier(0, 2);
  const auto comparison = json::comparePlans(left, right, {.ignoreName = true, .limit = 3});
  CHECK(comparison.total == 600);
  REQUIRE(comparison.differences.size() == 3);
  CHECK(comparison.differences[2].kind == Kind::OnlyLeft);
  right = nops(300);
  right.name = "other";
  CHECK(json::comparePlans(left, right, {.ignoreName = true, .limit = 3}).equal());
}

TEST_CASE("of another number of ranks nothing else is told") {
  const Program left = everyOperation();
  Program right = left;
  right.ranks.pop_back();
  right.ranks[0].inputChunks += 1;
  CHECK(account(left, right) == "number of gpus is 3, but 2 in golden.json\n");
}
