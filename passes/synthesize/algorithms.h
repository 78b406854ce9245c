// The algorithms that a synthesis compares, as programs.
#pragma once

#include "passes/synthesize/forest.h"
#include "passes/synthesize/statements.h"

#include "ir/program.h"

#include <functional>
#include <string>
#include <vector>

namespace mscclc::passes::synthesize {

/// An algorithm, and the function that writes its program.
struct Algorithm {
  std::string name; ///< "ring", "bruck4"; a part of the program's name
  std::function<ir::Program()> write;
};

/// Returns the program in which data goes along trees. An all-gather and a broadcast use `down`. A reduce-scatter and a
/// reduce use `up`. The hops of `up` also lead away from the root, but data goes in the opposite direction. An
/// all-reduce first uses `up`, then `down`; the roots hold the sums in between. For an all-reduce, both forests have
/// the same number of trees for each source. A forest that is not used may be empty.
ir::Program treeProgram(const Task &task, const std::string &name, const Forest &down, const Forest &up);

/// Returns the algorithms for a collective that look the same from every rank, or from every rank with the same number
/// in its node. Bruck's algorithm is included with every radix up to the number of ranks. `hasSwitch`: each node has a
/// switch that sums and multicasts.
std::vector<Algorithm> symmetricAlgorithms(const Task &task, bool hasSwitch);

} // namespace mscclc::passes::synthesize
