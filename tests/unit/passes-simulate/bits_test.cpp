// Runs end with the bits of the trees that the proof has found.
#include "../passes-verify/algorithms.h"
#include "../passes-verify/prove.h"

#include "passes/simulate/simulate.h"
#include "passes/verify/sum_steps.h"

using namespace plan;
using namespace mscclc::passes;

namespace {

OutputSums sumsOf(const Program &program) {
  std::optional<OutputSums> sums;
  VerifyOptions options{.oneSize = true}; // some are not safe at several sizes in turn
  options.atEnd = [&](const proof::FinalBuffers &end) {
    if (sums)
      keepCommon(*sums, outputSums(end));
    else
      sums = outputSums(end);
  };
  CHECK(prove(program, options).result.proven);
  return sums.value();
}

constexpr std::string_view floats[] = {"f32", "f16", "bf16", "f64", "f8e4m3", "f8e5m2"};

SimulateResult run(const Program &program, std::string_view type, const OutputSums &sums, std::uint64_t seed = 1) {
  DiagnosticEngine diags;
  SimulateOptions options{.type = *parseDataType(type), .schedules = 10, .seed = seed, .inTurn = false};
  options.sums = &sums;
  SimulateResult result = simulate(program, diags, options);
  CAPTURE(type, diags.render(false));
  CHECK(result.ok == !diags.hasErrors());
  return result;
}

/// Each rank sums the inputs of all, which it reads, in this order: from its own on, or as ranks are numbered.
Plan oneShot(std::uint32_t n, bool rotated, bool twoSteps) {
  Plan p(CollectiveKind::AllReduce, n, n, n, false, n * n + n);
  p.connectAll();
  for (std::uint32_t r = 0; r < n; ++r) {
    Block b = p.on(r);
    Chunks from, to;
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != r)
        for (std::uint32_t c = 0; c < n; ++c) {
          from.push_back(b.of(q, BufferKind::Input, c));
          to.push_back(scratch(q * n + c));
        }
    b.relaxedSignal(p.allChannels()).relaxedWait(p.allChannels());
    for (std::uint32_t c = 0; c < n; ++c)
      b.copy(scratch(r * n + c), in(c));
    b.nop();
    for (std::size_t i = 0; i < from.size(); ++i)
      b.remote(OpKind::Get, {to[i]}, {from[i]}, ChannelType::Memory, {static_cast<std::uint32_t>(i / n)});
    b.nop();
    for (std::uint32_t c = 0; c < n; ++c) {
      Chunks parts;
      for (std::uint32_t q = 0; q < n; ++q)
        parts.push_back(scratch((rotated ? r + q : q) % n * n + c));
      if (twoSteps) {
        b.reduce(scratch(n * n + c), {parts[0], parts[1]}).nop();
        parts.erase(parts.begin());
        parts[0] = scratch(n * n + c);
      }
      b.reduce(out(c), parts);
    }
    b.nop().relaxedSignal(p.allChannels()).relaxedWait(p.allChannels());
  }
  return p;
}

} // namespace

TEST_CASE("every type ends with the bits of the trees") {
  for (const Named &named : all()) {
    if (named.name == "allReduceOneSlot") // its scratch takes 64 MiB
      continue;
    const Program program = named.make().program;
    const OutputSums sums = sumsOf(program);
    for (const std::string_view type : floats) {
      CAPTURE(named.name, type);
      const SimulateResult result = run(program, type, sums);
      CHECK(result.ok);
      CHECK(std::ranges::count(result.rows, true, &SimulateRow::bits) ==
            (sums.trees.empty() ? 0 : static_cast<std::ptrdiff_t>(result.rows.size() / 2)));
    }
  }
  for (const bool rotated : {false, true})
    for (const bool twoSteps : {false, true}) {
      const Program program = oneShot(4, rotated, twoSteps).program;
      for (const std::string_view type : floats)
        CHECK(run(program, type, sumsOf(program)).ok);
    }
}

TEST_CASE("two leaves of a tree that are exchanged are seen in every run") {
  for (const std::string_view type : floats) {
    // Of f8e4m3 an operation adds without rounding, so that only what operations narrow shows.
    const Program program = oneShot(4, false, type == "f8e4m3").program;
    const OutputSums sums = sumsOf(program);
    REQUIRE(sums.trees.size() == 4); // one for each chunk
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      OutputSums wrong = sums;
      for (SumSteps &tree : wrong.trees) {
        const auto leaf = [&](std::size_t step) {
          const SumSteps::Step &s = tree.steps[step];
          return s.a < tree.inputs.size() ? s.a : s.b;
        };
        std::swap(tree.inputs[leaf(0)], tree.inputs[leaf(tree.steps.size() - 1)]);
      }
      CAPTURE(type, seed);
      DiagnosticEngine diags;
      SimulateOptions options{
          .sizes = {4096}, .type = *parseDataType(type), .schedules = 1, .seed = seed, .inTurn = false};
      options.sums = &wrong;
      const SimulateResult result = simulate(program, diags, options);
      CHECK(result.rows[0].ok);
      CHECK_FALSE(result.rows[1].ok);
      CHECK(diags.render(false).find("at 4096 bytes, bit by bit: launch 1 leaves") != std::string::npos);
    }
  }
}

TEST_CASE("where a sum is narrowed shows, too") {
  const Program once = oneShot(4, false, false).program, twice = oneShot(4, false, true).program;
  for (const std::string_view type : {"f16", "bf16", "f8e4m3", "f8e5m2"}) {
    DiagnosticEngine diags;
    SimulateOptions options{.sizes = {4096}, .type = *parseDataType(type), .schedules = 1, .inTurn = false};
    const OutputSums sums = sumsOf(twice);
    options.sums = &sums;
    CAPTURE(type);
    CHECK_FALSE(simulate(once, diags, options).ok);
    CHECK(simulate(twice, diags, options).ok);
  }
}
