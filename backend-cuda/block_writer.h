// Turns a block program, shared by many blocks, into statements.
#pragma once

#include "backend-cuda/model.h"
#include "ir/program.h"

#include <array>

namespace mscclc::cuda {

/// What all block programs of a kernel have in common.
struct KernelFacts {
  const ir::Program &program;
  /// Template argument of a reduction, by its operation: "Op" where the plan has one operation throughout.
  std::array<std::string, 3> reduceOp;
  bool readsPeers = false; ///< some operation reads memory of other ranks
};

/// Statements of the program that `instances` run; they have one shape. Tables it needs are added to `tables`.
std::vector<Statement> writeBlock(const KernelFacts &facts, const std::vector<SampleSpace::Instance> &instances,
                                  Tables &tables);

} // namespace mscclc::cuda
