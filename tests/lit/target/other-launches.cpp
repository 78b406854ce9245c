// What launches around one may do to its scratch on the executor is not in the program, so there is one warning each: of
// 0 bytes, which turn double scratch, and of other plans, where all share one scratch.
// RUN: %verify --prefix=empty %s --no-verify -P doubled=true
// RUN: %verify --prefix=shared %s --no-verify -P reused=true
// RUN: mscclc %s -P doubled=true --verify --target=mscclpp 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: mscclc %s -P doubled=true -P least=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: mscclc %s -P doubled=true -P reused=true --target=none -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: mscclc %s -P doubled=true -P reused=true --emit-cuda -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: mscclc %s -P doubled=true -P reused=true -P chunks=0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: mscclc %s -P doubled=true | FileCheck %s --check-prefix=PLAN

// ONE-COUNT-1: warning:
// ONE-NOT: warning:
// SILENT-NOT: warning
// PLAN: "min_message_size": 0
// empty-warning@"program 'others'" {{a launch of 0 bytes changes halves of double scratch and moves nothing, so the launches of mscclpp-1f5f065d around it race: rule such launches out by .minMessageSize = 1 (min_message_size of a plan)}}
// shared-warning@"program 'others'" {{with reuse_resources all plans of an executor share one scratch: a rank with no part in one plan may begin the next and write where mscclpp-1f5f065d still runs the first; let such a rank wait for the others, or give the plan an executor of its own}}
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void others(bool doubled = false, bool reused = false, int least = 0, int chunks = 1) {
  CollectiveProgram program(
      "others", AllReduce(1, 1, false),
      {.reuseResources = reused, .doubleScratch = doubled, .minMessageSize = least, .maxMessageSize = 1_MiB});
  Rank self(0);
  if (chunks != 0) {
    Buffer scratch(0, 1);
    self.copy(scratch[0], self.input()[0], tb(0));
    self.copy(self.output()[0], scratch[0], tb(0));
  } else {
    self.copy(self.output()[0], self.input()[0], tb(0));
  }
}
