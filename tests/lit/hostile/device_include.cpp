// A file that never ends.
// RUN: rm -f %t
// RUN: not mscclc %s --allow-include=/dev -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
// CHECK: device_include.cpp:[[#@LINE+1]]:10: error: '/dev/zero' is not a regular file
#include "/dev/zero"

MSCCLC_ALGORITHM void f() {}
