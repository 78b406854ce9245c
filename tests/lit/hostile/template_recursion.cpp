// A template that instantiates itself without end.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

template <int n> struct Deep {
  // CHECK: template_recursion.cpp:[[#@LINE+1]]:32: error: recursive template instantiation exceeded maximum depth
  static constexpr int value = Deep<n + 1>::value;
};

MSCCLC_ALGORITHM void f() { mscclc::Rank rank(Deep<0>::value); }
