// Names that belong to the compiler.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
#include <cstddef>

// CHECK: reserved_names.cpp:[[#@LINE+1]]:7: error: 'operator new' is a name of the compiler's
void *operator new(std::size_t) { return nullptr; }
// CHECK: reserved_names.cpp:[[#@LINE+1]]:5: error: an algorithm has no 'main': mark the function with MSCCLC_ALGORITHM
int main() {}

MSCCLC_ALGORITHM void f() {
  // CHECK: reserved_names.cpp:[[#@LINE+1]]:19: error: '__mscclc_loop_end' is a name of the compiler's
  mscclc::detail::__mscclc_loop_end();
}
