// Raw pointers: arithmetic, ownership, reinterpretation.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f() {
  int values[4] = {};
  int *first = values;
  values[1] = 2; // an array's element is fine
  // expected-error@+1:9 {{pointer arithmetic is not part of the language: use an index into std::span}}
  first += 2;
  // expected-error@+1:3 {{pointer arithmetic is not part of the language}}
  ++first;
  // expected-error@+1:3 {{pointer arithmetic is not part of the language}}
  first[1] = 3;
  // expected-error@+1:14 {{'new' is not part of the language: hold values in variables, std::vector}}
  int *own = new int(3);
  // expected-error@+1:3 {{'delete' is not part of the language}}
  delete own;
  // expected-error@+1:16 {{reinterpret_cast is not part of the language: convert values with static_cast or std::bit_cast}}
  auto *bits = reinterpret_cast<unsigned *>(values);
  // expected-error@+1:18 {{a cast that reinterprets memory is not part of the language}}
  auto address = (unsigned long)values;
}
