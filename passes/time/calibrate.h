// Finds the parameters of a machine from times that were measured on it.
//
// The fit uses the model itself. It seeks the parameters for which estimates of the measured programs come closest to
// the measured times. It compares logarithms, so a launch of 2 us counts as much as one of 2 ms. A large error counts
// less than its square, so a few disturbed times do not decide. A weak spring pulls each parameter towards its value on
// a reference machine. The spring decides only if no measurement does.
//
// Nothing is invented. The measurements may leave the value of a parameter open by more than `openLimit`. Then the
// parameter is set to its value on the reference machine, unless the measurements contradict that value. The most open
// parameter is set first, and the other parameters are fitted again. So if two parameters only appear as a sum, one of
// them is set, and the other makes the sum right.
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
  Kept,    ///< the reference machine's value, because no measurement determines the parameter
  Shared,  ///< the fitted value; measurements determine it only together with kept parameters
  Settled, ///< the fitted value; measurements alone determine it
};

struct FittedParameter {
  std::string key; ///< key in a machine file
  double value = 0;
  Standing standing = Standing::Kept;
  /// Relative standard deviation of `value`. For a kept value: the deviation that the measured times would allow.
  double spread = 0;
};

struct Calibration {
  Machine machine;                         ///< the reference machine with the fitted parameters
  std::vector<FittedParameter> parameters; ///< parameters in the order of machine_parameters.def
  std::size_t measurements = 0;
  double medianFactor = 1, worstFactor = 1; ///< factors between estimated and measured times, each at least 1
};

/// Measurements determine a parameter if its spread is at most this.
inline constexpr double openLimit = 0.1;

/// Fits the parameters of `like`, the reference machine, to the measurements. A parameter that is 0 stays 0. Without
/// measurements, all parameters keep their values. Requires: `like` can run the measured programs. The same input gives
/// the same result.
Calibration calibrate(std::span<const Measurement> measurements, const Machine &like, Runner runner);

/// Returns the machine file of a calibration. `measuredBy` names the source of the measurements. `like` is the name of
/// the reference machine, from which kept parameters come. A parameter that is 0 counts as assumed.
std::string machineFile(const Calibration &calibration, const std::string &measuredBy, const std::string &like);

} // namespace mscclc::passes::time
