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
// CHECK: reserved_names.cpp:[[#@LINE+1]]:31: error: 'mscclc::Buffer::slice' is a name of the compiler's
mscclc::Chunk mscclc::Buffer::slice(std::int64_t, std::int64_t, detail::Place) const { return {}; }
// CHECK: reserved_names.cpp:[[#@LINE+1]]:13: error: 'mscclc::On::On' is a name of the compiler's
mscclc::On::On(ThreadBlock) {}
// CHECK: reserved_names.cpp:[[#@LINE+1]]:14: error: 'mscclc::copy' is a name of the compiler's
void mscclc::copy(const Chunk &, const Chunk &, ThreadBlock, detail::Place) {}

MSCCLC_ALGORITHM void f() {
  // CHECK: reserved_names.cpp:[[#@LINE+1]]:19: error: '__mscclc_loop_end' is a name of the compiler's
  mscclc::detail::__mscclc_loop_end();
}
