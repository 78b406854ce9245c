// Finds the parameters of a machine from times that were measured on it.
//
// The fit uses the model itself. It seeks the parameters for which estimates of the measured programs come closest to
// the measured times. It compares logarithms, so a launch of 2 us counts as much as one of 2 ms. A large error counts
// less than its square, so a few disturbed times do not decide. A weak spring holds each parameter near that of another
// machine. It only decides if no measurement does.
//
// Nothing is invented. The measurements may leave the value of a parameter open by more than `openLimit`. Then it is
// set to that of the other machine, unless they contradict it: the most open one first, and the rest is fitted again.
// So if two parameters only appear as a sum, one is kept, and the other makes the sum right.
#pragma once

#include "passes/time/costs.h"
#include "passes/time/machine.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mscclc::passes::time {

/// One timed launch of a program.
struct Measurement {
  const ir::Program *program = nullptr; ///< a program for which cannotRun() returns nothing
  std::uint64_t messageBytes = 0;
  Time time = 0; ///< time in nanoseconds, more than 0
};

/// The origin of a fitted parameter's value.
enum class Standing : std::uint8_t {
  Kept,    ///< the other machine's value, because no measurement determines it
  Shared,  ///< fitted; measurements determine it only together with kept parameters
  Settled, ///< fitted; measurements alone determine it
};

struct FittedParameter {
  std::string key; ///< key in a machine file
  double value = 0;
  Standing standing = Standing::Kept;
  double spread =
      0; ///< relative standard deviation of `value`; for a kept value, the deviation that the times would allow
};

struct Calibration {
  Machine machine;                         ///< the other machine with the fitted parameters
  std::vector<FittedParameter> parameters; ///< parameters in the order of machine_parameters.def
  std::size_t measurements = 0;
  double medianFactor = 1, worstFactor = 1; ///< between estimated and measured times, at least 1
};

/// The largest spread of a parameter that counts as determined by measurements.
inline constexpr double openLimit = 0.1;

/// Fits the parameters of `like` to the measurements. A parameter that is 0 stays 0. Without measurements all are kept.
/// Requires: measurements that `like` can run. The same input gives the same result.
Calibration calibrate(std::span<const Measurement> measurements, const Machine &like, Runner runner);

/// Returns the machine file of a calibration. `measuredBy`: the origin of the times of fitted parameters. `like`: the
/// name of the machine of the kept ones. A parameter that is 0 has the origin "none".
std::string machineFile(const Calibration &calibration, const std::string &measuredBy, const std::string &like);

} // namespace mscclc::passes::time
