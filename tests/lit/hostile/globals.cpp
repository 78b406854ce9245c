// State that outlives a call, and goto.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

constexpr int fine = 1;
const int alsoFine[] = {1, 2};
// expected-error@+1:5 {{'counter' is a global variable that can change: make it constexpr, or a local variable that is passed on}}
int counter = 0;
// expected-error@+1:13 {{'name' is a global variable that can change}}
const char *name = "x";
int compute(int x) { return x + fine + alsoFine[0]; }
const int computed = compute(3); // before the algorithm, and it stays so
struct Settings {
  // expected-error@+1:21 {{'Settings::level' is a static member that can change}}
  inline static int level = 2;
};

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:14 {{'calls' is a static local variable that can change}}
  static int calls = 0;
  ++calls;
  // expected-error@+1:20 {{'first' keeps the value of the first call: make it constexpr, or a local variable that is not static}}
  static const int first = compute(calls);
  // expected-error@+1:3 {{goto is not part of the language: use a loop, or return from a function}}
  goto end;
end:;
}
