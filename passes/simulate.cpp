#include "passes/simulate.h"

#include "passes/diagnostics.h"
#include "passes/sim/machine.h"
#include "passes/verify_diagnostics.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace mscclc::passes {

namespace {
constexpr std::array<std::string_view, 6> typeNames{"f32", "f16", "bf16", "i32", "u32", "u8"};
constexpr std::array<std::uint32_t, 6> typeSizes{4, 2, 2, 4, 4, 1};

/// A whole number with all of its digits, another one short.
std::string number(double value) {
  char text[40];
  const bool whole = value > -1e15 && value < 1e15 && value == static_cast<double>(static_cast<std::int64_t>(value));
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", value);
  return text;
}
} // namespace

std::string_view toString(DataType type) {
  return typeNames[static_cast<std::size_t>(type)];
}
std::uint32_t sizeOf(DataType type) {
  return typeSizes[static_cast<std::size_t>(type)];
}

std::optional<DataType> parseDataType(std::string_view words) {
  const auto it = std::find(typeNames.begin(), typeNames.end(), words);
  if (it == typeNames.end())
    return std::nullopt;
  return static_cast<DataType>(it - typeNames.begin());
}

namespace {

/// One size of a program. A program that does several reduce operations is right if its outputs are so for one of them:
/// what it does with the others may be of no account. The first schedule tells which.
class SizeRun {
public:
  SizeRun(const ir::Program &program, const sim::Layout &layout, const sim::Inputs &inputs,
          const std::vector<ir::ReduceOp> &ops, DataType type)
      : expected_(program, inputs, type, layout.chunkBytes()), machine_(program, layout, inputs, expected_, type),
        ops_(ops) {}

  sim::Outcome run(std::uint64_t seed, std::uint32_t launches) {
    expected_.use(ops_[0]);
    const sim::Outcome outcome = machine_.run(seed, launches);
    for (std::size_t i = 1; first_ && outcome.kind == sim::Outcome::Wrong && i < ops_.size(); ++i) {
      expected_.use(ops_[i]);
      if (machine_.run(seed, launches).kind != sim::Outcome::Right)
        continue;
      ops_ = {ops_[i]};
      return {};
    }
    first_ = false;
    return outcome;
  }

private:
  sim::Expected expected_;
  sim::Machine machine_;
  std::vector<ir::ReduceOp> ops_;
  bool first_ = true;
};

std::uint32_t schedulesOf(const SimulateOptions &options, std::uint64_t size) {
  constexpr std::uint32_t most = 100, least = 5;
  constexpr std::uint64_t shortest = 1u << 20; ///< of the messages that are worth fewer
  const auto worth = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(most * shortest / std::max<std::uint64_t>(size, 1), least, most));
  if (!options.schedules)
    return worth;
  // A size that nobody asked for, only so long that pipelines go round, is not worth more.
  return options.sizes.empty() && size > shortest ? std::min(*options.schedules, least) : *options.schedules;
}

} // namespace

SimulateResult simulate(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options) {
  SimulateResult result;
  result.ok = true;
  std::vector<std::uint64_t> sizes = options.sizes;
  if (sizes.empty())
    sizes = sim::smallSizes(program);
  const std::uint32_t launches = options.launches != 0 ? options.launches : program.doubleScratch ? 4 : 3;
  double total = 0, done = 0;
  for (const std::uint64_t size : sizes)
    total += schedulesOf(options, size);
  const std::vector<ir::ReduceOp> ops = sim::reduceOpsOf(program);
  const sim::Inputs inputs(options.type, sim::mostContributions(program), options.seed);
  for (const std::uint64_t size : sizes) {
    const std::uint32_t schedules = schedulesOf(options, size);
    SimulateRow row;
    row.size = size;
    const sim::Layout layout(program, size);
    std::optional<std::string> refusal = layout.refusal();
    if (!refusal && layout.chunkBytes() % sizeOf(options.type) != 0)
      refusal = "a chunk of " + std::to_string(layout.chunkBytes()) + " bytes holds no whole " +
                std::string(toString(options.type)) + " elements";
    if (refusal) {
      done += schedules;
      diags.report(proof::diag::size_refused, ir::Where(std::string(program.name)), {size, *refusal});
      result.ok = false;
      result.rows.push_back(row);
      continue;
    }
    SizeRun run(program, layout, inputs, ops, options.type);
    row.ok = true;
    bool stop = false;
    for (std::uint32_t s = 0; s < schedules && row.ok && !stop; ++s, ++done) {
      const sim::Outcome outcome = run.run(options.seed * 1'000'003 + s, launches);
      row.schedules = s + 1;
      row.maxError = std::max(row.maxError, outcome.maxError);
      using O = sim::Outcome;
      row.ok = outcome.kind == O::Right;
      if (outcome.kind == O::Hangs)
        diags.report(proof::diag::run_hangs, whereIs(program, outcome.place),
                     {s + 1, schedules, size, outcome.place.rank, outcome.place.block, outcome.waitsFor});
      else if (outcome.kind == O::OutOfBounds)
        diags.report(proof::diag::run_out_of_bounds, whereIs(program, outcome.place), {s + 1, schedules, size});
      else if (outcome.kind == O::Wrong)
        diags.report(proof::diag::run_mismatch, ir::Where("rank " + std::to_string(outcome.rank)),
                     {s + 1, schedules, size, outcome.launch + 1, number(outcome.got), outcome.chunk, outcome.rank,
                      outcome.element, number(outcome.wanted)});
      if (options.progress && !options.progress((done + 1) / total))
        stop = true;
    }
    done += schedules - row.schedules;
    result.ok &= row.ok;
    result.rows.push_back(row);
    if (stop)
      break;
  }
  return result;
}

std::string SimulateResult::summary() const {
  std::uint64_t schedules = 0;
  for (const SimulateRow &row : rows) {
    if (!row.ok)
      return (row.schedules == 0 ? "refused at " : "wrong at ") + ir::plural(row.size, "byte");
    schedules += row.schedules;
  }
  return "right: " + ir::plural(rows.size(), "size") + ", " + ir::plural(schedules, "schedule");
}

std::string SimulateResult::table() const {
  std::string text = "        size  schedules  max error  ok\n";
  for (const SimulateRow &row : rows) {
    char line[120];
    std::snprintf(line, sizeof line, "%12llu  %9u  %9s  %s\n", static_cast<unsigned long long>(row.size), row.schedules,
                  number(row.maxError).c_str(),
                  row.ok               ? "yes"
                  : row.schedules == 0 ? "refused"
                                       : "no");
    text += line;
  }
  return text;
}

} // namespace mscclc::passes
