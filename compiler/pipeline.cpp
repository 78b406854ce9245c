#include "compiler/pipeline.h"

#include "ir/internal_error.h"

namespace mscclc::driver {

std::string_view pipelineOf(int optLevel) {
  switch (optLevel) {
  case 0:
    return
        // What each call asked for stands as nops. Beyond this point, no operation carries sync of its own.
        "lower-data-sync,"
        // Beyond this point, blocks, chunks and channels are those of the plan.
        "replicate-instances,"
        // Only splits what would overrun the executor, and refuses what it cannot run or gets wrong.
        "fit-executor,check-executor";
  case 1:
    return
        // Needs sync still on operations: a nop between two of them would part them.
        "fuse,lower-data-sync,"
        // Needs chunks as the program names them. Beyond this point, no block races with itself.
        "infer-sync,"
        "replicate-instances,fit-executor,check-executor";
  case 2:
    return "fuse,lower-data-sync,infer-sync,"
           // Nops the program asked for may order nothing; those that infer-sync put in always do.
           "drop-redundant-sync,"
           // Operations that a nop parted may be neighbours now.
           "fuse,"
           // What was merged waits by several threads. Beyond this point, no two wait on one channel at once.
           "split-waits,"
           // Needs the sync of the final operations, and all of it in place; instances need the same, each.
           "prune-sync,"
           "replicate-instances,fit-executor,check-executor";
  default:
    throw ir::InternalError("there is no -O" + std::to_string(optLevel));
  }
}

std::string_view sharedPipeline() {
  return "place,cut,order,share-scratch,synchronise,"
         "fuse,lower-data-sync,infer-sync,drop-redundant-sync,fuse,split-waits";
}

std::string candidatePipeline() {
  return std::string(sharedPipeline()) + ",replicate-instances,fit-executor,check-executor";
}

std::string schedulingPipelineOf(int optLevel) {
  std::string passes =
      // What each statement needs of its rank, then of blocks, is known in this order; what is over when a statement
      // begins, by what follows from the order. Beyond this point, the program is one of thread blocks, in which
      // operations of one block may still conflict.
      "place,cut,order,share-scratch,synchronise,";
  if (optLevel == 0)
    passes += "lower-data-sync,infer-sync,";
  return passes.append(pipelineOf(optLevel));
}

} // namespace mscclc::driver
