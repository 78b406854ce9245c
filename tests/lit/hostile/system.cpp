// Starting programs, the environment, random numbers.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
#include <cstdlib>

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:8 {{'system' has no definition here}}
  std::system("touch escaped");
  // expected-error@+1:8 {{'getenv' has no definition here}}
  std::getenv("HOME");
  // expected-error@+1:3 {{'rand' has no definition here}}
  rand();
}
