// What differs from run to run.
// RUN: rm -f %t
// RUN: not mscclc %s -o %t 2>&1 | FileCheck %s
// RUN: test ! -e %t
#include <mscclc/dsl.hpp>
// CHECK: time_and_threads.cpp:[[#@LINE+1]]:10: error: <chrono> is not part of the language: an algorithm sees no time
#include <chrono>
// CHECK: time_and_threads.cpp:[[#@LINE+1]]:10: error: <thread> is not part of the language: an algorithm is one thread
#include <thread>
// CHECK: time_and_threads.cpp:[[#@LINE+1]]:10: error: <random> is not part of the language: an algorithm sees no random
#include <random>
// CHECK: time_and_threads.cpp:[[#@LINE+1]]:26: error: date and time differ from run to run
constexpr auto stamped = __DATE__;
// CHECK: time_and_threads.cpp:[[#@LINE+1]]:18: error: thread-local variables are not part of the language: make 'counter' a local variable
thread_local int counter;

MSCCLC_ALGORITHM void f() {
  // CHECK: time_and_threads.cpp:[[#@LINE+1]]:9: error: '__builtin_readcyclecounter' is not part of the language
  (void)__builtin_readcyclecounter();
}
