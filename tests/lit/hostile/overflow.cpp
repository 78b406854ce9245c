// Signed overflow shows its operands.
// RUN: %verify %s
#include <mscclc/dsl.hpp>

MSCCLC_ALGORITHM void f(int start = 2147483640) {
  int sum = start;
  for (int i = 0; i < 10; ++i)
    // expected-error@+1:9 {{integer overflow: 2147483640 + 10 cannot be represented in type 'int'}}
    sum += 10;
  mscclc::Rank rank(sum);
}
