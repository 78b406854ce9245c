// A null pointer.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

struct Link {
  int peer = 0;
};
MSCCLC_ALGORITHM void f() {
  Link *link = nullptr;
  // CHECK: null_access.cpp:[[#@LINE+1]]:9: error: member access within a null pointer to 'Link'
  link->peer = 3;
}
