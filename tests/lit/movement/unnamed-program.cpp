// A program without a name ends at once.
// REQUIRES: frontend
// RUN: %verify %s
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void f(int ranks = 4) {
  // expected-warning@+2:3 {{ignoring temporary created by a constructor declared with 'nodiscard' attribute: a program ends with its scope, so one without a name ends at once: give it a name}}
  // expected-warning@+1:3 {{the program has no operation}}
  CollectiveProgram(
      "p",
      AllGather(ranks, 1, true), // expected-error@:7 {{output[1] of rank 0 is never written}}
      {.schedule = Schedule::Auto}); // expected-note@"mscclc" {{and 3 more like it on other ranks}}
}
