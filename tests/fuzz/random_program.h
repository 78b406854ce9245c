// Random programs that are right by construction, and random ways to break them.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace fuzz {

struct RandomProgram {
  mscclc::ir::Program program;
  /// It leans on the order of one thread within a phase, or on blocks that take turns: right, but a proof may refuse it.
  bool unusual = false;
};

/// A program of a few ranks and steps, of one instance or more, with a custom collective that states what it computes.
/// Every place in memory has an owner, a block of its rank; whoever else touches it does so between two messages with
/// the owner.
RandomProgram randomProgram(std::uint64_t seed);

/// `program` with one thing wrong, or not: an operation dropped, moved, doubled or changed. Nothing where the result is
/// no well-formed program. `what` says what was done.
std::optional<mscclc::ir::Program> mutate(const mscclc::ir::Program &program, std::uint64_t seed, std::string &what);

} // namespace fuzz
