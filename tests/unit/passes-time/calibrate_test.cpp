// Tests the fit of parameters to measured times: what the times determine, what they leave open, and what a machine
// file says about it. Fits of whole machines are in tests/calibration.
#include "timed.h"

#include "passes/time/calibrate.h"
#include "passes/time/least_squares.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace mscclc::passes::time;
using namespace mscclc;

namespace {

/// A block copies a chunk of its GPU's memory: the launch, a load, and the data at a block's rate.
ir::Program copyProgram() {
  return programOf("rank 0 {\nbuffers input 1 output 1 scratch 0\nblock 0 {\ncopy output[0:1] <- input[0:1]\n}\n}\n");
}

/// Times of the program on the round machine.
std::vector<Measurement> timesOf(const ir::Program &program) {
  std::vector<Measurement> measurements;
  for (std::uint64_t bytes = 64; bytes <= 1 << 26; bytes *= 4)
    measurements.push_back({&program, bytes, launchTime(program, roundMachine(), Runner::Kernel, bytes)});
  return measurements;
}

Machine otherMachine() {
  Machine machine = roundMachine();
  machine.parameters.blockCopy = 30;
  machine.parameters.launch = 2;
  machine.parameters.loadLocal = 0.4;
  return machine;
}

const FittedParameter &parameter(const Calibration &calibration, const std::string &key) {
  for (const FittedParameter &candidate : calibration.parameters)
    if (candidate.key == key)
      return candidate;
  FAIL("no parameter " << key);
  return calibration.parameters.front();
}

TEST_CASE("a launch's time alone is that of its estimate") {
  const ir::Program program = copyProgram();
  for (const std::uint64_t bytes : {1u << 10, 1u << 20})
    CHECK(launchTime(program, roundMachine(), Runner::Kernel, bytes) ==
          estimate(program, roundMachine(), Runner::Kernel, bytes).total);
  // A wait that nobody answers.
  const ir::Program stuck =
      programOf("rank 0 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [1]\nblock 0 {\nchannels [memory 0]\n"
                "wait memory [0]\n}\n}\nrank 1 {\nbuffers input 1 output 1 scratch 0\nmemory_channels [0]\n}\n");
  CHECK(std::isinf(launchTime(stuck, roundMachine(), Runner::Kernel, 64)));
}

TEST_CASE("times tell a rate, and of a sum only the sum") {
  const ir::Program program = copyProgram();
  const Calibration calibration = calibrate(timesOf(program), otherMachine(), Runner::Kernel);
  CHECK(calibration.worstFactor < 1.005);
  CHECK(calibration.medianFactor <= calibration.worstFactor);
  const FittedParameter &rate = parameter(calibration, "block_copy");
  CHECK(rate.standing == Standing::Settled);
  CHECK(std::abs(rate.value / 50 - 1) < 0.005);
  CHECK(rate.spread < openLimit);
  // A load is the smaller part of the 1.25 us before data flows, so it is the one that stays.
  CHECK(parameter(calibration, "load_local").standing == Standing::Kept);
  CHECK(parameter(calibration, "load_local").value == 0.4);
  CHECK(parameter(calibration, "launch").standing == Standing::Shared);
  CHECK(std::abs(parameter(calibration, "launch").value - 0.85) < 0.01);
  for (const char *key : {"link", "nic", "fence", "proxy", "multimem", "decode"}) {
    INFO(key);
    CHECK(parameter(calibration, key).standing == Standing::Kept);
  }
}

TEST_CASE("a few times that are far off do not decide") {
  const ir::Program program = copyProgram();
  std::vector<Measurement> measurements = timesOf(program);
  const std::vector<Measurement> once = measurements;
  for (int repeat = 0; repeat < 3; ++repeat)
    measurements.insert(measurements.end(), once.begin(), once.end());
  measurements.back().time *= 20; // of the largest message
  const Calibration calibration = calibrate(measurements, otherMachine(), Runner::Kernel);
  CHECK(std::abs(parameter(calibration, "block_copy").value / 50 - 1) < 0.02);
  CHECK(calibration.worstFactor > 15);
}

TEST_CASE("without measurements nothing is told") {
  const Calibration calibration = calibrate({}, otherMachine(), Runner::Kernel);
  CHECK(calibration.machine.parameters.blockCopy == 30);
  CHECK(calibration.medianFactor == 1);
  for (const FittedParameter &fitted : calibration.parameters)
    CHECK(fitted.standing == Standing::Kept);
}

TEST_CASE("a machine file of a fit says of each number where it is from") {
  const ir::Program program = copyProgram();
  Calibration calibration = calibrate(timesOf(program), otherMachine(), Runner::Kernel);
  calibration.machine.description = "4 made up";
  calibration.machine.blocksPerMultiprocessor = 3;
  calibration.machine.sharedBytes = 1000;
  const std::string text = machineFile(calibration, "a test", "round");
  const Machine read = parseMachine(text);
  CHECK(read.name == "round");
  CHECK(read.gpusPerNode == 4);
  CHECK(read.multiprocessors == 100);
  CHECK(read.blocksPerMultiprocessor == 3);
  CHECK(read.sharedBytes == 1000);
  CHECK_FALSE(read.mesh);
  CHECK(read.description == "4 made up; a test: estimates are off by a factor of 1.00 in the median, 1.00 at most");
  const nlohmann::json parameters = nlohmann::json::parse(text)["parameters"];
  CHECK(parameters["block_copy"]["certainty"] == "fitted");
  CHECK(parameters["block_copy"]["source"].get<std::string>().find("a test, fitted to 11 times within ") == 0);
  CHECK(parameters["launch"]["certainty"] == "derived");
  CHECK(parameters["launch"]["source"].get<std::string>().find(" %, given what is kept of round") != std::string::npos);
  CHECK(parameters["nic"]["certainty"] == "borrowed");
  CHECK(parameters["nic"]["source"] == "as of round: no experiment measures it");
  CHECK(parameters["decode"]["source"] == "none of it was seen");
  CHECK(std::abs(read.parameters.launch / calibration.machine.parameters.launch - 1) < 5e-4);
  Machine mesh = otherMachine();
  mesh.mesh = true;
  mesh.parameters.multimem = 0;
  CHECK(parseMachine(machineFile(calibrate({}, mesh, Runner::Kernel), "a test", "round")).mesh);
}

TEST_CASE("small systems are solved, and those that have no one solution refused") {
  Matrix a(2);
  a.at(0, 0) = 4;
  a.at(0, 1) = a.at(1, 0) = 2;
  a.at(1, 1) = 3;
  const auto x = solve(a, {8, 8}); // 4 · 1 + 2 · 2 = 2 · 1 + 3 · 2
  REQUIRE(x);
  CHECK(std::abs((*x)[0] - 1) < 1e-12);
  CHECK(std::abs((*x)[1] - 2) < 1e-12);
  const auto diagonal = inverseDiagonal(a); // of (3 -2; -2 4) / 8
  REQUIRE(diagonal);
  CHECK(std::abs((*diagonal)[0] - 0.375) < 1e-12);
  CHECK(std::abs((*diagonal)[1] - 0.5) < 1e-12);
  a.at(1, 1) = 1;
  CHECK_FALSE(solve(a, {1, 1}));
  CHECK_FALSE(inverseDiagonal(a));
}

} // namespace
