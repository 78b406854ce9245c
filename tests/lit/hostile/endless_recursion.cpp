// Recursion without end.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

static int down(int depth) {
  // expected-error@+4 {{endless recursion: calls are nested more than 20000 deep}}
  // expected-note@+3 {{called from here}}
  // expected-note@+4:29 {{called from here}}
  // expected-note-re@"" {{({{[0-9]+}} more calls like it)}}
  return depth < 0 ? 0 : 1 + down(depth / 2);
}
MSCCLC_ALGORITHM void f() { down(1); }
