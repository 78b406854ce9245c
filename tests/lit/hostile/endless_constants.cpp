// Constants that take forever to compute: the first ends it, and nothing is said of the others.
// RUN: rm -f %t
// RUN: not mscclc %s --trace-timeout=8 -o %t 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

constexpr int endless(int n) {
  for (int i = 0; i < n; i = i + 1 - 1)
    --i;
  return n;
}
constexpr int many(int n) {
  return n < 2 ? n : many(n - 1) + many(n - 2);
}

MSCCLC_ALGORITHM void f() {
  // CHECK: endless_constants.cpp:[[#@LINE+2]]:17: error: constexpr variable 'a' must be initialized by a constant
  // expression CHECK: note: constexpr evaluation hit maximum step limit; possible infinite loop?
  constexpr int a = endless(1), b = many(50), c = endless(2), d = many(51), e = endless(3), g = many(52);
  constexpr int h = endless(4), i = many(53), j = endless(5), k = many(54), l = endless(6), m = many(55);
  static_assert(many(56) == 3);
}
constexpr int n = endless(1), o = many(50), p = endless(2), q = many(51), r = endless(3), s = many(52);
constexpr int t = endless(4), u = many(53), v = endless(5), w = many(54), x = endless(6), y = many(55);
static_assert(many(56) == 3);
// CHECK: 1 error generated
