// Memory that grows without end.
// RUN: %verify %s --trace-memory=64M
#include <mscclc/dsl.hpp>
#include <vector>

MSCCLC_ALGORITHM void f() {
  std::vector<std::vector<int>> all;
  for (;;)
    // expected-error@+1:9 {{the algorithm needs more than 64 MiB of memory}}
    all.emplace_back(1000);
}
