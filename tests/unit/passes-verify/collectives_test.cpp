// Every row of the table of collectives, through the proof and the simulator: a program that does what the row says
// is right in both, and one that leaves any output out is wrong in both.
#include "prove.h"

#include "ir/collectives.h"
#include "passes/simulate/simulate.h"

using namespace plan;
using namespace mscclc::passes;

namespace {

constexpr std::uint32_t numRanks = 3, factor = 2, root = 1;

/// Every rank reads what its outputs want; of those, number `leftOut` is left out.
Program fetching(CollectiveKind kind, std::size_t leftOut = ~std::size_t{0}) {
  const auto chunks = [](Extent extent) { return extent == Extent::Whole ? numRanks * factor : factor; };
  Plan p(kind, numRanks, chunks(info(kind).input), chunks(info(kind).output));
  p.program.collective.root = root;
  p.program.collective.experts = info(kind).hasExperts ? 1 : 0;
  p.connectAll();
  const WantedOutputs wanted(p.program);
  std::vector<Contribution> inputs;
  std::size_t number = 0;
  for (std::uint32_t r = 0; r < numRanks; ++r) {
    Block b = p.on(r);
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels()).nop();
    for (std::uint32_t chunk = 0; chunk < p.program.ranks[r].outputChunks; ++chunk) {
      wanted.of(r, chunk, inputs);
      if (inputs.empty() || number++ == leftOut)
        continue;
      Chunks far;
      std::optional<Chunk> near;
      Ids channels;
      for (const Contribution &c : inputs)
        if (c.rank == r) {
          near = in(c.chunk);
        } else {
          far.push_back(b.of(c.rank, BufferKind::Input, c.chunk));
          channels.push_back(c.rank - (c.rank > r));
        }
      if (near && far.empty()) {
        b.copy(out(chunk), *near);
      } else if (near) {
        far.insert(far.begin(), *near);
        b.remote(OpKind::ReadReduce, {out(chunk)}, far);
      } else {
        b.remote(OpKind::Get, {out(chunk)}, far, ChannelType::Memory, channels);
      }
    }
    b.nop().relaxedSignal(p.allChannels()).relaxedWait(p.allChannels());
  }
  return p.program;
}

/// Output chunks of all ranks that the table asks for something.
std::size_t numWanted(CollectiveKind kind) {
  const Program program = fetching(kind);
  const WantedOutputs wanted(program);
  std::vector<Contribution> inputs;
  std::size_t n = 0;
  for (std::uint32_t r = 0; r < numRanks; ++r)
    for (std::uint32_t chunk = 0; chunk < program.ranks[r].outputChunks; ++chunk) {
      wanted.of(r, chunk, inputs);
      n += !inputs.empty();
    }
  return n;
}

struct Run {
  SimulateResult result;
  std::string text;
};
Run simulated(const Program &program) {
  DiagnosticEngine diags;
  Run run{simulate(program, diags, {.schedules = 5}), ""};
  run.text = diags.render(false);
  return run;
}

} // namespace

TEST_CASE("a program that does what the table says is proven, and runs right") {
  for (std::size_t i = 0; i < collectiveInfos.size(); ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    if (!hasChunkFactor(kind))
      continue;
    const Program program = fetching(kind);
    const Proof proof = prove(program);
    const Run run = simulated(program);
    CAPTURE(toString(kind), proof.text, run.text);
    CHECK(proof.result.proven);
    CHECK(proof.result.results == numWanted(kind));
    CHECK(proof.result.unstated == 0);
    CHECK(run.result.ok);
    CHECK(run.result.compared);
  }
}

TEST_CASE("a program that leaves out one output is refused, and runs wrong") {
  for (std::size_t i = 0; i < collectiveInfos.size(); ++i) {
    const auto kind = static_cast<CollectiveKind>(i);
    if (!hasChunkFactor(kind))
      continue;
    for (std::size_t leftOut = 0; leftOut < numWanted(kind); ++leftOut) {
      const Program program = fetching(kind, leftOut);
      const Proof proof = prove(program);
      const Run run = simulated(program);
      CAPTURE(toString(kind), leftOut, proof.text, run.text);
      CHECK(proof.has("result_unwritten"));
      CHECK_FALSE(run.result.ok);
    }
  }
}

TEST_CASE("what is asked of nothing is not called right") {
  for (const CollectiveKind kind : {CollectiveKind::Test, CollectiveKind::Custom}) {
    Plan p(kind, 1, 1, 1);
    p.on(0).copy(out(0), in(0));
    const Run run = simulated(p.program);
    CHECK(run.result.ok);
    CHECK_FALSE(run.result.compared);
    CHECK(run.result.summary() == "ran, compared with nothing: 2 sizes, 10 schedules");
    CHECK(run.result.table().find("  ran\n") != std::string::npos);
    CHECK(run.result.table().find("yes") == std::string::npos);
  }
}

TEST_CASE("a plan that names no root is not held to the collective of its name") {
  Plan p(CollectiveKind::Custom, 1, 1, 1);
  p.on(0).copy(out(0), in(0));
  p.program.collective.name = "broadcast";
  const Proof proof = prove(p.program);
  CHECK(proof.result.proven);
  CHECK(proof.says("warning: 'broadcast' is read as a custom collective that states no result: its 1 output chunk on "
                   "1 rank are not compared with anything; write 'broadcast' and its root if that is intended"));
}
