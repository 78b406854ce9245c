// Ten errors are shown, or as many as --max-errors says; the last line tells how many more there are.
// RUN: not mscclc %s 2>&1 | FileCheck %s --check-prefix=TEN
// RUN: not mscclc %s --max-errors=2 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not mscclc %s --max-errors=0 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not mscclc %s --max-errors=12 2>&1 | FileCheck %s --check-prefix=ALL
// What Clang finds counts as well.
// RUN: not mscclc %s -DBROKEN --max-errors=3 2>&1 | FileCheck %s --check-prefix=CLANG
// RUN: sh -c 'mscclc %s --max-errors=-1; echo code=$?' 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: sh -c 'mscclc %s --max-errors=few; echo code=$?' 2>&1 | FileCheck %s --check-prefix=USAGE
#include <mscclc/dsl.hpp>
using namespace mscclc;

#ifdef BROKEN
constexpr int a = one;
constexpr int b = two;
constexpr int c = three;
constexpr int d = four;
constexpr int e = five;
#endif

MSCCLC_ALGORITHM void broken() {
  CollectiveProgram program("broken", AllReduce(2, 1, false));
  Rank rank(0);
  rank.copy(rank.output()[0], rank.input()[2], tb(0));
  rank.copy(rank.output()[0], rank.input()[3], tb(0));
  rank.copy(rank.output()[0], rank.input()[4], tb(0));
  rank.copy(rank.output()[0], rank.input()[5], tb(0));
  rank.copy(rank.output()[0], rank.input()[6], tb(0));
  rank.copy(rank.output()[0], rank.input()[7], tb(0));
  rank.copy(rank.output()[0], rank.input()[8], tb(0));
  rank.copy(rank.output()[0], rank.input()[9], tb(0));
  rank.copy(rank.output()[0], rank.input()[10], tb(0));
  rank.copy(rank.output()[0], rank.input()[11], tb(0));
  rank.copy(rank.output()[0], rank.input()[12], tb(0));
  rank.copy(rank.output()[0], rank.input()[13], tb(0));
}

// TEN-COUNT-10: max-errors.cpp:{{[0-9]+}}:{{[0-9]+}}: error:
// TEN-NOT: : error:
// TEN: {{^}}12 errors generated (2 errors not shown; --max-errors=0 shows all).
// TWO-COUNT-2: max-errors.cpp:{{[0-9]+}}:{{[0-9]+}}: error:
// TWO-NOT: : error:
// TWO: {{^}}12 errors generated (10 errors not shown; --max-errors=0 shows all).
// ALL-COUNT-12: max-errors.cpp:{{[0-9]+}}:{{[0-9]+}}: error:
// ALL: {{^}}12 errors generated.
// CLANG-COUNT-3: error: use of undeclared identifier
// CLANG-NOT: : error:
// CLANG: {{^}}5 errors generated (2 errors not shown; --max-errors=0 shows all).
// USAGE: mscclc: error: {{.*}}--max-errors
// USAGE: code=2
