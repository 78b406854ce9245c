#include "passes/simulate/simulate.h"

#include "ir/hooks.h"
#include "ir/structure.h"
#include "passes/diagnostics.h"
#include "passes/simulate/machine.h"
#include "passes/verify/verify_diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>

namespace mscclc::passes {

namespace {
constexpr std::string_view typeNames[] = {
#define MSCCLC_DTYPE(id, number, bytes, name, type) name,
#include "runtime-min/include/mscclc/dtypes.def"
};
constexpr std::uint32_t typeSizes[] = {
#define MSCCLC_DTYPE(id, number, bytes, name, type) bytes,
#include "runtime-min/include/mscclc/dtypes.def"
};

/// Returns `value` as text: a whole number with all its digits, any other number shortened.
std::string number(double value) {
  char text[40];
  const bool whole = value > -1e15 && value < 1e15 && value == static_cast<double>(static_cast<std::int64_t>(value));
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", value);
  return text;
}
} // namespace

void SimulateOptions::allow(const ir::AllowedNames &names) {
  const auto has = [&](const ir::DiagInfo &info) { return names.contains(info.allowName); };
  inTurn = !has(proof::diag::size_change_race);
  relaxedShows = has(proof::diag::relaxed_carries_data);
  userAwaitsPorts = has(proof::diag::input_still_sent);
}

std::span<const std::string_view> dataTypeNames() {
  return typeNames;
}
std::string_view toString(DataType type) {
  return typeNames[static_cast<std::size_t>(type)];
}
std::uint32_t sizeOf(DataType type) {
  return typeSizes[static_cast<std::size_t>(type)];
}

std::optional<DataType> parseDataType(std::string_view words) {
  const auto it = std::ranges::find(typeNames, words);
  if (it == std::end(typeNames))
    return std::nullopt;
  return static_cast<DataType>(it - std::begin(typeNames));
}

namespace {

/// Runs launches of a program, with one message size or with several. If the program has several reduce operations, its
/// outputs only have to be right for one of them, because the others may not affect the outputs. The first schedule
/// decides which one it is.
class SizeRun {
public:
  SizeRun(const ir::Program &program, const std::vector<const sim::Layout *> &layouts, sim::Inputs &inputs,
          const std::vector<ir::ReduceOp> &ops, const SimulateOptions &options)
      : inputs_(inputs), expected_(expectations(program, layouts, inputs, options.type)),
        machine_(program, sizes(layouts), inputs, options), ops_(ops) {}
  /// Compares outputs bit by bit with `sums`, whose trees also name their reduce operations.
  void compareBits(const OutputSums &sums) {
    ops_.resize(1);
    for (sim::Expected &expected : expected_)
      expected.use(&sums);
  }
  void callForNothing() { machine_.callForNothing(); }

  sim::Outcome run(std::uint64_t seed, std::uint32_t launches, const sim::Machine::Watch &watch) {
    use(ops_[0]);
    const sim::Outcome outcome = machine_.run(seed, launches, watch);
    for (std::size_t i = 1; first_ && outcome.kind == sim::Outcome::Wrong && i < ops_.size(); ++i) {
      use(ops_[i]);
      const sim::Outcome other = machine_.run(seed, launches, watch);
      if (other.kind == sim::Outcome::Stopped)
        return other;
      if (other.kind != sim::Outcome::Right)
        continue;
      ops_ = {ops_[i]};
      return {};
    }
    first_ = false;
    return outcome;
  }

private:
  static std::vector<sim::Expected> expectations(const ir::Program &program,
                                                 const std::vector<const sim::Layout *> &layouts,
                                                 const sim::Inputs &inputs, DataType type) {
    std::vector<sim::Expected> all;
    for (const sim::Layout *layout : layouts)
      all.emplace_back(program, inputs, type, layout->chunkBytes());
    return all;
  }
  std::vector<sim::Machine::Size> sizes(const std::vector<const sim::Layout *> &layouts) {
    std::vector<sim::Machine::Size> all;
    for (std::size_t i = 0; i < layouts.size(); ++i)
      all.push_back({layouts[i], &expected_[i]});
    return all;
  }
  void use(ir::ReduceOp op) {
    inputs_.use(op);
    for (sim::Expected &expected : expected_)
      expected.use(op);
  }

  sim::Inputs &inputs_;
  std::vector<sim::Expected> expected_;
  sim::Machine machine_;
  std::vector<ir::ReduceOp> ops_;
  bool first_ = true;
};

std::uint32_t schedulesOf(const SimulateOptions &options, std::uint64_t size, std::size_t numSizes) {
  constexpr std::uint32_t most = 100, least = 5;
  const bool asked = !options.sizes.empty();
  const auto worth = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(most * sim::longMessage / std::max<std::uint64_t>(size, 1), least, most));
  if (!options.schedules) // many sizes together take the time of two
    return asked || numSizes <= 2 ? worth : std::max(least, static_cast<std::uint32_t>(2ull * worth / numSizes));
  // A long size that was only added to make pipelines run several iterations gets few schedules.
  return !asked && size > sim::longMessage ? std::min(*options.schedules, least) : *options.schedules;
}

/// True if a launch leaves data for the next one, at a place that depends on the message size.
bool dependsOnLastSize(const ir::Program &program) {
  return std::ranges::any_of(program.ranks, [](const ir::Rank &rank) { return rank.scratchChunks != 0; }) ||
         std::ranges::any_of(ir::opsOf(program.ranks),
                             [](const ir::Op &op) { return op.kind == ir::OpKind::Pipeline; });
}

/// Runs a simulation, one SimulateRow after the other.
class Simulation {
public:
  Simulation(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options)
      : program_(program), diags_(diags), options_(options), ops_(sim::reduceOpsOf(program)),
        inputs_(options.type, sim::mostContributions(program), options.seed), wholeInputs_(inputs_) {
    wholeInputs_.useWhole();
  }

  SimulateResult run() {
    result_.ok = true;
    result_.compared = ir::WantedOutputs(program_).any();
    const std::vector<std::uint64_t> sizes =
        options_.sizes.empty() ? sim::smallSizes(program_, sizeOf(options_.type)) : options_.sizes;
    std::vector<Row> rows;
    Row inTurn;
    const bool withNothing = std::ranges::count(sizes, 0u) != 0 && std::ranges::count(sizes, 0u) != std::ssize(sizes);
    for (const std::uint64_t size : sizes) {
      if (size == 0 && withNothing)
        continue;
      const std::uint32_t floats = sim::isFloat(options_.type) ? sizeOf(options_.type) : 0;
      layouts_.push_back(std::make_unique<sim::Layout>(program_, size, floats));
      rows.push_back({{size}, {layouts_.back().get()}});
      if (!refusal(*layouts_.back()) && (size <= sim::longMessage || !options_.sizes.empty())) {
        inTurn.sizes.push_back(size);
        inTurn.layouts.push_back(layouts_.back().get());
      }
    }
    const bool keepsSize = options_.rows != nullptr; // the capacity of slots is fixed when a kernel is loaded
    if (options_.inTurn && !keepsSize && inTurn.sizes.size() + withNothing > 1 && dependsOnLastSize(program_)) {
      inTurn.inTurn = true;
      inTurn.withNothing = withNothing;
      rows.push_back(inTurn);
    }
    if (comparesBits())
      for (std::size_t i = 0, count = sizes.size(); i < count && i < rows.size(); ++i)
        if (Row bits = rows[i]; !bits.inTurn) {
          bits.bits = true;
          rows.push_back(bits);
        }
    for (Row &row : rows) {
      row.schedules = schedulesOf(options_, *std::max_element(row.sizes.begin(), row.sizes.end()), rows.size());
      total_ += row.schedules;
    }
    for (const Row &row : rows) {
      const double before = done_;
      if (const auto why = refusal(*row.layouts[0]))
        refuse(row, *why);
      else
        runRow(row);
      done_ = before + row.schedules;
      if (stop_)
        break;
    }
    return std::move(result_);
  }

private:
  struct Row {
    std::vector<std::uint64_t> sizes;
    std::vector<const sim::Layout *> layouts;
    std::uint32_t schedules = 0;
    bool inTurn = false, withNothing = false; ///< withNothing: adds calls for 0 bytes
    bool bits = false;
  };

  /// True if some output has a reduction tree, whose order matters for floats.
  bool comparesBits() const { return options_.sums && sim::isFloat(options_.type) && !options_.sums->trees.empty(); }

  std::optional<std::string> refusal(const sim::Layout &layout) const {
    if (!layout.refusal() && isRoundedBySwitch())
      return "a switch adds " + std::string(toString(options_.type)) + " in f16, so such sums are not rounded once";
    if (!layout.refusal() && ir::wireOf(program_))
      if (const std::string why = wireFault(); !why.empty())
        return why;
    if (layout.refusal() || layout.chunkBytes() % sizeOf(options_.type) == 0)
      return layout.refusal();
    return "a chunk of " + ir::plural(layout.chunkBytes(), "byte") + " holds no whole " +
           std::string(toString(options_.type)) + " elements";
  }

  /// Returns why the program's wire format cannot be run; empty if it can.
  std::string wireFault() const {
    const ir::Wire wire = ir::wireOf(program_)->wire;
    const std::vector<std::string> &types = ir::info(wire).types;
    if (const std::string type(toString(options_.type)); std::ranges::find(types, type) == types.end())
      return "the wire format " + std::string(ir::wireNames[static_cast<std::size_t>(wire)]) + " is for " +
             ir::enumerate(types) + ", and not for " + type;
    if (program_.bufferAlignment < 16)
      return "blocks of a wire format are run as the 16 bytes of a buffer alignment, which is " +
             ir::plural(program_.bufferAlignment, "byte");
    return options_.sums ? "" : "the bits of quantised sums are known from the proof alone";
  }

  /// True if the program wants sums in f32, but a switch adds them up in a narrower type.
  bool isRoundedBySwitch() const {
    return program_.movement.accumulate != ir::Accumulate::Narrow && sim::isFloat(options_.type) &&
           sizeOf(options_.type) == 1 && ir::sumsInSwitch(program_);
  }

  void refuse(const Row &row, const std::string &why) {
    diags_.report(proof::diag::size_refused, ir::Where(std::string(program_.name)), {row.sizes[0], why});
    result_.ok = false;
    result_.rows.push_back({.size = row.sizes[0]});
  }

  void runRow(const Row &row) {
    const std::uint32_t once = options_.launches != 0 ? options_.launches : program_.doubleScratch ? 4 : 3;
    const std::uint32_t launches = (row.inTurn ? once + 2 : once) + (row.withNothing ? 2 : 0);
    SimulateRow out{.size = row.sizes.back(), .inTurn = row.inTurn, .bits = row.bits, .ok = true};
    SizeRun run(program_, row.layouts, row.bits ? wholeInputs_ : inputs_, ops_, options_);
    if (row.bits || ir::wireOf(program_)) // quantised sums are never exact, whatever the inputs are
      run.compareBits(*options_.sums);
    if (row.withNothing)
      run.callForNothing();
    sim::Machine::Watch watch;
    if (options_.progress)
      watch = [this](double share) { return options_.progress((done_ + share) / total_); };
    for (std::uint32_t s = 0; s < row.schedules && out.ok && !stop_; ++s) {
      const sim::Outcome outcome = run.run(options_.seed * 1'000'003 + s, launches, watch);
      stop_ = outcome.kind == sim::Outcome::Stopped;
      if (stop_)
        break;
      out.schedules = s + 1;
      out.maxError = std::max(out.maxError, outcome.maxError);
      out.ok = outcome.kind == sim::Outcome::Right;
      if (!out.ok)
        report(row, s + 1, outcome);
      ++done_;
      stop_ = options_.progress && !options_.progress(done_ / total_);
    }
    result_.ok &= out.ok;
    result_.rows.push_back(out);
  }

  void report(const Row &row, std::uint32_t schedule, const sim::Outcome &outcome) {
    std::string size = ir::plural(row.sizes[outcome.size], "byte");
    if (row.inTurn)
      size += ", in a row of sizes";
    if (row.bits)
      size += ", bit by bit";
    using O = sim::Outcome;
    if (outcome.kind == O::Hangs)
      diags_.report(proof::diag::run_hangs, whereIs(program_, outcome.place),
                    {schedule, row.schedules, size, outcome.place.rank, outcome.place.block, outcome.waitsFor});
    else if (outcome.kind == O::OutOfBounds)
      diags_.report(proof::diag::run_out_of_bounds, whereIs(program_, outcome.place), {schedule, row.schedules, size});
    else if (outcome.kind == O::Wrong)
      diags_.report(proof::diag::run_mismatch, ir::Where("rank " + std::to_string(outcome.rank)),
                    {schedule, row.schedules, size, outcome.launch + 1, number(outcome.got), outcome.chunk,
                     outcome.rank, outcome.element, number(outcome.wanted)});
  }

  const ir::Program &program_;
  ir::DiagnosticEngine &diags_;
  const SimulateOptions &options_;
  const std::vector<ir::ReduceOp> ops_;
  sim::Inputs inputs_, wholeInputs_;
  std::vector<std::unique_ptr<sim::Layout>> layouts_;
  SimulateResult result_;
  double total_ = 0, done_ = 0;
  bool stop_ = false;
};

} // namespace

SimulateResult simulate(const ir::Program &program, ir::DiagnosticEngine &diags, const SimulateOptions &options) {
  ir::requireBlocks(program);
  return Simulation(program, diags, options).run();
}

std::string SimulateResult::summary() const {
  std::uint64_t schedules = 0;
  for (const SimulateRow &row : rows) {
    if (!row.ok)
      return (row.schedules == 0 ? "refused at " : "wrong at ") + ir::plural(row.size, "byte");
    schedules += row.schedules;
  }
  return (compared ? "right: " : "ran, compared with nothing: ") + ir::plural(rows.size(), "size") + ", " +
         ir::plural(schedules, "schedule");
}

std::string SimulateResult::table() const {
  std::string text = "        size  schedules  max error  ok\n";
  for (const SimulateRow &row : rows) {
    char line[120];
    std::snprintf(line, sizeof line, "%12s  %9u  %9s  %s\n",
                  row.inTurn ? "in turn" : (std::to_string(row.size) + (row.bits ? " bits" : "")).c_str(),
                  row.schedules, number(row.maxError).c_str(),
                  row.ok               ? compared ? "yes" : "ran"
                  : row.schedules == 0 ? "refused"
                                       : "no");
    text += line;
  }
  return text;
}

} // namespace mscclc::passes
