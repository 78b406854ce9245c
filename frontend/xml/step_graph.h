// All steps of a schedule, and which waits for which.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace mscclc::xml {

/// Stands for no step.
inline constexpr std::uint32_t noStep = std::numeric_limits<std::uint32_t>::max();

/// A step begins when these are over: the step before it in its block, the one that it depends on, and the one that
/// sends what it receives.
class StepGraph {
public:
  struct Node {
    std::uint32_t gpu = 0, block = 0, number = 0;
    std::uint32_t waitsFor = noStep;     ///< the step of its gpu that tells it, which its `depid` and `deps` name
    std::uint32_t receivesFrom = noStep; ///< the step whose message it takes
    std::uint32_t sendsTo = noStep;      ///< the step that takes its message
  };

  /// Reports messages that are sent and not received, or the other way round; the graph is good if there are none. Of a
  /// gpu's sends to a peer on a channel, the k-th meets the k-th receive there. `schedule` must outlive the graph.
  StepGraph(const Schedule &schedule, Findings &findings);

  /// Steps are numbered gpu by gpu, block by block.
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const Node &at(std::uint32_t step) const { return nodes_[step]; }
  const Step &step(std::uint32_t step) const;
  const StepInfo &does(std::uint32_t step) const { return info(this->step(step).kind); }
  /// The step before it in its block, or noStep.
  std::uint32_t before(std::uint32_t step) const { return nodes_[step].number == 0 ? noStep : step - 1; }
  /// The step after it in its block, or noStep.
  std::uint32_t after(std::uint32_t step) const;
  /// The steps that wait for it by their dependence.
  std::span<const std::uint32_t> waitersOf(std::uint32_t step) const {
    return {waiters_.data() + firstWaiter_[step], waiters_.data() + firstWaiter_[step + 1]};
  }
  std::uint32_t firstOf(std::uint32_t gpu, std::uint32_t block) const { return first_[gpu][block]; }
  /// "step 3 of gpu 0, thread block 2".
  std::string describe(std::uint32_t step) const;
  const Schedule &schedule() const { return schedule_; }

private:
  void addSteps();
  void resolveDependences();
  void matchMessages(Findings &findings);

  const Schedule &schedule_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> first_; ///< [gpu][block]
  std::vector<std::uint32_t> firstWaiter_, waiters_;
};

} // namespace mscclc::xml
