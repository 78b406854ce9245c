#include "passes/time/unmeasured.h"

#include <string_view>

namespace mscclc::passes::time {
namespace {

/// Returns the machine with each of these parameters made twice as bad. A latency (in microseconds) is doubled. Any
/// other parameter, such as a rate, is halved.
Machine worsened(Machine machine, const ParameterSet &parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i])
      machine.parameters.*parameterFields[i].member *= std::string_view(parameterFields[i].unit) == "us" ? 2 : 0.5;
  return machine;
}

} // namespace

ParameterSet restsOn(const Machine &machine, Time time, const std::function<Time(const Machine &)> &timeOn) {
  ParameterSet found;
  const Time most = hedge * time;
  if (machine.unmeasured.none() || timeOn(worsened(machine, machine.unmeasured)) <= most)
    return found;
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = machine.unmeasured[i] && timeOn(worsened(machine, ParameterSet().set(i))) > most;
  return found;
}

} // namespace mscclc::passes::time
