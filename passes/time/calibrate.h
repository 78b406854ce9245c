// The parameters of a machine from times that were measured on it.
//
// What is fitted is the model itself: the parameters for which estimates of the measured programs come nearest to the
// measured times, in the logarithm, so that a launch of 2 us counts as much as one of 2 ms. A time that is far off
// counts less than its square, so that a few disturbed ones do not decide. Each parameter is held to that of another
// machine by a weak spring, which decides only where no measurement does.
//
// What the measurements do not tell is not made up. A parameter whose value they leave open by more than `openLimit`
// is put back to that of the other machine, the most open one first, and the rest is fitted anew. So of two parameters
// that only appear as a sum, one is kept, and the other makes the sum right.
#pragma once

#include "passes/time/costs.h"
#include "passes/time/machine.h"

#include "ir/program.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mscclc::passes::time {

/// One launch of a program that was timed.
struct Measurement {
  const ir::Program *program = nullptr; ///< one that cannotRun() has nothing against
  std::uint64_t messageBytes = 0;
  Time time = 0; ///< in nanoseconds, more than 0
};

/// Where the value of a fitted parameter is from.
enum class Standing : std::uint8_t {
  Kept,    ///< of the other machine: no measurement decides
  Shared,  ///< fitted; measurements alone tell it only together with parameters that are kept
  Settled, ///< fitted; measurements alone tell it
};

struct FittedParameter {
  std::string key; ///< as in a machine file
  double value = 0;
  Standing standing = Standing::Kept;
  double spread = 0; ///< relative standard deviation of `value`; of a kept one, how open measurements leave it
};

struct Calibration {
  Machine machine;                         ///< as the other one, with the fitted parameters
  std::vector<FittedParameter> parameters; ///< in the order of machine_parameters.def
  std::size_t measurements = 0;
  double medianFactor = 1, worstFactor = 1; ///< between estimated and measured times, at least 1
};

/// Largest spread of a parameter that counts as told by measurements.
inline constexpr double openLimit = 0.1;

/// Fits `like`'s parameters to what was measured; one that is 0 stays so. Without measurements all are kept.
/// Requires: measurements that `like` can run; the same input gives the same result.
Calibration calibrate(std::span<const Measurement> measurements, const Machine &like, Runner runner);

/// The machine file of a calibration. `measuredBy` says of the fitted parameters where the times are from, `like` names
/// the machine that the kept ones are of; one that is 0 is said to be none.
std::string machineFile(const Calibration &calibration, const std::string &measuredBy, const std::string &like);

} // namespace mscclc::passes::time
