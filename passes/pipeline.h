// The passes in their order. The meaning of a program of statements, and its open choices, are found before the first
// of them (compiler/session.cpp).
#pragma once

#include <cstdint>
#include <string>

namespace mscclc::passes {

inline constexpr int maxOptLevel = 2;

/// The parts of a pipeline, in their order.
enum class Stage : std::uint8_t {
  Place,       ///< of statements: who executes each, through what, and in which order
  Deal,        ///< of statements: in which thread block
  Schedule,    ///< of statements: what the sync of their thread blocks follows from
  Synchronise, ///< of statements: the thread blocks
  Tidy,        ///< of thread blocks: fewer operations, and the sync inside a block
  Prune,       ///< of thread blocks: without sync that the proof does not need
  Fit,         ///< of thread blocks: as they are in a plan, within the limits of the target
};

/// Returns the passes of -O`optLevel` from one stage to another, as a list for PassManager::add. A program of thread
/// blocks begins at Stage::Tidy, a program of statements at Stage::Place.
std::string pipeline(int optLevel, Stage from, Stage to = Stage::Fit);

} // namespace mscclc::passes
