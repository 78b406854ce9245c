#include "passes/time/calibrate.h"

#include "passes/time/estimate.h"
#include "passes/time/least_squares.h"

#include "ir/internal_error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace mscclc::passes::time {

namespace {

/// The relative error to expect in each measured time.
constexpr double noise = 0.03;
/// Errors beyond this many times `noise` count less.
constexpr double outlier = 2;
/// A parameter may differ from its value on the reference machine by this much at a small penalty. The penalty grows
/// with the square of the difference, like the energy of a spring. Differences are those of natural logarithms.
constexpr double springLength = 1;
/// The step for a numerical derivative, and the longest step of a parameter. Both are differences of logarithms.
constexpr double difference = 0.01, longestStep = 0.5;
constexpr int mostSteps = 60;
/// Measurements contradict a value if it differs from the fitted value by more than this many standard deviations.
constexpr double contradiction = 2;
/// The search ends when a step reduces the cost by no more than this. A good fit has a cost of about the number of
/// measurements.
constexpr double smallGain = 0.01;

class Fit {
public:
  Fit(std::span<const Measurement> measurements, const Machine &like, Runner runner)
      : measurements_(measurements), runner_(runner), like_(like), machine_(like) {
    for (const ParameterField &field : parameterFields)
      if (like.parameters.*field.member > 0)
        free_.push_back(&field);
  }

  /// Does Gauss-Newton steps with the damping of Levenberg and Marquardt until they gain almost nothing.
  void run() {
    double damping = 1e-3, gain = 2 * smallGain;
    errors_ = errorsOf(machine_);
    for (int step = 0; step < mostSteps && gain > smallGain && !free_.empty(); ++step) {
      const System system = linearise();
      const double cost = costOf(machine_, errors_);
      gain = 0;
      while (gain == 0 && damping < 1e4) {
        const Machine next = stepped(system, damping);
        std::vector<double> errors = errorsOf(next);
        gain = std::max(0.0, cost - costOf(next, errors));
        if (gain > 0) {
          machine_ = next;
          errors_ = std::move(errors);
        }
        damping *= 10;
      }
      damping = std::max(1e-6, damping / 100);
    }
  }

  /// Returns, for each free parameter, the relative standard deviation that follows from the measurements.
  std::vector<double> spreads() const {
    System system = linearise();
    // Errors that are larger than expected increase all deviations.
    double squares = 0;
    for (const double error : errors_)
      squares += weight(error) * error * error;
    const double more = static_cast<double>(measurements_.size()) - static_cast<double>(free_.size());
    const double scale = std::max(1.0, squares / std::max(1.0, more));
    for (std::size_t i = 0; i < free_.size(); ++i)
      for (std::size_t k = 0; k < free_.size(); ++k)
        system.normal.at(i, k) = system.normal.at(i, k) / scale + (i == k ? spring : 0);
    std::optional<std::vector<double>> variances = inverseDiagonal(system.normal);
    if (!variances)
      throw ir::InternalError("a calibration's normal matrix is not positive definite");
    for (double &variance : *variances)
      variance = std::sqrt(variance);
    return *variances;
  }

  /// Sets free parameter `index` to its value on the reference machine, and no longer fits it.
  void keep(std::size_t index) {
    machine_.parameters.*free_[index]->member = like_.parameters.*free_[index]->member;
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  /// Returns how far free parameter `index` is from its value on the reference machine, as a difference of logarithms.
  double distance(std::size_t index) const { return std::abs(pull(machine_, *free_[index])); }

  const std::vector<const ParameterField *> &free() const { return free_; }
  const Machine &machine() const { return machine_; }
  /// Returns, for each measurement, the logarithm of the estimated time divided by the measured time.
  std::vector<double> logs() const {
    std::vector<double> logs = errors_;
    for (double &log : logs)
      log *= noise;
    return logs;
  }

private:
  /// Half the gradient and half the second derivative of one part of the cost: the cost of the errors. The other part,
  /// the penalty of the springs, is not included.
  struct System {
    Matrix normal;
    std::vector<double> gradient;
  };
  static constexpr double spring = 1 / (springLength * springLength);

  static double weight(double error) { return std::abs(error) <= outlier ? 1 : outlier / std::abs(error); }

  std::vector<double> errorsOf(const Machine &machine) const {
    std::vector<double> errors;
    for (const Measurement &m : measurements_)
      errors.push_back(std::log(launchTime(*m.program, machine, runner_, m.messageBytes) / m.time) / noise);
    return errors;
  }

  /// Returns the logarithm of a parameter divided by its value on the reference machine.
  double pull(const Machine &machine, const ParameterField &field) const {
    return std::log(machine.parameters.*field.member / like_.parameters.*field.member);
  }

  double costOf(const Machine &machine, const std::vector<double> &errors) const {
    double cost = 0;
    for (const double error : errors)
      cost += std::abs(error) <= outlier ? error * error : outlier * (2 * std::abs(error) - outlier);
    for (const ParameterField *field : free_)
      cost += spring * pull(machine, *field) * pull(machine, *field);
    return cost;
  }

  System linearise() const {
    std::vector<std::vector<double>> slopes; // [parameter][measurement]
    for (const ParameterField *field : free_) {
      Machine nearby = machine_;
      nearby.parameters.*field->member *= std::exp(difference);
      slopes.push_back(errorsOf(nearby));
      for (std::size_t m = 0; m < errors_.size(); ++m)
        slopes.back()[m] = (slopes.back()[m] - errors_[m]) / difference;
    }
    System system{Matrix(free_.size()), std::vector<double>(free_.size())};
    for (std::size_t m = 0; m < errors_.size(); ++m)
      for (std::size_t i = 0; i < free_.size(); ++i) {
        const double weighted = weight(errors_[m]) * slopes[i][m];
        system.gradient[i] += weighted * errors_[m];
        for (std::size_t k = 0; k < free_.size(); ++k)
          system.normal.at(i, k) += weighted * slopes[k][m];
      }
    return system;
  }

  /// Returns the machine after one damped step of the search.
  Machine stepped(const System &system, double damping) const {
    Matrix normal = system.normal;
    std::vector<double> down = system.gradient;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      normal.at(i, i) = normal.at(i, i) * (1 + damping) + spring;
      down[i] = -down[i] - spring * pull(machine_, *free_[i]);
    }
    const std::optional<std::vector<double>> step = solve(normal, std::move(down));
    if (!step)
      throw ir::InternalError("a calibration's normal matrix is not positive definite");
    Machine next = machine_;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const double change = std::clamp((*step)[i], -longestStep, longestStep);
      next.parameters.*free_[i]->member *= std::exp(change);
    }
    return next;
  }

  std::span<const Measurement> measurements_;
  Runner runner_;
  const Machine &like_;
  Machine machine_;
  std::vector<const ParameterField *> free_;
  std::vector<double> errors_; ///< [measurement]: the error of its estimate, in units of `noise`
};

/// Fits the parameters. Then sets open parameters to their values on the reference machine, one after the other, unless
/// the measurements contradict these values. Returns the spread that each parameter had while all were free.
std::vector<double> settle(Fit &fit) {
  std::vector<double> open(std::size(parameterFields), 1);
  fit.run();
  std::vector<double> spreads = fit.spreads();
  for (std::size_t i = 0; i < spreads.size(); ++i)
    open[static_cast<std::size_t>(fit.free()[i] - parameterFields)] = spreads[i];
  // A parameter on which no measured time depends gets its value on the reference machine at once.
  for (std::size_t i = spreads.size(); i-- > 0;)
    if (spreads[i] > 0.99 * springLength) {
      fit.keep(i);
      spreads.erase(spreads.begin() + static_cast<std::ptrdiff_t>(i));
    }
  for (;;) {
    std::optional<std::size_t> widest;
    for (std::size_t i = 0; i < spreads.size(); ++i)
      if (spreads[i] > openLimit && fit.distance(i) <= contradiction * spreads[i] &&
          (!widest || spreads[i] > spreads[*widest]))
        widest = i;
    if (!widest)
      break;
    fit.keep(*widest);
    fit.run();
    spreads = fit.spreads();
  }
  return open;
}

std::string shortNumber(double value, const char *format) {
  char text[32];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

} // namespace

Calibration calibrate(std::span<const Measurement> measurements, const Machine &like, Runner runner) {
  Fit fit(measurements, like, runner);
  const std::vector<double> open = settle(fit);
  const std::vector<double> spreads = fit.spreads();
  Calibration result;
  result.machine = fit.machine();
  // The link is at least as fast as each way to use it. If all data is moved in the same way, the link's rate cancels
  // out of all times, so the fit cannot determine it.
  MachineParameters &p = result.machine.parameters;
  p.link = std::max({p.link, p.store, p.load, p.packet, p.multimem, p.copyEngine});
  result.measurements = measurements.size();
  for (std::size_t i = 0; i < std::size(parameterFields); ++i) {
    const auto at = std::find(fit.free().begin(), fit.free().end(), &parameterFields[i]);
    FittedParameter parameter{parameterFields[i].key, result.machine.parameters.*parameterFields[i].member,
                              Standing::Kept, open[i]};
    if (at != fit.free().end()) {
      parameter.standing = open[i] <= openLimit ? Standing::Settled : Standing::Shared;
      parameter.spread = spreads[static_cast<std::size_t>(at - fit.free().begin())];
    }
    result.parameters.push_back(parameter);
  }
  std::vector<double> factors;
  for (const double log : fit.logs())
    factors.push_back(std::exp(std::abs(log)));
  std::sort(factors.begin(), factors.end());
  if (!factors.empty()) {
    result.medianFactor = factors[factors.size() / 2];
    result.worstFactor = factors.back();
  }
  return result;
}

std::string machineFile(const Calibration &calibration, const std::string &measuredBy, const std::string &like) {
  std::vector<Provenance> origins;
  for (const FittedParameter &parameter : calibration.parameters) {
    const std::string fitted = measuredBy + ", fitted to " + std::to_string(calibration.measurements) +
                               " times within " + shortNumber(parameter.spread * 100, "%.1f") + " %";
    switch (parameter.standing) {
    case Standing::Kept:
      origins.push_back(parameter.value == 0 ? Provenance{"none of it was seen", "assumed"}
                                             : Provenance{"as of " + like + ": no experiment measures it", "borrowed"});
      break;
    case Standing::Shared:
      origins.push_back({fitted + ", given what is kept of " + like, "derived"});
      break;
    case Standing::Settled:
      origins.push_back({fitted, "fitted"});
      break;
    }
  }
  Machine machine = calibration.machine;
  machine.description += "; " + measuredBy + ": estimates are off by a factor of " +
                         shortNumber(calibration.medianFactor, "%.2f") + " in the median, " +
                         shortNumber(calibration.worstFactor, "%.2f") + " at most";
  return writeMachine(machine, origins);
}

} // namespace mscclc::passes::time
