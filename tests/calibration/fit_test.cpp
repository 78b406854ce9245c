// Tests the fit of a machine's parameters. The measured times are those that the model itself computes for another
// machine, with noise.
#include "catch.h"
#include "experiment_list.h"

#include "ir/text.h"
#include "passes/time/calibrate.h"
#include "passes/time/estimate.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

extern "C" const MscclcExperiment mscclc_experiments[];

using namespace mscclc;
using namespace mscclc::passes::time;

namespace {

const std::vector<ir::Program> &experiments() {
  static const std::vector<ir::Program> programs = [] {
    std::vector<ir::Program> read;
    for (const MscclcExperiment *text = mscclc_experiments; *text != nullptr; ++text) {
      ir::DiagnosticEngine diagnostics;
      std::optional<ir::Program> program = ir::parse(*text, "experiment.ir", diagnostics);
      INFO(diagnostics.render(false));
      REQUIRE(program);
      read.push_back(std::move(*program));
    }
    return read;
  }();
  return programs;
}

/// The measurements of mscclc-perf, at fewer sizes: each program with the messages that it takes, with errors of up to
/// `noise`.
std::vector<Measurement> measured(const Machine &machine, double noise, std::uint64_t first = 1 << 10) {
  std::mt19937 random(7);
  std::vector<Measurement> measurements;
  for (const ir::Program &program : experiments()) {
    if (cannotRun(program, machine))
      continue;
    for (std::uint64_t bytes = first; bytes <= std::min<std::uint64_t>(program.maxMessageSize, 256 << 20);
         bytes *= 64) {
      const double share = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
      const Time time = launchTime(program, machine, Runner::Kernel, bytes);
      REQUIRE(std::isfinite(time));
      measurements.push_back({&program, bytes, time * (1 + noise * (2 * share - 1))});
    }
  }
  return measurements;
}

/// Returns `machine` with each parameter multiplied or divided by a random factor of at most `factor`.
Machine disturbed(Machine machine, double factor, unsigned seed) {
  std::mt19937 random(seed);
  for (const ParameterField &parameter : parameterFields) {
    const double share = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    machine.parameters.*parameter.member *= std::pow(factor, 2 * share - 1);
  }
  return machine;
}

double factorBetween(double a, double b) {
  return std::exp(std::abs(std::log(a / b)));
}

/// Fits times of `truth`, starting from `like`, and checks the result. Returns the parameters that the measurements
/// determine.
std::set<std::string> checkFit(const Machine &truth, const Machine &like) {
  const std::vector<Measurement> measurements = measured(truth, 0.03);
  const Calibration calibration = calibrate(measurements, like, Runner::Kernel);
  CHECK(calibration.measurements == measurements.size());
  CHECK(calibration.medianFactor < 1.03);
  CHECK(calibration.worstFactor < 1.08);
  std::set<std::string> settled;
  for (std::size_t i = 0; i < std::size(parameterFields); ++i) {
    const FittedParameter &parameter = calibration.parameters[i];
    INFO(parameter.key);
    REQUIRE(parameter.key == parameterFields[i].key);
    const double value = calibration.machine.parameters.*parameterFields[i].member;
    CHECK(parameter.value == value);
    if (parameter.standing == Standing::Kept && parameter.key == "link")
      CHECK(value >= like.parameters.link);
    else if (parameter.standing == Standing::Kept)
      CHECK(value == like.parameters.*parameterFields[i].member);
    if (parameter.standing == Standing::Settled) {
      CHECK(factorBetween(value, truth.parameters.*parameterFields[i].member) < 1.1);
      settled.insert(parameter.key);
    }
  }
  // At sizes that were not measured, too.
  for (const std::uint64_t first : {1 << 10, 3 << 10})
    for (const Measurement &exact : measured(truth, 0, first)) {
      INFO(exact.program->name << " " << exact.messageBytes);
      CHECK(factorBetween(launchTime(*exact.program, calibration.machine, Runner::Kernel, exact.messageBytes),
                          exact.time) < 1.05);
    }
  return settled;
}

/// Checks that the parameters for which the experiments are made are determined. Of a port's latencies, only the sum
/// is. A block's synchronisation is so short that the noise hides it.
void checkSettled(const std::set<std::string> &settled) {
  for (const char *key :
       {"store", "load", "packet", "multimem", "copy_engine", "memory", "block_copy", "block_reduce", "block_multimem",
        "copy_depth", "launch", "store_visible", "load_remote", "load_local", "fence", "barrier", "multimem_latency"}) {
    INFO(key);
    CHECK(settled.count(key) == 1);
  }
  for (const char *key : {"link", "nic", "nic_latency", "plan_load", "decode"}) {
    INFO(key);
    CHECK(settled.count(key) == 0);
  }
}

TEST_CASE("the parameters of a built-in machine come back from another one's") {
  for (const auto &[truth, like] : {std::pair{"h100x8", "b200x8"}, {"b200x8", "h100x8"}}) {
    INFO(truth << " from " << like);
    checkSettled(checkFit(findMachine(truth), findMachine(like)));
  }
}

TEST_CASE("the parameters of machines made up come back") {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    INFO("seed " << seed);
    checkSettled(checkFit(disturbed(findMachine("h100x8"), 1.4, seed), findMachine("h200x8")));
  }
}

TEST_CASE("a machine whose switch does not reduce has none of it after a fit") {
  Machine truth = findMachine("h100x8");
  truth.parameters.multimem = 0;
  Machine like = findMachine("b200x8");
  like.parameters.multimem = 0;
  CHECK(checkFit(truth, like).count("multimem") == 0);
}

} // namespace
