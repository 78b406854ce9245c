// Ids and the order of tables, which plans show.
#include "ported_programs.h"
#include "recorded.h"
#include "shown_ops.h"

using namespace mscclc;
using namespace mscclc::frontend;
using Lines = std::vector<std::string>;
using Uses = std::vector<ir::ResourceUse>;

namespace {
const ir::Rank &rank0() {
  static const Outcome outcome = run(ported::tables);
  return outcome.program->ranks[0];
}
} // namespace

TEST_CASE("channels are numbered in the order of construction, by rank and type") {
  CHECK(rank0().memoryPeers == std::vector<std::uint32_t>{3, 2, 1});
  CHECK(rank0().portPeers == std::vector<std::uint32_t>{3, 2, 1});
  CHECK_FALSE(rank0().portChannelsFirst);
  CHECK(run(ported::tables).program->ranks[1].portChannelsFirst);
}

TEST_CASE("remote buffers are numbered in the order of first use by the rank") {
  using ir::BufferKind;
  CHECK(rank0().remoteBuffers == std::vector<ir::RemoteBuffer>{{1, BufferKind::Scratch, true, true},
                                                               {1, BufferKind::Output, true, false},
                                                               {2, BufferKind::Input, true, false},
                                                               {2, BufferKind::Output, true, false},
                                                               {3, BufferKind::Output, true, true}});
}

TEST_CASE("a block's tables hold what it uses, in the order of first use") {
  CHECK(rank0().blocks[2].channels ==
        Uses{{ir::ChannelType::Port, 2}, {ir::ChannelType::Memory, 2}, {ir::ChannelType::Memory, 1}});
  CHECK(rank0().blocks[2].remoteBuffers == Uses{{ir::ChannelType::Port, 0},
                                                {ir::ChannelType::Memory, 0},
                                                {ir::ChannelType::Memory, 1},
                                                {ir::ChannelType::Memory, 2},
                                                {ir::ChannelType::Memory, 3}});
  CHECK(rank0().blocks[5].channels == Uses{{ir::ChannelType::Memory, 2}});
  CHECK(rank0().blocks[5].remoteBuffers == Uses{{ir::ChannelType::Memory, 1}});
  CHECK(rank0().blocks[1].channels == Uses{{ir::ChannelType::Memory, 2}, {ir::ChannelType::Memory, 0}});
}

TEST_CASE("scratch buffers lie behind one another") {
  const Outcome outcome = run(ported::tables);
  CHECK(outcome.program->ranks[1].scratchChunks == 5);
  CHECK(show(*outcome.program, 0, 2)[0] == "put port remote0[4:5] <- i[0:1] {2}");
}

TEST_CASE("barriers are numbered by their blocks, in the order of first use") {
  const Outcome outcome = run(ported::tables);
  CHECK(show(*outcome.program, 0, 3) == Lines{"nop"});
  CHECK(show(*outcome.program, 0, 5).back() == "barrier 1 of 2");
  const Outcome orders = runIn(2, [] {
    Rank(0).barrier({1, 0});
    Rank(0).barrier({0, 1, 2});
    Rank(0).barrier({0, 1});
    Rank(1).barrier({1, 2});
  });
  CHECK(show(*orders.program, 0, 0) == Lines{"barrier 0 of 2", "barrier 1 of 3", "barrier 0 of 2"});
  CHECK(show(*orders.program, 1, 1) == Lines{"barrier 0 of 2"});
}

TEST_CASE("blocks below the highest one exist, empty") {
  const Outcome outcome = run(ported::tables);
  CHECK(outcome.program->ranks[0].blocks.size() == 8);
  CHECK(outcome.program->ranks[0].blocks[4].ops.empty());
  CHECK(outcome.program->ranks[3].blocks.empty());
}

TEST_CASE("a loop collects the operations of each block behind one header") {
  const Outcome outcome = run(ported::tables);
  CHECK(show(*outcome.program, 0, 1) == Lines{"get memory s[0:2] <- remote0[1:3] {2}", "barrier 0 of 2",
                                              "pipeline 4096 x 7 body 2", "put memory remote4[0:1] <- s[1:2]",
                                              "barrier 0 of 2", "signal memory {0}"});
  CHECK(show(*outcome.program, 0, 7) ==
        Lines{"pipeline 4096 x 7 body 1", "pws port remote4[1:2] <- s[1:2] {0}", "wait port {0} both"});
}

TEST_CASE("memory is reserved exactly") {
  const Outcome outcome = run(ported::allreducePipeline);
  for (const ir::ThreadBlock &block : outcome.program->ranks[0].blocks) {
    CHECK(block.ops.capacity() == block.ops.size());
    CHECK(block.chunks.capacity() == block.chunks.size());
    CHECK(block.ids.capacity() == block.ids.size());
  }
}
