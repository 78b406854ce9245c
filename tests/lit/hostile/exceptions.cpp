// Exceptions.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f(int ranks = 1) {
  // expected-error@+1:3 {{exceptions are not part of the language: an algorithm that cannot go on ends with assert() of <cassert>}}
  try {
    if (ranks < 2)
      // expected-error@+1:7 {{exceptions are not part of the language}}
      throw ranks;
  } catch (...) {
  }
}
