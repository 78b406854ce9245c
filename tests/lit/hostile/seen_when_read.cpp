// What is undefined and Clang sees while it reads.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

const int &dangling() {
  const int local = 3;
  // expected-error@+1:10 {{reference to stack memory associated with local variable 'local' returned}}
  return local;
}
MSCCLC_ALGORITHM void f() {
  int nothing;
  // expected-error@+1:16 {{'nothing' has no value here: give it one where it is declared}}
  mscclc::Rank(nothing + 1);
  int i = 0;
  // expected-error@+1:8 {{multiple unsequenced modifications to 'i'}}
  i = i++ + ++i;
  char to[4];
  // expected-error@+1:3 {{'memset' will always overflow; destination buffer has size 4, but size argument is 400}}
  __builtin_memset(to, 0, 400);
  // expected-error@+1:8 {{'huge' takes 953 MiB, and the algorithm's stack has 256}}
  char huge[1000000000];
}
