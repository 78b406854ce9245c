// Finds the parameters without a measurement on which a time depends.
#pragma once

#include "passes/time/fluid.h"
#include "passes/time/machine.h"

#include <functional>

namespace mscclc::passes::time {

/// A choice is preferred if its time depends on fewer unmeasured parameters. But it may take at most this many times
/// the shortest time.
inline constexpr double hedge = 1.15;

/// Returns the unmeasured parameters of `machine` on which a time depends. That is so if the time becomes more than
/// `hedge` times as long when the parameter is twice as bad (half a rate, twice a latency). `time` is the time on
/// `machine`, in nanoseconds. `timeOn` returns the time on another machine. It is called for all unmeasured parameters
/// together. If they matter together, it is then called for each of them.
ParameterSet restsOn(const Machine &machine, Time time, const std::function<Time(const Machine &)> &timeOn);

} // namespace mscclc::passes::time
