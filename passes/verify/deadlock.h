// Finds the blocks that are stuck for ever, and the reason: a cycle of waits, or a wait for something that never comes.
#pragma once

#include "passes/run/control.h"
#include "passes/run/memory.h"

#include <unordered_map>

namespace mscclc::passes::proof {

/// An operation that could still satisfy a wait.
struct Source {
  std::uint32_t block = none, op = 0;
};

/// Either blocks that wait for each other in a cycle, or one block whose wait no operation can satisfy.
struct Stuck {
  std::vector<std::uint32_t> blocks;
  std::vector<Source> sources; ///< for each block, the operation that could satisfy its wait; empty for a single block
};

/// Examines a run whose launch did not end. Each unfinished block waits for one thing, and for each thing only one
/// operation is considered. So following the waits from any block leads into a cycle or to an end.
class DeadlockSearch {
public:
  DeadlockSearch(const ProgramIndex &index, const Geometry &geometry, const Memory &memory, const Control &control)
      : index_(index), geometry_(geometry), memory_(memory), control_(control) {}

  /// Returns the stuck blocks in the order of their numbers, each cycle once.
  std::vector<Stuck> find();

private:
  static std::uint64_t key(Waiting::Kind kind, std::uint32_t id) { return std::uint64_t{kind} << 32 | id; }
  void collect();
  void collectFrom(std::uint32_t block, std::uint32_t op);
  Source sourceOf(std::uint32_t block) const;
  Source missingAt(std::uint32_t barrier, std::uint32_t block) const;

  const ProgramIndex &index_;
  const Geometry &geometry_;
  const Memory &memory_;
  const Control &control_;
  std::unordered_map<std::uint64_t, Source> sources_; ///< key() of a wait → the first operation that could end it
  std::unordered_map<CellId, Source> writers_; ///< packet that a block waits for → the first operation that writes it
};

} // namespace mscclc::passes::proof
