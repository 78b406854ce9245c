// Attributes that reach beyond the algorithm.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

// CHECK: attributes.cpp:[[#@LINE+1]]:16: error: attribute 'constructor' is not part of the language: nothing runs before the algorithm
__attribute__((constructor)) void before() {}
// CHECK: attributes.cpp:[[#@LINE+1]]:16: error: attribute 'no_sanitize' is not part of the language: undefined behaviour is always checked
__attribute__((no_sanitize("undefined"))) int unchecked(int x) { return x * x; }
// CHECK: attributes.cpp:[[#@LINE+1]]:28: error: attribute 'asm' is not part of the language
extern "C" int other() asm("getpid");
// CHECK: attributes.cpp:[[#@LINE+1]]:16: error: attribute 'section' is not part of the language
__attribute__((section(".init"))) void placed() {}

MSCCLC_ALGORITHM void f() {}
