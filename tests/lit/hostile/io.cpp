// Output.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
// expected-error@+1:10 {{<iostream> is not part of the language: an algorithm does no input or output; note("x is {}", x) prints while it is compiled}}
#include <iostream>
// expected-error@+1:10 {{<fstream> is not part of the language: an algorithm reads and writes no files}}
#include <fstream>

MSCCLC_ALGORITHM void f() {
  // What a refused header declares is no second error.
  std::cout << 1;
}
