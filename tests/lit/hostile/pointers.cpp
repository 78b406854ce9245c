// Raw pointers: arithmetic, ownership, reinterpretation.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f() {
  int values[4] = {};
  int *first = values;
  values[1] = 2; // an array's element is fine
  // CHECK: pointers.cpp:[[#@LINE+1]]:9: error: pointer arithmetic is not part of the language: use an index into std::span
  first += 2;
  // CHECK: pointers.cpp:[[#@LINE+1]]:3: error: pointer arithmetic is not part of the language
  ++first;
  // CHECK: pointers.cpp:[[#@LINE+1]]:3: error: pointer arithmetic is not part of the language
  first[1] = 3;
  // CHECK: pointers.cpp:[[#@LINE+1]]:14: error: 'new' is not part of the language: hold values in variables, std::vector
  int *own = new int(3);
  // CHECK: pointers.cpp:[[#@LINE+1]]:3: error: 'delete' is not part of the language
  delete own;
  // CHECK: pointers.cpp:[[#@LINE+1]]:16: error: reinterpret_cast is not part of the language: convert values with static_cast or std::bit_cast
  auto *bits = reinterpret_cast<unsigned *>(values);
  // CHECK: pointers.cpp:[[#@LINE+1]]:18: error: a cast that reinterprets memory is not part of the language
  auto address = (unsigned long)values;
}
