// A stack that is full before the recursion is deep.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

static long down(int depth) {
  char room[1 << 20] = {};
  room[depth & 1023] = 1;
  // expected-error@+4:20 {{the algorithm's stack of 256 MiB is full}}
  // expected-note@+5:29 {{called from here}}
  // expected-note-re@"" {{({{[0-9]+}} more calls like it)}}
  // expected-note@+1:20 {{called from here}}
  return room[0] + down(depth + 1);
}
MSCCLC_ALGORITHM void f() { down(1); }
