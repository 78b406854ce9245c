// Functions that cannot be algorithms.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

struct Holder {
  // CHECK: refused_kinds.cpp:[[#@LINE+1]]:25: error: 'method' cannot be an algorithm: it must be a function outside a class
  MSCCLC_ALGORITHM void method() {}
};
// CHECK: refused_kinds.cpp:[[#@LINE+1]]:22: error: 'result' cannot be an algorithm: it must be a function that returns nothing (void)
MSCCLC_ALGORITHM int result() { return 1; }
// CHECK: refused_kinds.cpp:[[#@LINE+1]]:38: error: parameter 'ranks' of an algorithm needs a default value
MSCCLC_ALGORITHM void no_default(int ranks) {}
// CHECK: refused_kinds.cpp:[[#@LINE+1]]:45: error: parameter 'p' of an algorithm cannot have type 'const int *': integers, bool, enums, double and std::string_view are possible
MSCCLC_ALGORITHM void wrong_type(const int *p = nullptr) {}
int three();
// CHECK: refused_kinds.cpp:[[#@LINE+1]]:46: error: the default value of parameter 'n' is not a constant
MSCCLC_ALGORITHM void not_constant(int n = 1 + three()) {}
// CHECK: refused_kinds.cpp:[[#@LINE+1]]:35: error: a parameter of an algorithm needs a name
MSCCLC_ALGORITHM void unnamed(int = 1) {}
