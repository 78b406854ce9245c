// Facts that all block programs of a kernel share.
#pragma once

#include "backend-cuda/remote_reads.h"

#include <array>
#include <string>

namespace mscclc::cuda {

struct KernelFacts {
  const ir::Program &program;
  /// Template argument of each reduction. It is "Op" if the plan has only one kind of reduction.
  std::array<std::string, ir::reduceOpCount> reduceOp;
  RemoteReads remoteReads;
};

} // namespace mscclc::cuda
