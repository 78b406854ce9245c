#include "compiler/pipeline.h"

#include "ir/internal_error.h"

#include <string_view>

namespace mscclc::driver {
namespace {

struct Step {
  std::string_view pass;
  Stage stage;
  int level;       ///< the least that runs it
  int ofScheduled; ///< the same, for thread blocks that were made of statements
};

constexpr Step steps[] = {
    // The order of statements follows from their ranks alone: programs that differ in their blocks share it. What is
    // over when a statement begins follows from both.
    {"place", Stage::Place, 0, 0},
    {"order", Stage::Place, 0, 0},
    {"cut", Stage::Deal, 0, 0},
    {"share-scratch", Stage::Schedule, 0, 0},
    // Beyond this point, the program is one of thread blocks, in which operations of one block may still conflict.
    {"synchronise", Stage::Synchronise, 0, 0},
    // Needs sync still on operations: a nop between two of them would part them.
    {"fuse", Stage::Tidy, 1, 1},
    // What each call asked for stands as nops. Beyond this point, no operation carries sync of its own.
    {"lower-data-sync", Stage::Tidy, 0, 0},
    // Needs chunks as the program names them. The blocks of a schedule get the sync inside a block from it alone.
    {"infer-sync", Stage::Tidy, 1, 0},
    // Nops the program asked for may order nothing; those that infer-sync put in always do.
    {"drop-redundant-sync", Stage::Tidy, 2, 2},
    // Operations that a nop parted may be neighbours now.
    {"fuse", Stage::Tidy, 2, 2},
    // What was merged waits by several threads. Beyond this point, no two wait on one channel at once.
    {"split-waits", Stage::Tidy, 2, 2},
    // Needs the sync of the final operations, and all of it in place; instances need the same, each.
    {"prune-sync", Stage::Prune, 2, 2},
    // Beyond this point, blocks, chunks and channels are those of the plan.
    {"replicate-instances", Stage::Fit, 0, 0},
    // Only splits what would overrun the executor, and refuses what it cannot run or gets wrong.
    {"fit-executor", Stage::Fit, 0, 0},
    {"check-executor", Stage::Fit, 0, 0},
};

} // namespace

std::string pipeline(int optLevel, Stage from, Stage to) {
  if (optLevel < 0 || optLevel > maxOptLevel)
    throw ir::InternalError("there is no -O" + std::to_string(optLevel));
  std::string list;
  for (const Step &step : steps)
    if (step.stage >= from && step.stage <= to && optLevel >= (from < Stage::Tidy ? step.ofScheduled : step.level))
      list.append(list.empty() ? "" : ",").append(step.pass);
  return list;
}

} // namespace mscclc::driver
