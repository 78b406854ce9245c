// Random programs that are right by construction, and random changes that may break them.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace fuzz {

struct RandomProgram {
  mscclc::ir::Program program;
  /// The program depends on the order of one thread within a phase, or on blocks that take turns. It is right, but the
  /// proof may refuse it.
  bool unusual = false;
};

/// Returns a program of a few ranks and steps, with one or several instances. Its custom collective states what it
/// computes. Every place in memory has an owner, a block of its rank. Other blocks access the place only between two
/// messages to and from the owner.
RandomProgram randomProgram(std::uint64_t seed);

/// Returns `program` with one operation removed, moved, doubled or changed. The result may be wrong or still right.
/// Returns nothing if it would not be well formed. `what` describes the change.
std::optional<mscclc::ir::Program> mutate(const mscclc::ir::Program &program, std::uint64_t seed, std::string &what);

} // namespace fuzz
