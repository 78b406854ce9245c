// Who is stuck for ever, and why: blocks that wait for each other in a circle, or for what nobody brings.
#pragma once

#include "passes/run/control.h"
#include "passes/run/memory.h"

#include <unordered_map>

namespace mscclc::passes::proof {

/// An operation that could still bring what somebody waits for.
struct Source {
  std::uint32_t block = none, op = 0;
};

/// Blocks each of which waits for the next, the last for the first; or one block that waits for nobody.
struct Stuck {
  std::vector<std::uint32_t> blocks;
  std::vector<Source> sources; ///< of what each of them waits for; empty for one that waits for nobody
};

/// Looks at a run whose launch did not end. Each unfinished block waits for one thing, and each thing has at most
/// one operation that is looked at: so following them from any block leads into a circle or to an end.
class DeadlockSearch {
public:
  DeadlockSearch(const ProgramIndex &index, const Geometry &geometry, const Memory &memory, const Control &control)
      : index_(index), geometry_(geometry), memory_(memory), control_(control) {}

  /// In the order of blocks, each circle once.
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
  std::unordered_map<std::uint64_t, Source> sources_; ///< of signals and releases
  std::unordered_map<CellId, Source> writers_;        ///< of packets that are waited for
};

} // namespace mscclc::passes::proof
