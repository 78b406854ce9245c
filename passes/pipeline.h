// Lists the passes in their order. Before the first pass, compiler/session.cpp finds the meaning of a program of
// statements, and settles its open choices.
#pragma once

#include <cstdint>
#include <string>

namespace mscclc::passes {

inline constexpr int maxOptLevel = 2;

/// The parts of a pipeline, in their order.
enum class Stage : std::uint8_t {
  Place,       ///< sets the executing rank, the transport and the order of each statement
  Deal,        ///< sets the thread block of each statement
  Schedule,    ///< settles everything on which the sync of thread blocks depends
  Synchronise, ///< makes thread blocks from the statements
  Tidy,        ///< reduces the number of operations, and makes the sync inside blocks
  Prune,       ///< removes sync that the proof does not need
  Fit,         ///< fits thread blocks to the form of a plan and the limits of the target
};

/// Returns the passes of -O`optLevel` from one stage to another, as a list for PassManager::add. A program of thread
/// blocks begins at Stage::Tidy, a program of statements at Stage::Place.
std::string pipeline(int optLevel, Stage from, Stage to = Stage::Fit);

} // namespace mscclc::passes
