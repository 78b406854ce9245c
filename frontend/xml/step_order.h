// An order of all steps in which they can be executed one by one.
#pragma once

#include "frontend/xml/step_graph.h"
#include "ir/chunk_cells.h"

#include <optional>
#include <vector>

namespace mscclc::xml {

struct StepOrder {
  std::vector<std::uint32_t> steps;
  /// [step]: what it sends is overwritten before it is received, so the message needs a place of its own until then.
  std::vector<bool> keeps;
};

/// Steps that store what MSCCL leaves in flight, at their source: [step]; see sumsInPlace().
using StoredSums = std::vector<bool>;

/// The chunks that a step's message lies in until it is received, or nothing if it lies nowhere: the source of a send,
/// and what a step stores before it sends it on.
std::optional<BufferPlace> messagePlace(const StepGraph &graph, std::uint32_t step, const StoredSums &stored);

/// An order in which each step comes after those that it waits for. Steps are taken as soon as they can begin, the
/// longest waiting first, but one that overwrites a message's place waits until the message is received; where all wait
/// for that, these messages are kept elsewhere. Nothing, and a finding that shows the circle, if there is no order.
/// Linear in steps and the chunks that they touch.
std::optional<StepOrder> orderSteps(const StepGraph &graph, const ir::ChunkCells &cells, const StoredSums &stored,
                                    Findings &findings);

/// The steps that reduce what they receive and send the sum on without storing it ("rrs"), and whose source nobody
/// reads but them before it is overwritten: the sum can lie there, and needs no other place. `order` is one of the
/// steps.
StoredSums sumsInPlace(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order);

} // namespace mscclc::xml
