// More memory at once than there may be.
// RUN: %verify %s
#include <mscclc/dsl.hpp>
#include <vector>

MSCCLC_ALGORITHM void f(long size = 1L << 40) {
  // expected-error@+1:21 {{the algorithm needs more than 4096 MiB of memory; --trace-memory sets the limit}}
  std::vector<char> room(size);
}
