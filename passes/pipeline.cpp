#include "passes/pipeline.h"

#include "ir/internal_error.h"

#include <string_view>

namespace mscclc::passes {
namespace {

struct Step {
  std::string_view pass;
  Stage stage;
  int level;       ///< the least optimisation level that runs the pass
  int ofScheduled; ///< the least level for thread blocks that were made from statements
};

constexpr Step steps[] = {
    // The order of statements follows from their ranks alone, so programs that differ only in blocks share it. Order
    // and blocks together determine which statements are complete when another one begins.
    {"place", Stage::Place, 0, 0},
    {"order", Stage::Place, 0, 0},
    {"cut", Stage::Deal, 0, 0},
    {"share-scratch", Stage::Schedule, 0, 0},
    // From here on, the program consists of thread blocks. Operations of one block may still conflict.
    {"synchronise", Stage::Synchronise, 0, 0},
    // Runs while sync is still part of operations, because a nop between two operations would prevent their fusion.
    {"fuse", Stage::Tidy, 1, 1},
    // The sync of each call becomes nops. Beyond this point, no operation carries sync of its own.
    {"lower-data-sync", Stage::Tidy, 0, 0},
    // Runs while chunks are still those that the program names. In blocks that are made from statements, all sync
    // inside a block comes from this pass.
    {"infer-sync", Stage::Tidy, 1, 0},
    // A nop of the program may be redundant. A nop of infer-sync never is.
    {"drop-redundant-sync", Stage::Tidy, 2, 2},
    // Operations that a nop separated may be neighbours now.
    {"fuse", Stage::Tidy, 2, 2},
    // In merged operations, several threads wait. Beyond this point, no two threads wait on one channel at the same
    // time.
    {"split-waits", Stage::Tidy, 2, 2},
    // A put and its flush are one operation until here, so that fusion joins puts of several channels.
    {"defer-flush", Stage::Tidy, 2, 2},
    // Runs after all passes that change sync. Runs before instances are made, because they all need the same sync.
    {"prune-sync", Stage::Prune, 2, 2},
    // Beyond this point, blocks, chunks and channels are those of the plan.
    {"replicate-instances", Stage::Fit, 0, 0},
    // Puts of adjacent chunks stay separate until here, so that the instances divide each of them.
    {"join-puts", Stage::Fit, 2, 2},
    // fit-executor changes only operations that exceed the executor's limits, and refuses a program that cannot fit.
    // check-executor refuses a program that the executor would run wrongly.
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

} // namespace mscclc::passes
