// Options may stand in any order, as in Python: Clang takes them so, and there is nothing to warn of.
// RUN: mscclc %s -P ranks=2 -O0 --emit-ir 2>&1 | FileCheck %s --implicit-check-not=warning
// CHECK: threads_per_block 512
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void options_order(int ranks = 2) {
  CollectiveProgram program("options_order", TestCollective(ranks, 1, 1),
                            {.maxMessageSize = 1_GiB, .threadsPerBlock = 512, .instances = 1});
  Rank(0).copy(Rank(0).output()[0], Rank(0).input()[0], tb(0));
}
