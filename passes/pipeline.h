// The passes in their order. The meaning of a program of statements, and its open choices, are found before the first
// of them (compiler/session.cpp).
#pragma once

#include <cstdint>
#include <string>

namespace mscclc::passes {

inline constexpr int maxOptLevel = 2;

/// The parts of a pipeline, in their order.
enum class Stage : std::uint8_t {
  Place,       ///< sets the executor, the way and the order of statements
  Deal,        ///< sets the thread block of each statement
  Schedule,    ///< settles all that the sync of thread blocks follows from
  Synchronise, ///< makes the thread blocks of the statements
  Tidy,        ///< makes operations fewer, and the sync inside a block
  Prune,       ///< removes sync that the proof does not need
  Fit,         ///< fits thread blocks to the form of a plan and the limits of the target
};

/// Returns the passes of -O`optLevel` from one stage to another, as a list for PassManager::add. A program of thread
/// blocks begins at Stage::Tidy, a program of statements at Stage::Place.
std::string pipeline(int optLevel, Stage from, Stage to = Stage::Fit);

} // namespace mscclc::passes
