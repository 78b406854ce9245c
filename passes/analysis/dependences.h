// What operations of different blocks wait for each other by: signals, semaphores, barriers, packets.
//
// Counters are paired in the order of the program: the k-th that is sent with the k-th that is taken, operations of one
// block before those of the next, a pipeline's body once. That is the order of every run where one block sends and one
// takes, as verified programs nearly always have it.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes {

enum class DependenceKind : std::uint8_t {
  Signal,    ///< a signal and the wait that takes it
  Semaphore, ///< a release and the acquire that takes it
  Barrier,   ///< two blocks that meet; neither is first
  Packet,    ///< what writes packets and what reads them
};

struct Dependence {
  DependenceKind kind = DependenceKind::Signal;
  ir::OpRef from, to;
  friend auto operator<=>(const Dependence &, const Dependence &) = default;
};

/// All of them, each once, sorted. Requires: a program that ir::checkStructure accepts, with thread blocks
/// (ir::requireBlocks). What has no counterpart has no entry.
std::vector<Dependence> dependences(const ir::Program &program);

} // namespace mscclc::passes
