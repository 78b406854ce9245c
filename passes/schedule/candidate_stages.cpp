#include "passes/schedule/candidate_stages.h"

#include "ir/movement.h"

#include <algorithm>

namespace mscclc::passes::schedule {
namespace {

/// True if a placed program does not depend on `pull`, because every operand on another rank arrives in packets.
bool isAnySide(const Made &placed) {
  return std::ranges::all_of(placed.passed.program.movement.statements,
                             [](const ir::Move &s) { return !s.via || s.packets.value_or(false); });
}

/// True if two results of `part` are equal for all later parts. Their candidates must have the same protocol and step.
bool isSame(Part part, const Made &one, const Made &other) {
  if (one.passed.isRefused || other.passed.isRefused)
    return false;
  const ir::Program &a = one.passed.program, &b = other.passed.program;
  switch (part) {
  case Part::Place:
    return a.movement.statements == b.movement.statements && a.movement.places == b.movement.places &&
           std::ranges::equal(a.ranks, b.ranks, {}, &ir::Rank::scratchChunks, &ir::Rank::scratchChunks);
  case Part::Deal:
    return one.blocks == other.blocks;
  case Part::Schedule:
  case Part::Take:
    return false;
  }
  return false;
}

} // namespace

ScheduleChoices readBy(Part part, const ScheduleChoices &choices) {
  switch (part) {
  case Part::Place:
    return {.protocol = choices.protocol,
            .pull = choices.pull,
            .throughSwitch = choices.throughSwitch,
            .step = choices.step != 0 ? 1u : 0u};
  case Part::Deal:
    return {.protocol = choices.protocol, .blocks = choices.blocks, .step = choices.step};
  case Part::Schedule:
    return {.protocol = choices.protocol, .step = choices.step, .relayBlocks = choices.relayBlocks};
  case Part::Take:
    return {.protocol = choices.protocol, .instances = choices.instances};
  }
  return choices;
}

std::shared_ptr<Made> MadeParts::find(const Key &key) const {
  if (const auto known = made_.find(key); known != made_.end())
    return known->second;
  Key other = key;
  other.read.pull = !key.read.pull;
  const auto known = made_.find(other);
  return key.part == Part::Place && known != made_.end() && isAnySide(*known->second) ? known->second : nullptr;
}

std::shared_ptr<Made> MadeParts::add(const Key &key, Made made) {
  const auto same = std::ranges::find_if(made_, [&](const auto &known) {
    const Key &other = known.first;
    return other.part == key.part && other.before == key.before && other.read.protocol == key.read.protocol &&
           other.read.step == key.read.step && isSame(key.part, *known.second, made);
  });
  return made_[key] = same != made_.end() ? same->second : std::make_shared<Made>(std::move(made));
}

} // namespace mscclc::passes::schedule
