// Finds an order in which all steps can be executed one by one.
#pragma once

#include "frontend/xml/step_graph.h"
#include "ir/chunk_cells.h"

#include <optional>
#include <vector>

namespace mscclc::xml {

struct StepOrder {
  std::vector<std::uint32_t> steps;
  /// [step]: its message is overwritten before it is received, so it needs a place of its own until then.
  std::vector<bool> keeps;
};

/// [step]: steps that store their sum at their source, while MSCCL keeps it in flight; see sumsInPlace().
using StoredSums = std::vector<bool>;

/// Returns the chunks in which a step's message is until it is received: the source of a send, or the place where a
/// step stores what it sends. Returns nothing if there is no such place.
std::optional<BufferPlace> messagePlace(const StepGraph &graph, std::uint32_t step, const StoredSums &stored);

/// Returns an order in which each step follows those that it waits for. A step is taken as soon as it can begin, the
/// one that has waited longest first. A step that overwrites a message's place waits until the message is received. If
/// all remaining steps wait for that, these messages are kept elsewhere. If there is no order, reports the circle and
/// returns nothing. Linear in steps and the chunks that they touch.
std::optional<StepOrder> orderSteps(const StepGraph &graph, const ir::ChunkCells &cells, const StoredSums &stored,
                                    Findings &findings);

/// Finds steps that reduce what they receive and send the sum without storing it ("rrs"). If no other step reads their
/// source before it is overwritten, the sum can be stored there. `order` is an order of the steps.
StoredSums sumsInPlace(const StepGraph &graph, const ir::ChunkCells &cells, const StepOrder &order);

} // namespace mscclc::xml
