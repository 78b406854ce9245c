// Files, also by declarations of one's own and through a pointer.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
extern "C" void *fopen(const char *, const char *);
extern "C" int open(const char *, int, ...);

MSCCLC_ALGORITHM void f() {
  // CHECK: files.cpp:[[#@LINE+1]]:3: error: 'fopen' has no definition here
  fopen("escaped", "w");
  // CHECK: files.cpp:[[#@LINE+1]]:18: error: 'open' has no definition here
  auto opener = &open;
  opener("escaped", 0101);
}
