// Finds an order in which all steps can be executed one by one.
#pragma once

#include "frontend/xml/step_graph.h"
#include "ir/chunk_cells.h"

#include <optional>
#include <vector>

namespace mscclc::xml {

struct StepOrder {
  std::vector<std::uint32_t> steps;
  /// [step]: true if its message is overwritten before it is received. Then the message needs a place of its own.
  std::vector<bool> keeps;
};

/// [step]: true if it stores its sum at its source, while MSCCL keeps the sum in flight; see sumsInPlace().
using StoredSums = std::vector<bool>;

/// Returns the chunks that hold a step's message until it is received: the source of a send, or the place where a step
/// stores the message. Returns nothing if there is no such place.
std::optional<BufferPlace> messagePlace(const StepGraph &graph, std::uint32_t step, const StoredSums &stored);

/// Returns an order in which each step follows the steps for which it waits. A step is taken as soon as it can begin;
/// the step that has waited longest comes first. A step that would overwrite a message waits until the message is
/// received. If all remaining steps wait for messages, these messages are kept elsewhere. If there is no order, reports
/// the circle and returns nothing. The time is linear in the steps and the chunks that they touch.
std::optional<StepOrder> orderSteps(const StepGraph &graph, const ir::ChunkCells &cells, const StoredSums &stored,
                                    Findings &findings);

/// Finds steps that reduce a received message and send the sum without storing it ("rrs"). The sum can be stored at the
/// step's source, if no other step reads the source before it is overwritten. `order` is an order of the steps.
StoredSums sumsInPlace(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order);

} // namespace mscclc::xml
