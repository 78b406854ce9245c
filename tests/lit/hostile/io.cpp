// Output.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
// expected-error@+1:10 {{<iostream> is not part of the language: an algorithm does no input or output}}
#include <iostream>

MSCCLC_ALGORITHM void f() {
  // expected-error@+1:8 {{'std::cout' has no definition here}}
  std::cout << 1;
}
