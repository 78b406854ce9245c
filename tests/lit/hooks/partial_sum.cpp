// A hook is applied to a sum that a rank adds to later. What is rounded before the hook is no partial result.
// A test collective has no user, so only its first launch begins with known data: its bits are those of the tree.
// RUN: mscclc %s --target=none --emit-ir | FileCheck %s
// RUN: mscclc %s --target=none --run --dtype f16 --size 80 --schedules 5 | FileCheck %s --check-prefix=RAN
// RUN: mscclc %s -P alsoSum=true --target=none --emit-ir | FileCheck %s --check-prefix=BOTH
// RUN: mscclc %s -P alsoSum=true --target=none --run --dtype f16 --size 80 --schedules 5 | FileCheck %s --check-prefixes=RAN,BITS
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void partial_sum(bool alsoSum = false) {
  CollectiveProgram program("partial_sum", TestCollective(3, 1, 2),
                            {.schedule = Schedule::Auto, .accumulate = Accumulate::Wide});
  Hook hook("scale", {.granularity = Granularity::Element});
  copy(Rank(0).output()[0], Rank(0).input()[0]);
  reduce(Rank(0).output()[0], {Rank(1).input()[0]});
  if (alsoSum) {
    copy(Rank(2).output()[1], Rank(0).output()[0]);
    reduce(Rank(2).output()[1], {Rank(2).input()[0]});
  }
  apply(hook, Rank(0).output()[0]);
  copy(Rank(2).output()[0], Rank(0).output()[0]);
  reduce(Rank(2).output()[0], {Rank(2).input()[0]});
}

// CHECK: accumulate once
// CHECK: apply hook0 output[0:1] <- output[0:1]
// BOTH: accumulate wide
// BOTH: apply hook0 output[0:1] <- output[0:1]
// RAN: {{80 +5 +0 +ran}}
// BITS: {{80 bits +[0-9]+ +0 +ran}}
