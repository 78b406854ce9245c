// What all block programs of a kernel have in common.
#pragma once

#include "backend-cuda/remote_reads.h"

#include <array>
#include <string>

namespace mscclc::cuda {

struct KernelFacts {
  const ir::Program &program;
  /// Template argument of a reduction, by its operation: "Op" where the plan has one operation throughout.
  std::array<std::string, ir::reduceOpCount> reduceOp;
  RemoteReads remoteReads;
};

} // namespace mscclc::cuda
