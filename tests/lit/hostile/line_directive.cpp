// A line directive names files that are none: the error shows no line of them, and waits for nothing.
// RUN: rm -f %t
// RUN: not mscclc %s --algorithm zero -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-ZERO
// RUN: not mscclc %s --algorithm input -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-INPUT
// RUN: not mscclc %s --algorithm escape -o %t 2>&1 | FileCheck %s --check-prefix=CHECK-ESCAPE --match-full-lines
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

// CHECK-ZERO: /dev/zero:7:{{[0-9]+}}: error: 'Rank' outside a program
// CHECK-INPUT: /dev/stdin:7:{{[0-9]+}}: error: 'Rank' outside a program
// CHECK-ESCAPE: a?b?[31m:7:{{[0-9]+}}: error: 'Rank' outside a program{{.*}}
#line 7 "/dev/zero"
MSCCLC_ALGORITHM void zero() { mscclc::Rank rank(0); }
#line 7 "/dev/stdin"
MSCCLC_ALGORITHM void input() { mscclc::Rank rank(0); }
#line 7 "a\nb\x1b[31m"
MSCCLC_ALGORITHM void escape() { mscclc::Rank rank(0); }
