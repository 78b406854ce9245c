// All steps of a schedule, with their dependences.
#pragma once

#include "frontend/xml/findings.h"
#include "frontend/xml/schedule.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace mscclc::xml {

/// The number that stands for no step.
inline constexpr std::uint32_t noStep = std::numeric_limits<std::uint32_t>::max();

/// The steps of a schedule and their dependences. A step waits for the step before it in its block, the step that it
/// depends on, and the sender of its message.
class StepGraph {
public:
  struct Node {
    std::uint32_t gpu = 0, block = 0, number = 0;
    std::uint32_t waitsFor = noStep;     ///< the step that publishes the one named by `depid` and `deps`
    std::uint32_t receivesFrom = noStep; ///< the sender of the message that the step receives
    std::uint32_t sendsTo = noStep;      ///< the receiver of the step's message
  };

  /// Reports messages that are sent and not received, or received and not sent. If there are none, the graph is valid.
  /// The k-th send of a gpu to a peer on a channel is paired with the k-th receive there. `schedule` must outlive the
  /// graph.
  StepGraph(const Schedule &schedule, Findings &findings);

  /// Steps are numbered gpu by gpu, block by block.
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const Node &at(std::uint32_t step) const { return nodes_[step]; }
  const Step &step(std::uint32_t step) const;
  const StepInfo &does(std::uint32_t step) const { return info(this->step(step).kind); }
  /// Returns the step before `step` in its block, or noStep.
  std::uint32_t before(std::uint32_t step) const { return nodes_[step].number == 0 ? noStep : step - 1; }
  /// Returns the step after `step` in its block, or noStep.
  std::uint32_t after(std::uint32_t step) const;
  /// Returns the steps that depend on `step`.
  std::span<const std::uint32_t> waitersOf(std::uint32_t step) const {
    return {waiters_.data() + firstWaiter_[step], waiters_.data() + firstWaiter_[step + 1]};
  }
  std::uint32_t firstOf(std::uint32_t gpu, std::uint32_t block) const { return first_[gpu][block]; }
  /// Returns a text for messages: "step 3 of gpu 0, thread block 2".
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
