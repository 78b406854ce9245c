// What differs from run to run.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
// expected-error@+1:10 {{<chrono> is not part of the language: an algorithm sees no time}}
#include <chrono>
// expected-error@+1:10 {{<thread> is not part of the language: an algorithm is one thread}}
#include <thread>
// expected-error@+1:10 {{<random> is not part of the language: an algorithm sees no random}}
#include <random>
// expected-error@+1:26 {{date and time differ from run to run}}
constexpr auto stamped = __DATE__;
// expected-error@+1:18 {{thread-local variables are not part of the language: make 'counter' a local variable}}
thread_local int counter;

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:9 {{'__builtin_readcyclecounter' is not part of the language}}
  (void)__builtin_readcyclecounter();
}
