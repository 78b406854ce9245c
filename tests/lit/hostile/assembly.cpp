// Inline assembly, in functions and outside.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
// CHECK: assembly.cpp:[[#@LINE+1]]:1: error: inline assembly is not part of the language: write it in C++
asm(".globl escaped");
// CHECK-NEXT: asm(".globl escaped");
// CHECK-NEXT: ^

MSCCLC_ALGORITHM void f() {
  // CHECK: assembly.cpp:[[#@LINE+1]]:3: error: inline assembly is not part of the language: write it in C++
  asm volatile("syscall");
}
