// Tests that instances and ranks take as long as the one that is simulated for all of them.
#include "timed.h"

#include "ir/movement.h"
#include "passes/analysis/block_symmetry.h"
#include "passes/pass_manager.h"
#include "passes/time/fold_ranks.h"

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <utility>

using namespace mscclc::passes::time;
using namespace mscclc;

namespace {

constexpr std::uint32_t ranks = 4, chunks = 4;

/// `program` with its statements scheduled.
ir::Program scheduled(ir::Program program) {
  passes::PassManager manager({}, passes::propertiesOf(program));
  REQUIRE(manager.add("place,order,cut,synchronise,fuse,lower-data-sync,infer-sync,replicate-instances") == "");
  ir::DiagnosticEngine diagnostics;
  const bool ok = manager.run(program, diagnostics).ok;
  INFO(diagnostics.render(false));
  REQUIRE(ok);
  return program;
}

class RandomPrograms {
public:
  explicit RandomPrograms(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

  /// Independent random statements, in `instances`.
  ir::Program any(std::uint32_t instances, bool twoNodes = false) {
    ir::Program program = empty(instances, twoNodes);
    for (std::uint32_t i = 0; i < ranks * chunks; ++i)
      append(program, {i / chunks, ir::BufferKind::Output, i % chunks, 1}, input(), input(), below(2) == 0);
    if (twoNodes)
      append(program, {0, ir::BufferKind::Output, 0, 1}, {}, {ranks - 1, ir::BufferKind::Input, 0, 1}, false);
    return scheduled(std::move(program));
  }
  /// Each rank has its own copy of every statement, with ranks counted from itself around the ring.
  ir::Program alike(std::uint32_t instances, bool twoNodes) {
    ir::Program program = empty(instances, twoNodes);
    for (std::uint32_t i = 0; i < chunks; ++i) {
      const ir::RankChunk first = input(), second = input();
      const bool reduces = below(2) == 0;
      for (std::uint32_t r = 0; r < ranks; ++r)
        append(program, {r, ir::BufferKind::Output, (i + r) % chunks, 1}, moved(first, r), moved(second, r), reduces);
    }
    return scheduled(std::move(program));
  }

private:
  ir::Program empty(std::uint32_t instances, bool twoNodes) {
    ir::Program program;
    program.name = "t";
    program.collective.name = "test";
    program.schedule = ir::Schedule::Auto;
    program.instances = instances;
    program.protocol = below(2) == 0 ? ir::Protocol::LL : ir::Protocol::Simple;
    program.ranks.resize(ranks);
    for (ir::Rank &rank : program.ranks)
      rank.inputChunks = rank.outputChunks = chunks;
    program.movement.ranksPerNode = twoNodes ? 1 : 0;
    program.movement.pull = below(2) == 0;
    program.movement.blocks = 1 + below(3);
    return program;
  }
  ir::RankChunk input() { return {below(ranks), ir::BufferKind::Input, below(chunks), 1}; }
  static ir::RankChunk moved(ir::RankChunk chunk, std::uint32_t by) {
    chunk.rank = (chunk.rank + by) % ranks;
    chunk.index = (chunk.index + by) % chunks;
    return chunk;
  }
  static void append(ir::Program &program, ir::RankChunk dst, ir::RankChunk first, ir::RankChunk second, bool reduces) {
    if (reduces && !(first == second))
      program.movement.append({.kind = ir::MoveKind::Reduce}, std::array{first, second}, {&dst, 1});
    else
      program.movement.append({.kind = ir::MoveKind::Copy}, {&second, 1}, {&dst, 1});
  }

  std::mt19937 random_;
};

/// The bytes of the resources of each kind and rank, in ascending order.
std::map<std::pair<Cause, std::uint32_t>, std::vector<double>> bytesOf(const Timeline &timeline) {
  std::map<std::pair<Cause, std::uint32_t>, std::vector<double>> bytes;
  for (const Traffic &traffic : timeline.traffic)
    bytes[{traffic.kind, traffic.rank}].push_back(traffic.bytes);
  for (auto &[resource, all] : bytes)
    std::ranges::sort(all);
  return bytes;
}

/// Checks that an estimate by rank 0 alone has the times and the traffic of one by all ranks.
void checkSameEstimate(const ir::Program &program, const Machine &machine, std::uint64_t bytes) {
  const Estimate all = estimate(program, machine, Runner::Kernel, bytes),
                 one = estimate(program, machine, Runner::Kernel, bytes, Detail::Folded);
  CHECK(std::abs(all.total - one.total) <= 1e-9 * all.total);
  CHECK(std::abs(all.linkBound - one.linkBound) <= 1e-9 * all.linkBound);
  CHECK(std::abs(all.latencyBound - one.latencyBound) <= 1e-9 * all.latencyBound);
  const std::size_t copies = foldRanks(ir::ProgramIndex(program), machine) ? program.ranks.size() : 1;
  CHECK(all.timeline.spans.size() == copies * one.timeline.spans.size());
  const auto there = bytesOf(all.timeline), here = bytesOf(one.timeline);
  REQUIRE(there.size() == here.size());
  for (const auto &[resource, moved] : there) {
    REQUIRE(here.contains(resource));
    REQUIRE(here.at(resource).size() == moved.size());
    for (std::size_t i = 0; i < moved.size(); ++i)
      CHECK(std::abs(here.at(resource)[i] - moved[i]) <= 1e-9 * moved[i]);
  }
}

constexpr std::array<std::uint64_t, 3> sizes{4096, 1 << 20, 1 << 26};

/// Checks the figures of a launch at all sizes, and estimates at `estimated` bytes; 0: at all sizes, too. Estimates
/// take most of the time.
void checkSame(const ir::Program &program, const Machine &machine, Folding folding, std::uint64_t estimated = 0) {
  for (const std::uint64_t bytes : sizes) {
    const LaunchFigures all = launchFigures(program, machine, Runner::Kernel, bytes),
                        one = launchFigures(program, machine, Runner::Kernel, bytes, folding);
    INFO(folding.instances << " instances, " << bytes << " bytes");
    CHECK(std::abs(all.total - one.total) <= 1e-9 * all.total);
    CHECK(std::abs(all.linkBytes - one.linkBytes) <= 1e-9 * all.linkBytes);
    if (folding.ranks && (estimated == 0 || estimated == bytes))
      checkSameEstimate(program, machine, bytes);
  }
}

/// Returns the symmetry of the ranks of a program, as far as `machine` treats them alike.
passes::BlockSymmetry symmetryOf(const ir::Program &program, const Machine &machine) {
  const RankNodes nodes(program, machine);
  return {ir::ProgramIndex(program),
          [&](std::uint32_t rank, std::uint32_t other) { return nodes.areTogether(rank, other); }};
}

/// Checks the definition: operations name the images of channels, and the other end of an image is an image, too.
void checkImages(const ir::Program &program, const passes::BlockSymmetry &symmetry) {
  const ir::ProgramIndex index(program);
  for (std::uint32_t rank = 0; rank < index.numRanks(); ++rank) {
    CHECK(symmetry.representative(rank) == 0);
    for (std::size_t b = 0; b < program.ranks[0].blocks.size(); ++b) {
      const ir::ThreadBlock &first = program.ranks[0].blocks[b], &block = program.ranks[rank].blocks[b];
      REQUIRE(first.ops.size() == block.ops.size());
      for (std::size_t o = 0; o < first.ops.size(); ++o) {
        const ir::Op &op = first.ops[o];
        CHECK(op.kind == block.ops[o].kind);
        for (std::size_t i = 0; op.channelType != ir::ChannelType::None && i < op.numIds; ++i)
          CHECK(symmetry.imageOfChannel(op.channelType, first.idsOf(op)[i], rank) == block.idsOf(block.ops[o])[i]);
      }
    }
    for (const ir::ChannelType type : {ir::ChannelType::Memory, ir::ChannelType::Port})
      for (std::uint32_t id = 0; id < program.ranks[0].peers(type).size(); ++id) {
        const std::uint32_t end = symmetry.otherEnds()[type == ir::ChannelType::Port][id];
        const std::uint32_t image = symmetry.imageOfChannel(type, id, rank);
        if (end == ir::none || image == ir::none)
          continue;
        const std::uint32_t peer = program.ranks[rank].peers(type)[image];
        CHECK(index.pairOf(index.channel(type, rank, image)) ==
              index.channel(type, peer, symmetry.imageOfChannel(type, end, peer)));
      }
  }
}

TEST_CASE("one instance is walked for all", "[slow]") {
  RandomPrograms random(20);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t instances = 2u << random.below(3);
    const ir::Program program = random.any(instances);
    REQUIRE(passes::areInstancesSymmetric(program.ranks, instances));
    for (const bool mesh : {false, true}) {
      Machine machine = roundMachine();
      machine.mesh = mesh;
      checkSame(program, machine, {.instances = instances});
    }
  }
}

TEST_CASE("one rank is walked for all", "[slow]") {
  RandomPrograms random(21);
  int found = 0; // programs that came out so
  for (int round = 0; round < 120; ++round) {
    const bool twoNodes = round % 2 != 0;
    const std::uint32_t instances = 1u << random.below(3);
    const ir::Program program = random.alike(instances, twoNodes);
    Machine machine = roundMachine();
    machine.gpusPerNode = twoNodes ? 1 : ranks;
    machine.nodes = twoNodes ? ranks : 1;
    INFO("round " << round);
    if (const passes::BlockSymmetry symmetry = symmetryOf(program, machine); symmetry.holds()) {
      ++found;
      checkImages(program, symmetry);
    }
    for (const bool mesh : {false, true}) {
      machine.mesh = mesh;
      checkSame(program, machine, {.instances = instances, .ranks = true}, sizes[round / 2 % sizes.size()]);
    }
  }
  CHECK(found >= 80);
}

/// Two ranks whose blocks 0 and 1 tell each other crosswise: rank 1 numbers its channels the other way round. Block 0
/// puts twice as much; `answers`: block 1 of rank 1 waits on this channel.
ir::Program crossed(int answers) {
  std::string text;
  for (const int r : {0, 1}) {
    const std::string peer = std::to_string(1 - r);
    text += "rank " + std::to_string(r) + " {\nbuffers input 3 output 3 scratch 0\nmemory_channels [" + peer + ", " +
            peer + "]\nremote0 = " + peer + ".output via memory\n";
    for (const int b : {0, 1}) {
      const std::string channel = std::to_string(r == 0 ? b : 1 - b), chunks = b == 0 ? "[0:2]" : "[2:3]";
      const std::string waits = r == 1 && b == 1 ? std::to_string(answers) : channel;
      text += "block " + std::to_string(b) +
              " {\nchannels [memory 0, memory 1]\nremotes [memory 0]\nput memory remote0" + chunks + " <- input" +
              chunks + "\nnop\nsignal memory [" + channel + "]\nwait memory [" + waits + "]\n}\n";
    }
    text += "}\n";
  }
  return programOf(text);
}

TEST_CASE("ranks that number their channels differently do the same") {
  const ir::Program program = crossed(0);
  const passes::BlockSymmetry symmetry = symmetryOf(program, roundMachine());
  REQUIRE(symmetry.holds());
  checkImages(program, symmetry);
  // What rank 0's block 0 tells, a block 1 hears.
  CHECK(symmetry.otherEnds()[0] == std::vector<std::uint32_t>{1, 0});
  CHECK(symmetry.otherEnds()[1].empty());
  checkSame(program, roundMachine(), {.ranks = true});
  // One channel cannot be the image of two.
  CHECK(!symmetryOf(crossed(1), roundMachine()).holds());
}

TEST_CASE("what differs is walked by itself") {
  RandomPrograms random(7);
  ir::Program program = random.alike(4, false);
  CHECK(passes::areInstancesSymmetric(program.ranks, 4));
  CHECK(passes::areInstancesSymmetric(program.ranks, 2)); // the first of each four, and the third
  CHECK(!passes::areInstancesSymmetric(program.ranks, 0));
  CHECK(!passes::areInstancesSymmetric(program.ranks, 3));
  CHECK(symmetryOf(program, roundMachine()).holds());
  program.ranks[2].blocks.back().chunks.back().size *= 2;
  CHECK(!passes::areInstancesSymmetric(program.ranks, 4));
  CHECK(!symmetryOf(program, roundMachine()).holds());
  CHECK(launchTime(program, roundMachine(), Runner::Kernel, 1 << 26) ==
        launchFigures(program, roundMachine(), Runner::Kernel, 1 << 26, {.instances = 4, .ranks = true}).total);
  // Instances that reach other ranks.
  ir::Program apart = random.alike(4, false);
  std::uint32_t &peer = apart.ranks[1].memoryPeers.at(1);
  peer = peer == 0 ? 2 : 0;
  CHECK(!passes::areInstancesSymmetric(apart.ranks, 4));
  // A rank's proxy takes what its blocks ask for one after the other.
  CHECK(!passes::areInstancesSymmetric(random.any(4, true).ranks, 4));
  // Ranks that are not as near to each other.
  Machine machine = roundMachine();
  const ir::Program ring = random.alike(1, false);
  machine.gpusPerNode = 3;
  machine.nodes = 2;
  CHECK(!symmetryOf(ring, machine).holds());
}

} // namespace
