// State that outlives a call, and goto.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>

constexpr int fine = 1;
const int alsoFine[] = {1, 2};
// CHECK: globals.cpp:[[#@LINE+1]]:5: error: 'counter' is a global variable that can change: make it constexpr, or a local variable that is passed on
int counter = 0;
// CHECK: globals.cpp:[[#@LINE+1]]:13: error: 'name' is a global variable that can change
const char *name = "x";
int compute(int x) { return x + fine + alsoFine[0]; }
const int computed = compute(3); // before the algorithm, and it stays so
struct Settings {
  // CHECK: globals.cpp:[[#@LINE+1]]:21: error: 'Settings::level' is a static member that can change
  inline static int level = 2;
};

MSCCLC_ALGORITHM void f() {
  // CHECK: globals.cpp:[[#@LINE+1]]:14: error: 'calls' is a static local variable that can change
  static int calls = 0;
  ++calls;
  // CHECK: globals.cpp:[[#@LINE+1]]:20: error: 'first' keeps the value of the first call: make it constexpr, or a local variable that is not static
  static const int first = compute(calls);
  // CHECK: globals.cpp:[[#@LINE+1]]:3: error: goto is not part of the language: use a loop, or return from a function
  goto end;
end:;
}
