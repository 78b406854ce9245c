// Tests that operations of one shape do the same, whatever they name.
#include "catch.h"

#include "ir/shape_classes.h"

#include <functional>
#include <vector>

using namespace mscclc::ir;

namespace {

/// A rank with a block that puts, signals and meets another.
Rank rankOf(std::uint32_t peer) {
  Rank rank;
  rank.inputChunks = rank.outputChunks = 8;
  rank.memoryPeers = {peer, peer};
  rank.remoteBuffers = {{peer, BufferKind::Output, true, false}, {peer, BufferKind::Scratch, true, false}};
  rank.switchChannels = {{BufferKind::Output, {0, 1}}, {BufferKind::Output, {0, 1, 2}}};
  ThreadBlock &block = rank.blocks.emplace_back();
  const Chunk from{ChunkSpace::Input, peer, 1, 0}, to{ChunkSpace::Remote, peer, 1, 0}, all{ChunkSpace::Switch, 0, 1, 0},
      own{ChunkSpace::Output, peer, 1, 0};
  const std::uint32_t id = peer % 2;
  block.append({.kind = OpKind::Put, .channelType = ChannelType::Memory}, {&from, 1}, {&to, 1});
  block.append({.kind = OpKind::Signal, .channelType = ChannelType::Memory}, {}, {}, {&id, 1});
  block.append({.kind = OpKind::SwitchBroadcast, .channelType = ChannelType::Switch}, {&from, 1}, {&all, 1});
  block.append({.kind = OpKind::Barrier, .imm = peer});
  block.append({.kind = OpKind::Pipeline, .imm = 4096, .count = 1, .bodySize = 1});
  block.append({.kind = OpKind::Copy}, {&from, 1}, {&own, 1});
  return rank;
}

Shape shapeOfBlock(const Rank &rank) {
  return shapeOf(rank, rank.blocks[0]);
}

} // namespace

TEST_CASE("what names other things has the same shape") {
  ShapeClasses classes;
  for (std::uint32_t peer = 0; peer < 5; ++peer)
    CHECK(classes.of(shapeOfBlock(rankOf(peer))) == 0);
  CHECK(classes.size() == 1);
}

TEST_CASE("the place of the first source in a sum is a number, as ranks have different ones") {
  Rank other = rankOf(1);
  other.blocks[0].ops[2].firstAfter = 1;
  CHECK(shapeOfBlock(other) == shapeOfBlock(rankOf(1)));
}

TEST_CASE("what does something else has another shape") {
  const std::vector<std::function<void(Rank &)>> changes{
      [](Rank &rank) { rank.blocks[0].append({.kind = OpKind::Nop}); },
      [](Rank &rank) { rank.blocks[0].ops[0].kind = OpKind::Get; },
      [](Rank &rank) { rank.blocks[0].ops[1].channelType = ChannelType::Port; },
      [](Rank &rank) { rank.blocks[0].ops[1].sync = DataSync::Before; },
      [](Rank &rank) { rank.blocks[0].ops[1].numIds = 0; },
      [](Rank &rank) { rank.blocks[0].ops[2].reduceOp = ReduceOp::Max; },
      [](Rank &rank) { rank.blocks[0].ops[2].groupSize = 2; },
      [](Rank &rank) { rank.blocks[0].ops[4].imm = 8192; },
      [](Rank &rank) { rank.blocks[0].ops[4].count = 2; },
      [](Rank &rank) { rank.blocks[0].ops[4].bodySize = 0; },
      [](Rank &rank) { rank.blocks[0].chunks[0].size = 2; },
      [](Rank &rank) { rank.blocks[0].chunks[0].space = ChunkSpace::Scratch; },
      [](Rank &rank) { rank.blocks[0].chunks[1].id = 1; },  // another buffer
      [](Rank &rank) { rank.blocks[0].chunks[3].id = 1; }}; // a group of more ranks
  constexpr std::uint32_t ofOperations = 10;                // the others are of chunks
  ShapeClasses classes, operations;
  CHECK(classes.of(shapeOfBlock(rankOf(1))) == 0);
  CHECK(operations.of(operationsOf(rankOf(1))) == 0);
  for (std::uint32_t i = 0; i < changes.size(); ++i) {
    Rank rank = rankOf(1);
    changes[i](rank);
    INFO("change " << i);
    CHECK(classes.of(shapeOfBlock(rank)) == i + 1);
    CHECK(operations.of(operationsOf(rank)) == (i < ofOperations ? i + 1 : 0));
  }
  CHECK(classes.of(shapeOfBlock(rankOf(0))) == 0);
  Rank rank = rankOf(1);
  rank.blocks.emplace_back();
  CHECK(operations.of(operationsOf(rank)) == operations.size() - 1);
}
