// Finds the dependences between operations of different blocks: by signals, semaphores, barriers and packets.
//
// Operations on a counter are paired in the order of the program: the k-th send with the k-th take. Operations of one
// block come before those of the next, and the body of a pipeline counts once. Example: a block signals twice, and
// another one waits twice. The first wait depends on the first signal, and the second wait on the second signal. If one
// block sends and one block takes, this is the order of every run. Nearly all verified programs have this form.
#pragma once

#include "ir/program.h"

#include <cstdint>
#include <vector>

namespace mscclc::passes {

enum class DependenceKind : std::uint8_t {
  Signal,    ///< a signal, and the wait that takes it
  Semaphore, ///< a release, and the acquire that takes it
  Barrier,   ///< two blocks that meet; there is no order between them
  Packet,    ///< an operation that writes packets, and one that reads them
};

struct Dependence {
  DependenceKind kind = DependenceKind::Signal;
  ir::OpRef from, to;
  friend auto operator<=>(const Dependence &, const Dependence &) = default;
};

/// Returns all dependences, each once, sorted. Requires a program that ir::checkStructure accepts, with thread blocks
/// (ir::requireBlocks). An operation without a counterpart has no entry.
std::vector<Dependence> dependences(const ir::Program &program);

} // namespace mscclc::passes
