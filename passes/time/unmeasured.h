// The parameters without a measurement on which a time rests.
#pragma once

#include "passes/time/fluid.h"
#include "passes/time/machine.h"

#include <functional>

namespace mscclc::passes::time {

/// A choice that takes up to that many times the shortest time is preferred if fewer parameters without a measurement
/// are behind its time.
inline constexpr double hedge = 1.15;

/// Returns the unmeasured parameters of `machine` on which a time rests: if one of them is twice as bad (half a rate,
/// twice a latency), the time becomes more than `hedge` times as long. `time`: the time on `machine`, in nanoseconds.
/// `timeOn` returns the time on another machine. It is called for all unmeasured parameters together, and then for each
/// of them if they matter together.
ParameterSet restsOn(const Machine &machine, Time time, const std::function<Time(const Machine &)> &timeOn);

} // namespace mscclc::passes::time
